// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "calibration/import.h"
#include "calibration/step_log.h"
#include "scenarios/error.h"
#include "scenarios/traces/input_file.h"

namespace poolcast::calibration {

/// With one request at a time, its first token ends a prefill and every further one a decode of its own. With more, the
/// file does not say which requests shared a step.
Calibration import_vllm_bench(const std::string& source, const CurveIdentity& identity) {
  Calibration c = imported(identity, source);
  const WholeFile file = read_whole(source);
  const auto fail = [&](const std::string& message) -> void { throw ConfigError(Location{source}, "", message); };
  const auto length = [&](const nlohmann::json& value, std::size_t i) -> Tokens {
    const Tokens tokens = value.is_number_integer() ? value.get<Tokens>() : 0;
    if (tokens < 1 || tokens > Tokens{1} << 40)
      fail(fmt::format("input_lens[{}]: must be a whole number from 1 to 2^40, got {}", i, quote(value.dump())));
    return tokens;
  };
  const auto time = [&](const nlohmann::json& value, std::size_t i) -> double {
    const double seconds = value.is_number() ? value.get<double>() : -1;
    if (!(seconds >= 0 && seconds < 1e6))
      fail(fmt::format("request {}: must take a time of at least 0, got {}", i, quote(value.dump())));
    return seconds;
  };
  const auto json = nlohmann::json::parse(file.bytes.begin(),
                                          file.bytes.begin() + static_cast<std::ptrdiff_t>(file.size), nullptr, false);
  if (!json.is_object()) fail("is no JSON object, as vllm bench serve --save-result writes it");
  try {
    if (json.value("max_concurrency", nlohmann::json()) != 1)
      fail("max_concurrency is not 1: which requests shared a step is not in the file, so steps cannot be told apart");
    const auto& inputs = json.at("input_lens");
    const auto& ttfts = json.at("ttfts");
    const auto& itls = json.at("itls");
    if (inputs.size() != ttfts.size() || inputs.size() != itls.size())
      fail(fmt::format("has {} input_lens, {} ttfts and {} itls", inputs.size(), ttfts.size(), itls.size()));
    // A time of 0 is a request that failed, or a token that came together with another one.
    const auto add = [&](StepRecord step) {
      if (step.seconds > 0) c.steps.push_back(std::move(step));
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tokens prompt = length(inputs[i], i);
      add({prompt, 1, 0, 0, {{prompt, 0}}, time(ttfts[i], i), false});
      for (std::size_t t = 0; t < itls[i].size(); ++t)
        add({1, 1, 1, prompt + static_cast<Tokens>(t) + 1, {}, time(itls[i][t], i), false});
    }
    c.head.identity.implementation = "vllm";
    c.head.identity.device = "as in " + c.provenance["source"];
    c.provenance["date"] = json.value("date", "unknown");
    c.provenance["model_id"] = json.value("model_id", "unknown");
  } catch (const nlohmann::json::exception&) {
    fail("has no input_lens, ttfts and itls: run vllm bench serve with --save-detailed");
  }
  if (c.steps.empty()) fail("has no requests");
  c.head.identity.clock = "wall";
  c.provenance["note"] = "steps of lone requests: batches are extrapolated";
  hold_out_steps(c.steps);
  return c;
}

}  // namespace poolcast::calibration
