// SPDX-License-Identifier: Apache-2.0
#include "scenarios/curve_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/digest.h"
#include "scenarios/error.h"
#include "scenarios/h5_store.h"
#include "scenarios/human.h"

namespace poolcast {
namespace {

using Figures = std::vector<std::pair<std::string, std::int64_t>>;

/// Every size of a shape by name: the one list behind writing, reading and comparing.
template <class Shape, class Visit>
void visit_figures(Shape& shape, Visit visit) {
  visit("layers", shape.layers);
  visit("hidden", shape.hidden);
  visit("heads", shape.heads);
  visit("kv_heads", shape.kv_heads);
  visit("head_dim", shape.head_dim);
  visit("intermediate", shape.intermediate);
  visit("vocab", shape.vocab);
  visit("mlp_matrices", shape.mlp_matrices);
  if (shape.moe) {
    visit("moe_experts", shape.moe->experts);
    visit("moe_experts_per_token", shape.moe->experts_per_token);
    visit("moe_intermediate", shape.moe->intermediate);
    visit("moe_shared_experts", shape.moe->shared_experts);
    visit("moe_first_dense_layers", shape.moe->first_dense_layers);
  }
  if (shape.mla) {
    visit("mla_q_lora_rank", shape.mla->q_lora_rank);
    visit("mla_kv_lora_rank", shape.mla->kv_lora_rank);
    visit("mla_qk_nope_head_dim", shape.mla->qk_nope_head_dim);
    visit("mla_qk_rope_head_dim", shape.mla->qk_rope_head_dim);
    visit("mla_v_head_dim", shape.mla->v_head_dim);
  }
}

template <class AnyLayout, class Visit>
void visit_layout(AnyLayout& layout, Visit visit) {
  visit("tp", layout.tp);
  visit("pp", layout.pp);
  visit("dp", layout.dp);
  visit("ep", layout.ep);
}

Figures figures(const TransformerShape& shape) {
  Figures list;
  visit_figures(shape, [&](const char* name, std::int64_t value) { list.emplace_back(name, value); });
  return list;
}

TransformerShape read_shape(const H5In& in) {
  TransformerShape shape;
  shape.name = in.text("/model", "name");
  if (in.has("/model", "moe_experts")) shape.moe.emplace();
  if (in.has("/model", "mla_kv_lora_rank")) shape.mla.emplace();
  visit_figures(shape, [&](const char* name, std::int64_t& value) { value = in.integer("/model", name); });
  shape.tied_embeddings = in.integer("/model", "tied_embeddings") != 0;
  return shape;
}

Precision read_precision(const H5In& in, const std::string& path, const char* name) {
  const std::string word = in.text("/model", name);
  const auto precision = parse_precision(word);
  if (!precision) throw ConfigError(Location{path}, "/model", fmt::format("unknown precision {}", quote(word)));
  return *precision;
}

template <class Tables, class Visit>
void visit_lines(Tables& t, Visit visit) {
  visit("layer", t.layer);
  visit("once", t.once);
  visit("per_sequence", t.per_sequence);
  visit("experts", t.experts);
  visit("all_reduce", t.all_reduce);
}

template <class Tables, class Visit>
void visit_axes(Tables& t, Visit visit) {
  visit("prefill_chunk", t.attention.chunk);
  visit("prefill_context", t.attention.context);
  visit("decode_requests", t.attention.requests);
  visit("decode_kv", t.attention.kv);
}

template <class Range, class Visit>
void visit_range(Range& range, Visit visit) {
  visit("range_tokens", range.tokens);
  visit("range_sampled", range.sampled);
  visit("range_chunk", range.chunk);
  visit("range_prefill_context", range.prefill_context);
  visit("range_prefill_end", range.prefill_end);
  visit("range_decode_requests", range.decode_requests);
  visit("range_decode_kv", range.decode_kv);
  visit("range_decode_context", range.decode_context);
}

bool ascending(const std::vector<std::int64_t>& axis) {
  for (std::size_t i = 1; i < axis.size(); ++i) {
    if (axis[i] <= axis[i - 1]) return false;
  }
  return axis.empty() || axis.front() >= 0;
}

bool times(const std::vector<double>& values, std::size_t count) {
  return values.size() == count &&
         std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v >= 0; });
}

