// SPDX-License-Identifier: Apache-2.0
#include "calibration/step_log.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

StepRecord record(const nlohmann::json& json) {
  StepRecord s;
  s.sampled = json.at("sampled");
  s.decode_requests = json.at("decode_requests");
  s.decode_context = json.at("decode_context");
  s.seconds = json.at("seconds");
  Tokens tokens = s.decode_requests;
  for (const auto& chunk : json.value("prefill", nlohmann::json::array())) {
    s.prefill.push_back({chunk.at(0), chunk.at(1)});
    tokens += s.prefill.back().query;
  }
  s.tokens = json.value("tokens", tokens);
  return s;
}

bool sound(const StepRecord& s) {
  bool good = s.tokens > 0 && s.sampled >= 0 && s.decode_requests >= 0 && s.decode_context >= s.decode_requests;
  for (const PrefillChunk& c : s.prefill) good = good && c.query > 0 && c.context >= 0;
  return good && std::isfinite(s.seconds) && s.seconds > 0;
}

}  // namespace

std::vector<StepRecord> read_step_log(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw FileError(Location{path}, "", std::string("cannot open: ") + std::strerror(errno));
  std::vector<StepRecord> steps;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    const Location at{path, ++number, 1, line};
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      steps.push_back(record(nlohmann::json::parse(line)));
    } catch (const nlohmann::json::exception&) {
      throw ConfigError(at, "",
                        "is no step: an object with sampled, decode_requests, decode_context, seconds, and "
                        "prefill: [[query, context], …]");
    }
    if (!sound(steps.back())) throw ConfigError(at, "", "has a count below 0 or a time that is not above 0");
  }
  return steps;
}

std::string step_line(const StepRecord& step) {
  nlohmann::ordered_json line = {{"tokens", step.tokens},
                                 {"sampled", step.sampled},
                                 {"decode_requests", step.decode_requests},
                                 {"decode_context", step.decode_context}};
  line["prefill"] = nlohmann::json::array();
  for (const PrefillChunk& chunk : step.prefill) line["prefill"].push_back({chunk.query, chunk.context});
  line["seconds"] = step.seconds;
  return line.dump() + "\n";
}

void hold_out_steps(std::vector<StepRecord>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].held_out = i % 4 == 1;
}

}  // namespace poolcast::calibration
