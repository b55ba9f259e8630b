// SPDX-License-Identifier: Apache-2.0
#include "calibration/import.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace poolcast::calibration {
namespace {

constexpr std::array<ImportFormat, 7> kFormats = {{
    {"opdb", "folder of one device", "operation tables of ai-dynamo/aiconfigurator (GEMM, attention, MoE, all-reduce)",
     import_opdb},
    {"tpu-v6e", "folder with layers.csv and attention.csv", "TPU v6e layers of casys-kaist/LLMServingSim",
     import_tpu_v6e},
    {"vllm-kernels", "…_tpN_attention.csv, its neighbours beside it",
     "layer profiles of vLLM by casys-kaist/LLMServingSim", import_vllm_kernels},
    {"vidur", "mlp.csv or …_attention.csv, plain or gzip", "layer profiles of microsoft/vidur", import_vidur},
    {"aiter", "CSV of tuned GEMMs", "best GEMM kernels of ROCm/aiter on gfx942", import_aiter},
    {"splitwise", "CSV", "prompt and token times of Mutinifni/splitwise-sim: whole steps", import_splitwise},
    {"vllm-bench", "JSON of vllm bench serve --save-detailed --max-concurrency 1", "steps of a lone request",
     import_vllm_bench},
}};

}  // namespace

std::span<const ImportFormat> import_formats() { return kFormats; }

void hold_out(Calibration& c) {
  constexpr std::size_t kLeast = 5;
  std::vector<std::array<std::set<std::int64_t>, 4>> values(c.parts.size());
  for (const Point& p : c.points) {
    for (std::size_t a = 0; a < axes(c.parts[p.part].term); ++a) values[p.part][a].insert(p.shape[a]);
  }
  const auto is_held = [&](const std::set<std::int64_t>& axis, std::int64_t x) {
    const auto at = static_cast<std::size_t>(std::distance(axis.begin(), axis.find(x)));
    return axis.size() >= kLeast && at % 4 == 2 && at + 1 < axis.size();
  };
  for (Point& p : c.points) {
    p.held_out = false;
    for (std::size_t a = 0; a < axes(c.parts[p.part].term); ++a)
      p.held_out = p.held_out || is_held(values[p.part][a], p.shape[a]);
  }
}

Calibration imported(const CurveIdentity& identity, const std::string& source) {
  Calibration c;
  c.head.identity = identity;
  c.head.identity.origin = "imported";
  c.head.identity.clock = "device";
  c.head.poolcast = POOLCAST_VERSION;
  const std::size_t slash = source.find_last_of('/', source.size() - 2);
  c.provenance["source"] = slash == std::string::npos ? source : source.substr(slash + 1);
  return c;
}

std::size_t add_part(Calibration& c, const std::string& name, Term term, double times) {
  const auto same =
      std::find_if(c.parts.begin(), c.parts.end(), [&](const Part& p) { return p.name == name && p.term == term; });
  if (same != c.parts.end()) return static_cast<std::size_t>(same - c.parts.begin());
  c.parts.push_back({name, term, times});
  return c.parts.size() - 1;
}

void add_point(Calibration& c, std::size_t part, const Shape& shape, double seconds, std::string_view implementation) {
  Point p;
  p.part = part;
  p.shape = shape;
  p.implementation = implementation;
  p.wall_s = {seconds};
  c.points.push_back(std::move(p));
}

}  // namespace poolcast::calibration
