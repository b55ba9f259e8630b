// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sim/routing/aliases.h"

using namespace poolcast;
using namespace poolcast::routing;

namespace {

std::uint32_t chosen(const std::string& policy, const Endpoints& e) {
  Pipeline pipeline(weighted_policy(policy), 1, "test");
  pipeline.bind(e);
  const std::vector<std::uint32_t> all = {0, 1, 2};
  return *pipeline.decide({}, e, all).endpoint;
}

std::string fault(const std::string& policy) {
  try {
    weighted_policy(policy);
  } catch (const ParameterFault& fault) {
    return fault.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("several policies at once add up, each scaled from its least to its most, by weight") {
  Endpoints e;
  e.reset(3);
  e.in_flight_requests = {4, 0, 2};  // 0, 1, 1/2
  e.kv_usage = {0.2, 0.8, 0.5};      // 1, 0, 1/2
  CHECK(chosen("least-request:2,least-kv-cache:1", e) == 1);
  CHECK(chosen("least-request:1,least-kv-cache:2", e) == 0);
  e.busy = {0.9, 0.8, 0.1};  // 0, 1/8, 1
  CHECK(chosen("least-busy-time:3,least-request:1", e) == 2);
  CHECK(chosen("least-utilization:1,least-request:3", e) == 1);
  e.prefix[2] = {5, 10, 16};
  CHECK(chosen("least-request,least-kv-cache,prefix-cache:0.6", e) == 2);  // 1, 1, 1.6
}

TEST_CASE("several policies at once: unknown names, weights and repetitions are faults") {
  CHECK(fault("least-request:2,least-kv-cache") == "none");
  CHECK(fault("least-requests:2") == "no strategy of several is named \"least-requests\"");
  CHECK(fault("least-request:0") == "a weight must be a number above 0, got \"0\"");
  CHECK(fault("least-request:x") == "a weight must be a number above 0, got \"x\"");
  CHECK(fault("least-request:1,least-request:2") == "least-request stands twice");
  CHECK(fault("least-request:1,,") == "no strategy of several is named \"\"");
}
