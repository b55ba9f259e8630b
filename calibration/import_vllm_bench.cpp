// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

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
  const auto json = nlohmann::json::parse(file.bytes.begin(),
                                          file.bytes.begin() + static_cast<std::ptrdiff_t>(file.size), nullptr, false);
  if (!json.is_object()) fail("is no JSON object, as vllm bench serve --save-result writes it");
  try {
    if (json.value("max_concurrency", nlohmann::json()) != 1)
      fail("max_concurrency is not 1: which requests shared a step is not in the file, so steps cannot be told apart");
    const auto& inputs = json.at("input_lens");
    const auto& ttfts = json.at("ttfts");
    const auto& itls = json.at("itls");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tokens prompt = inputs.at(i);
      c.steps.push_back({prompt, 1, 0, 0, {{prompt, 0}}, ttfts.at(i).get<double>(), false});
      for (std::size_t t = 0; t < itls.at(i).size(); ++t)
        c.steps.push_back({1, 1, 1, prompt + static_cast<Tokens>(t) + 1, {}, itls[i][t].get<double>(), false});
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
