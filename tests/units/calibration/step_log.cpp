// SPDX-License-Identifier: Apache-2.0
#include "calibration/step_log.h"

#include <catch2/catch.hpp>

#include "scenarios/error.h"
#include "tests/support/temporary_folder.h"

using namespace poolcast;
using namespace poolcast::calibration;
using namespace poolcast::testing;

namespace {

/// The first line of the message about a log of this one line, without the file.
std::string fault(const std::string& line) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.jsonl");
  write_file(path, line + "\n");
  try {
    read_step_log(path);
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    return message.substr(path.size(), message.find('\n') - path.size());
  }
  return "none";
}

/// A sound step with something of its own.
std::string step(const std::string& more) {
  return R"({"sampled": 2, "decode_requests": 2, "decode_context": 90, "seconds": 0.01)" + more + "}";
}

}  // namespace

TEST_CASE("a step's tokens are those of decodes and chunks unless they are stated") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.jsonl");
  write_file(path, step(R"(, "prefill": [[128, 0], [5, 7]])") + "\n\n" + step(R"(, "tokens": 8)") + "\n");
  const auto steps = read_step_log(path);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].tokens == 135);
  CHECK(steps[0].prefill.at(1).context == 7);
  CHECK(steps[1].tokens == 8);  // speculation
}

TEST_CASE("a step that cannot be is refused where it stands") {
  CHECK(fault(step("")) == "none");
  CHECK(fault(R"({"sampled": 3,})") == ":1:15: is no JSON");
  CHECK(fault("[1]") == ":1:1: is no step: an object with sampled, decode_requests, decode_context, seconds, prefill");
  CHECK(fault(step(R"(, "prefil": [[9, 0]])")) == R"(:1:77: prefil: unknown key; did you mean "prefill"?)");
  CHECK(fault(step(R"(, "tokens": 1)")) == ":1:77: tokens: 1 are fewer than those of decodes and chunks, 2");
  CHECK(fault(step(R"(, "prefill": [[9]])")) ==
        R"(:1:77: prefill: must list [query, context] of each chunk, got "[9]")");
  CHECK(fault(step(R"(, "prefill": [[0, 9]])")) == R"(:1:77: prefill: must be a whole number from 1 to 2^40, got "0")");
  const auto with = [](const std::string& sampled, const std::string& context, const std::string& seconds) {
    return R"({"sampled": )" + sampled + R"(, "decode_requests": 2, "decode_context": )" + context +
           R"(, "seconds": )" + seconds + "}";
  };
  CHECK(fault(with("2.5", "9", "1")) == R"(:1:2: sampled: must be a whole number from 0 to 2^40, got "2.5")");
  CHECK(fault(with("2", "9e30", "1")) ==
        R"(:1:38: decode_context: must be a whole number from 0 to 2^40, got "9e+30")");
  CHECK(fault(with("9", "9", "1")) == ":1:2: sampled: is more than the 2 tokens of the step");
  CHECK(fault(with("2", "1", "1")) ==
        ":1:38: decode_context: must be at least a token for each request that decodes, and 0 without any");
  CHECK(fault(with("2", "9", "1e-300")) == R"(:1:59: seconds: must be a time from 1e-9 to 1e6, got "1e-300")");
  CHECK(fault(with("2", "9", "true")) == R"(:1:59: seconds: must be a time from 1e-9 to 1e6, got "true")");
}
