// SPDX-License-Identifier: Apache-2.0
#include "calibration/step_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 6> kKeys = {"tokens",         "sampled", "decode_requests",
                                                   "decode_context", "prefill", "seconds"};

/// A line of the log, and the place in it that is at fault.
class Line {
 public:
  Line(const std::string& path, int number, const std::string& text) : path_(path), number_(number), text_(text) {}

  [[noreturn]] void fail(std::string_view key, const std::string& message) const {
    const std::size_t at = key.empty() ? 0 : text_.find(fmt::format("\"{}\"", key));
    fail_at(at == std::string::npos ? 0 : at, key, message);
  }
  Json parsed() const {
    try {
      return Json::parse(text_);
    } catch (const Json::parse_error& error) {
      fail_at(error.byte > 0 ? error.byte - 1 : 0, "", "is no JSON");
    }
  }
  std::int64_t count(std::string_view key, const Json& value, std::int64_t least = 0) const {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (!value.is_number_integer() || value < least || value > kMost)
      fail(key, fmt::format("must be a whole number from {} to 2^40, got {}", least, quote(value.dump())));
    return value;
  }

 private:
  [[noreturn]] void fail_at(std::size_t byte, std::string_view key, const std::string& message) const {
    const auto column = static_cast<int>(std::min(byte, text_.size())) + 1;
    throw ConfigError(Location{path_, number_, column, text_}, key, message);
  }

  const std::string& path_;
  int number_;
  const std::string& text_;
};

void check_keys(const Line& line, const Json& json) {
  if (!json.is_object())
    line.fail("", "is no step: an object with sampled, decode_requests, decode_context, seconds, prefill");
  for (const auto& [key, value] : json.items()) {
    const std::vector<std::string_view> known(kKeys.begin(), kKeys.end());
    if (std::find(known.begin(), known.end(), key) == known.end())
      line.fail(key, "unknown key" + suggestion(key, known));
  }
  for (const char* key : {"sampled", "decode_requests", "decode_context", "seconds"}) {
    if (!json.contains(key)) line.fail("", fmt::format("the key {} is missing", key));
  }
}

StepRecord record(const Line& line) {
  const Json json = line.parsed();
  check_keys(line, json);
  const auto count = [&](const char* key) { return line.count(key, json.at(key)); };
  StepRecord s;
  s.sampled = count("sampled");
  s.decode_requests = count("decode_requests");
  s.decode_context = count("decode_context");
  Tokens tokens = s.decode_requests;
  for (const Json& chunk : json.value("prefill", Json::array())) {
    if (!chunk.is_array() || chunk.size() != 2)
      line.fail("prefill", "must list [query, context] of each chunk, got " + quote(chunk.dump()));
    s.prefill.push_back({line.count("prefill", chunk[0], 1), line.count("prefill", chunk[1])});
    tokens += s.prefill.back().query;
  }
  s.tokens = json.contains("tokens") ? count("tokens") : tokens;
  if (s.tokens < std::max<Tokens>(1, tokens))
    line.fail("tokens", fmt::format("{} are fewer than those of decodes and chunks, {}", s.tokens, tokens));
  if (s.sampled > s.tokens) line.fail("sampled", fmt::format("is more than the {} tokens of the step", s.tokens));
  if (s.decode_context < s.decode_requests || (s.decode_requests == 0 && s.decode_context > 0))
    line.fail("decode_context", "must be at least a token for each request that decodes, and 0 without any");
  const Json& seconds = json.at("seconds");
  s.seconds = seconds.is_number() ? seconds.get<double>() : 0;
  if (!(s.seconds >= 1e-9 && s.seconds < 1e6))
    line.fail("seconds", "must be a time from 1e-9 to 1e6, got " + quote(seconds.dump()));
  return s;
}

}  // namespace

std::vector<StepRecord> read_step_log(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw FileError(Location{path}, "", std::string("cannot open: ") + std::strerror(errno));
  std::vector<StepRecord> steps;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos) steps.push_back(record(Line(path, number, line)));
  }
  if (steps.empty()) throw ConfigError(Location{path}, "", "has no steps");
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