/// Why the tables would not make a curve; empty if they do.
std::string fault_of(const KernelTables& t) {
  std::string fault;
  visit_lines(t, [&](const char* name, const KernelLine& line) {
    const bool needed = &line == &t.layer || &line == &t.per_sequence;
    if (!ascending(line.at) || !times(line.seconds, line.at.size()) || (needed && line.at.empty())) fault = name;
  });
  visit_axes(t, [&](const char* name, const std::vector<std::int64_t>& axis) {
    if (axis.size() < 2 || !ascending(axis)) fault = name;
  });
  const AttentionTable& a = t.attention;
  const std::size_t prefill = a.chunk.size() * a.context.size(), decode = a.requests.size() * a.kv.size();
  if (!times(a.prefill, prefill)) fault = "prefill_s";
  if (!times(a.decode, decode)) fault = "decode_s";
  if (!a.mixed.empty() && !times(a.mixed, prefill * decode)) fault = "mixed_s";
  for (const double share : {a.mixed_prefill_share, a.mixed_decode_share}) {
    if (!(share >= -1 && share < 100)) fault = "mixed share";
  }
  for (const double host : {t.host.value, t.host_per_request.value}) {
    if (!(host >= 0 && host < 1e6)) fault = "host";
  }
  if (t.layers < 1) fault = "layers";
  return fault;
}

KernelTables read_tables(const H5In& in) {
  const std::string at = "/curve";
  KernelTables t;
  t.layers = in.integer(at, "layers");
  t.host = Seconds(in.real(at, "host_s"));
  t.host_per_request = Seconds(in.real(at, "host_per_request_s"));
  t.attention.mixed_prefill_share = in.real(at, "mixed_prefill_share");
  t.attention.mixed_decode_share = in.real(at, "mixed_decode_share");
  t.source = in.text(at, "source");
  visit_range(t.range, [&](const char* name, std::int64_t& limit) { limit = in.integer(at, name); });
  visit_lines(t, [&](const std::string& name, KernelLine& line) {
    line = {in.integers(at + "/" + name + "_at"), in.reals(at + "/" + name + "_s")};
  });
  visit_axes(t, [&](const char* name, std::vector<std::int64_t>& axis) { axis = in.integers(at + "/" + name); });
  t.attention.prefill = in.reals(at + "/prefill_s");
  t.attention.decode = in.reals(at + "/decode_s");
  t.attention.mixed = in.reals(at + "/mixed_s");
  t.capture_sizes = in.integers(at + "/capture_sizes");
  return t;
}

void write_tables(H5Out& out, const KernelTables& t) {
  const std::string at = "/curve";
  out.put(at, "layers", t.layers);
  out.put(at, "host_s", t.host.value);
  out.put(at, "host_per_request_s", t.host_per_request.value);
  out.put(at, "mixed_prefill_share", t.attention.mixed_prefill_share);
  out.put(at, "mixed_decode_share", t.attention.mixed_decode_share);
  out.put(at, "source", t.source);
  visit_range(t.range, [&](const char* name, std::int64_t limit) { out.put(at, name, limit); });
  visit_lines(t, [&](const std::string& name, const KernelLine& line) {
    out.column(at + "/" + name + "_at", line.at);
    out.column(at + "/" + name + "_s", line.seconds);
  });
  visit_axes(t, [&](const char* name, const std::vector<std::int64_t>& axis) { out.column(at + "/" + name, axis); });
  out.column(at + "/prefill_s", t.attention.prefill);
  out.column(at + "/decode_s", t.attention.decode);
  out.column(at + "/mixed_s", t.attention.mixed);
  out.column(at + "/capture_sizes", t.capture_sizes);
}

std::vector<TermError> read_errors(const H5In& in, const std::string& path) {
  std::vector<TermError> errors;
  if (!in.has("/errors")) return errors;
  const auto term = in.texts("/errors/term"), regime = in.texts("/errors/regime");
  const auto shapes = in.integers("/errors/shapes");
  const auto median = in.reals("/errors/median"), p95 = in.reals("/errors/p95");
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (std::min({regime.size(), shapes.size(), median.size(), p95.size()}) <= i)
      throw ConfigError(Location{path}, "/errors", "its columns differ in length");
    errors.push_back({term[i], regime[i], shapes[i], median[i], p95[i]});
  }
  return errors;
}

void write_errors(H5Out& out, const std::vector<TermError>& errors) {
  std::vector<std::string> term, regime;
  std::vector<std::int64_t> shapes;
  std::vector<double> median, p95;
  for (const TermError& e : errors) {
    term.push_back(e.term);
    regime.push_back(e.regime);
    shapes.push_back(e.shapes);
    median.push_back(e.median);
    p95.push_back(e.p95);
  }
  out.column("/errors/term", term);
  out.column("/errors/regime", regime);
  out.column("/errors/shapes", shapes);
  out.column("/errors/median", median);
  out.column("/errors/p95", p95);
}

void check_schema(const H5In& in, const std::string& path) {
  const std::string schema = in.has("", "schema") ? in.text("", "schema") : "";
  if (schema != kCalibrationSchema) {
    const std::string is = schema.empty() ? "it has no attribute schema" : "the attribute schema is " + quote(schema);
    throw ConfigError(Location{path}, "",
                      fmt::format("is no calibration file: {}, not {}", is, quote(kCalibrationSchema)));
  }
  const std::int64_t version = in.integer("", "schema_version");
  if (version != kCalibrationVersion) {
    throw ConfigError(
        Location{path}, "",
        fmt::format("has schema version {}, and this poolcast reads version {}", version, kCalibrationVersion));
  }
}

}  // namespace

