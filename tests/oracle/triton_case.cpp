// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/triton_case.h"

#include <string>
#include <vector>

#include "tests/support/triton_run.h"

using nlohmann::json;

namespace poolcast::oracle {
namespace {

constexpr SimTime kUs = 1000;

TritonArgs::QueuePolicy policy_of(const json& p) {
  TritonArgs::QueuePolicy policy;
  policy.default_timeout_microseconds = p.value("timeout", 0);
  policy.max_queue_size = p.value("max_queue_size", 0);
  if (p.value("action", "REJECT") == "DELAY") policy.timeout_action = TritonArgs::TimeoutAction::kDelay;
  return policy;
}

TritonArgs arguments(const json& c) {
  TritonArgs args;
  args.max_batch_size = c.at("max_batch_size");
  args.preferred_batch_size = c.value("preferred", std::vector<std::int64_t>{});
  args.max_queue_delay_microseconds = c.value("delay", 0);
  args.instance_count = c.value("instances", 1);
  args.priority_levels = c.value("priority_levels", 0);
  args.default_priority_level = c.value("default_priority", 0);
  args.default_queue_policy = policy_of(c.value("policy", json::object()));
  return args;
}

json as_json(const testing::TritonLine& line, const json& requests) {
  std::vector<std::string> ids;
  for (const std::size_t i : line.requests) ids.push_back(requests.at(i).at("id"));
  if (line.end != kNever) {
    return {{"t", line.at / kUs}, {"run", ids}, {"batch", ids.size()}, {"end", line.end / kUs}};
  }
  const char* why = line.queue_full ? "Exceeds maximum queue size" : "Request timeout expired";
  return {{"t", line.at / kUs}, {"reject", ids.at(0)}, {"why", why}};
}

}  // namespace

Result check_triton(const json& document) {
  const json& config = document.at("config");
  const json& requests = document.at("requests");
  std::vector<testing::TritonArrival> arrivals;
  for (const json& r : requests) arrivals.push_back({r.at("at").get<SimTime>() * kUs, r.value("priority", 0)});
  const std::vector<SimTime> exec = config.at("exec");
  const auto time = [&](std::size_t batch) { return (exec.at(0) + exec.at(1) * static_cast<SimTime>(batch)) * kUs; };
  json log = json::array();
  for (const auto& line : testing::run_triton(arguments(config), arrivals, time))
    log.push_back(as_json(line, requests));
  const json& expected = document.at("log");
  try {
    for (std::size_t k = 0; k < expected.size(); ++k) {
      expect(k, "log", expected.at(k), k < log.size() ? log.at(k) : json());
    }
    expect(expected.size(), "lines", expected.size(), log.size());
  } catch (const Difference& difference) {
    return differs(difference, "batcher");
  }
  return {};
}

}  // namespace poolcast::oracle
