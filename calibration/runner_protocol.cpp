// SPDX-License-Identifier: Apache-2.0
#include "calibration/runner_protocol.h"

#include <nlohmann/json.hpp>

namespace poolcast::calibration {
namespace {

using Json = nlohmann::json;

Json parsed(std::string_view line) { return Json::parse(line, nullptr, false); }

/// The value at `key` if it is of the type, else the default: an unknown or missing key is no error.
template <class T>
T value(const Json& json, const char* key, T otherwise) {
  const auto found = json.find(key);
  if (found == json.end()) return otherwise;
  return found->get<T>();
}

RunRequest run_request(const Json& json, std::string& fault) {
  RunRequest request;
  const std::string operation = json.at("operation"), dtype = json.at("dtype");
  const auto known_operation = kernels::operation_named(operation);
  const auto known_dtype = kernels::dtype_named(dtype);
  if (!known_operation) fault = "unknown operation " + operation;
  if (!known_dtype) fault = "unknown dtype " + dtype;
  if (!fault.empty()) return request;
  std::vector<kernels::Dim> shape;
  for (const auto& [name, number] : json.at("shape").items()) shape.push_back({name, number.get<std::int64_t>()});
  kernels::ProblemOrError made = kernels::make_problem(*known_operation, *known_dtype, std::move(shape));
  fault = made.error;
  if (made.problem) request.problem = *made.problem;
  request.kernel = value<std::string>(json, "kernel", request.kernel);
  request.repetitions = value(json, "repetitions", request.repetitions);
  request.check = value(json, "check", request.check);
  const auto cache = value<std::string>(json, "cache", "warm");
  request.cold = cache == "cold";
  if (cache != "cold" && cache != "warm") fault = "cache must be warm or cold";
  constexpr std::int64_t kMost = 100'000;
  if (request.repetitions < 1 || request.repetitions > kMost) fault = "repetitions must be from 1 to 100000";
  return request;
}

RunnerError error_of(const Json& json) {
  const Json& error = json.at("error");
  return {error.at("code").get<std::string>(), value<std::string>(error, "message", "")};
}

}  // namespace

std::string to_line(const DescribeRequest& request) {
  return Json{{"do", "describe"}, {"peaks", request.peaks}}.dump();
}

std::string to_line(const RunRequest& request) {
  Json shape = Json::object();
  for (const kernels::Dim& dim : request.problem.shape) shape[dim.name] = dim.value;
  return Json{{"do", "run"},
              {"operation", std::string(kernels::name(request.problem.operation))},
              {"dtype", std::string(kernels::name(request.problem.dtype))},
              {"shape", shape},
              {"kernel", request.kernel},
              {"repetitions", request.repetitions},
              {"cache", request.cold ? "cold" : "warm"},
              {"check", request.check}}
      .dump();
}

std::string to_line(const Description& d) {
  Json kernels = Json::array(), absent = Json::array();
  for (const OfferedKernel& k : d.kernels)
    kernels.push_back({{"operation", k.operation}, {"kernel", k.kernel}, {"dtypes", k.dtypes}, {"digest", k.digest}});
  for (const auto& [implementation, reason] : d.absent)
    absent.push_back({{"kernel", implementation}, {"reason", reason}});
  return Json{{"ok", true},
              {"protocol", kProtocolVersion},
              {"device", d.device},
              {"driver", d.driver},
              {"runtime", d.runtime},
              {"compiler", d.compiler},
              {"flags", d.flags},
              {"clock_state", d.clock_state},
              {"hardware", d.hardware},
              {"clocks", d.clocks},
              {"peaks", {{"flops_per_s", d.peak_flops}, {"bytes_per_s", d.bandwidth}}},
              {"kernels", kernels},
              {"absent", absent}}
      .dump();
}

std::string to_line(const RunResult& r) {
  Json json{
      {"ok", true}, {"kernel", r.kernel}, {"digest", r.digest}, {"wall_ns", r.wall_ns}, {"tolerance", r.tolerance}};
  if (!r.cpu_ns.empty()) json["cpu_ns"] = r.cpu_ns;
  if (r.error) json["error"] = *r.error;  // infinite becomes null: there is no number
  return json.dump();
}

std::string to_line(const RunnerError& e) {
  return Json{{"ok", false}, {"error", {{"code", e.code}, {"message", e.message}}}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

std::variant<DescribeRequest, RunRequest, RunnerError> read_request(std::string_view line) {
  const Json json = parsed(line);
  if (!json.is_object()) return RunnerError{"bad_request", "the line is no JSON object"};
  try {
    const std::string what = json.at("do");
    if (what == "describe") return DescribeRequest{value(json, "peaks", true)};
    if (what != "run") return RunnerError{"bad_request", "unknown request " + what + "; describe or run"};
    std::string fault;
    RunRequest request = run_request(json, fault);
    if (!fault.empty()) return RunnerError{"bad_request", fault};
    return request;
  } catch (const Json::exception& error) {
    return RunnerError{"bad_request", error.what()};
  }
}

std::optional<std::variant<Description, RunnerError>> read_description(std::string_view line) {
  const Json json = parsed(line);
  if (!json.is_object()) return std::nullopt;
  try {
    if (!json.at("ok").get<bool>()) return error_of(json);
    if (json.at("protocol").get<std::int64_t>() != kProtocolVersion) {
      return RunnerError{"failed", "speaks protocol " + json.at("protocol").dump() + ", not 1"};
    }
    Description d;
    d.device = json.at("device");
    for (const auto& [key, text] : {std::pair{"driver", &d.driver},
                                    {"runtime", &d.runtime},
                                    {"compiler", &d.compiler},
                                    {"flags", &d.flags},
                                    {"hardware", &d.hardware},
                                    {"clock_state", &d.clock_state}})
      *text = value<std::string>(json, key, "");
    d.clocks = value<std::vector<std::string>>(json, "clocks", {});
    const Json peaks = value(json, "peaks", Json::object());
    d.peak_flops = value<std::map<std::string, double>>(peaks, "flops_per_s", {});
    d.bandwidth = value(peaks, "bytes_per_s", 0.0);
    for (const Json& k : json.at("kernels")) {
      d.kernels.push_back({k.at("operation"), k.at("kernel"), k.at("dtypes").get<std::vector<std::string>>(),
                           value<std::string>(k, "digest", "")});
    }
    for (const Json& a : value(json, "absent", Json::array())) d.absent.emplace_back(a.at("kernel"), a.at("reason"));
    return d;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<std::variant<RunResult, RunnerError>> read_result(std::string_view line) {
  const Json json = parsed(line);
  if (!json.is_object()) return std::nullopt;
  try {
    if (!json.at("ok").get<bool>()) return error_of(json);
    RunResult r;
    r.kernel = json.at("kernel");
    r.digest = value<std::string>(json, "digest", "");
    r.wall_ns = json.at("wall_ns").get<std::vector<double>>();
    r.cpu_ns = value<std::vector<double>>(json, "cpu_ns", {});
    r.tolerance = value(json, "tolerance", 0.0);
    if (const auto error = json.find("error"); error != json.end()) {
      r.error = error->is_null() ? std::numeric_limits<double>::infinity() : error->get<double>();
    }
    return r;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace poolcast::calibration