CurveFile read_curve_part(const H5In& in, const std::string& path) {
  check_schema(in, path);
  CurveFile file;
  file.poolcast = in.text("", "poolcast");
  CurveIdentity& id = file.identity;
  id.shape = read_shape(in);
  visit_layout(id.layout, [&](const char* name, std::int64_t& degree) { degree = in.integer("/model", name); });
  id.weights = read_precision(in, path, "weights");
  id.kv = read_precision(in, path, "kv");
  id.device = in.text("/model", "device");
  id.implementation = in.text("/model", "implementation");
  id.origin = in.text("/model", "origin");
  id.clock = in.text("/model", "clock");
  file.errors = read_errors(in, path);
  if (in.has("/provenance")) {
    for (const std::string& key : in.attributes("/provenance"))
      file.provenance.emplace_back(key, in.text("/provenance", key));
  }
  if (!in.has("/curve")) {
    file.why_no_curve = in.has("", "why_no_curve") ? in.text("", "why_no_curve") : "nothing was fitted";
    return file;
  }
  file.curve = read_tables(in);
  if (const std::string fault = fault_of(*file.curve); !fault.empty())
    throw ConfigError(Location{path}, "/curve", "is no curve: " + fault + " is out of order, incomplete or not finite");
  return file;
}

CurveFile read_curve_file(const std::string& path) {
  CurveFile file = read_curve_part(H5In(path), path);
  file.digest = sha256_of_file(path);
  return file;
}

void write_curve_part(H5Out& out, const CurveFile& file) {
  out.put("", "schema", std::string(kCalibrationSchema));
  out.put("", "schema_version", kCalibrationVersion);
  out.put("", "poolcast", file.poolcast);
  const CurveIdentity& id = file.identity;
  out.put("/model", "name", id.shape.name);
  for (const auto& [name, value] : figures(id.shape)) out.put("/model", name, value);
  out.put("/model", "tied_embeddings", std::int64_t{id.shape.tied_embeddings});
  visit_layout(id.layout, [&](const char* name, std::int64_t degree) { out.put("/model", name, degree); });
  out.put("/model", "weights", std::string(name(id.weights)));
  out.put("/model", "kv", std::string(name(id.kv)));
  out.put("/model", "device", id.device);
  out.put("/model", "implementation", id.implementation);
  out.put("/model", "origin", id.origin);
  out.put("/model", "clock", id.clock);
  if (file.curve) {
    write_tables(out, *file.curve);
    write_errors(out, file.errors);
  } else {
    out.put("", "why_no_curve", file.why_no_curve);
  }
}

std::string what_differs(const CurveIdentity& file, const TransformerShape& wanted, const Layout& layout,
                         Precision weights, Precision kv) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& name, const auto& has, const auto& wants) {
    if (has != wants) differences.push_back(fmt::format("{} {} instead of {}", name, has, wants));
  };
  const Figures has = figures(file.shape), wants = figures(wanted);
  const auto value = [](const Figures& list, const std::string& name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& f) { return f.first == name; });
    return found == list.end() ? std::string("none") : std::to_string(found->second);
  };
  for (const auto& [name, number] : wants) compare(name, value(has, name), std::to_string(number));
  for (const auto& [name, number] : has) {
    if (value(wants, name) == "none") compare(name, std::to_string(number), std::string("none"));
  }
  std::vector<std::int64_t> degrees;
  visit_layout(layout, [&](const char*, std::int64_t degree) { degrees.push_back(degree); });
  std::size_t next = 0;
  visit_layout(file.layout, [&](const char* name, std::int64_t degree) { compare(name, degree, degrees[next++]); });
  compare("weights", std::string(name(file.weights)), std::string(name(weights)));
  compare("KV cache", std::string(name(file.kv)), std::string(name(kv)));
  return fmt::format("{}", fmt::join(differences, ", "));
}

std::string error_band(const std::vector<TermError>& errors) {
  std::vector<TermError> terms;  // the worst regime of each
  for (const TermError& e : errors) {
    const auto same = std::find_if(terms.begin(), terms.end(), [&](const TermError& t) { return t.term == e.term; });
    if (same == terms.end()) {
      terms.push_back(e);
    } else {
      same->median = std::max(same->median, e.median);
      same->p95 = std::max(same->p95, e.p95);
    }
  }
  if (terms.empty()) return "no shape was held out, so its error is not known";
  std::stable_sort(terms.begin(), terms.end(), [](const TermError& a, const TermError& b) { return a.p95 > b.p95; });
  std::vector<std::string> words;
  for (const TermError& t : terms)
    words.push_back(fmt::format("{} {:.1f} % / {:.1f} %", t.term, t.median * 100, t.p95 * 100));
  return fmt::format("held-out error, median / p95 in the worst regime: {}", fmt::join(words, ", "));
}

}  // namespace poolcast
