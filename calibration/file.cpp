// SPDX-License-Identifier: Apache-2.0
#include "calibration/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "scenarios/atomic_file.h"
#include "scenarios/digest.h"
#include "scenarios/error.h"
#include "scenarios/h5_store.h"

namespace poolcast::calibration {
namespace {

/// Columns of one kind of row, under one group.
struct Columns {
  std::string group;
  std::map<std::string, std::vector<std::int64_t>> integers;
  std::map<std::string, std::vector<double>> reals;
  std::map<std::string, std::vector<std::string>> texts;

  void write(H5Out& out) const {
    for (const auto& [name, values] : integers) out.column(group + "/" + name, values);
    for (const auto& [name, values] : reals) out.column(group + "/" + name, values);
    for (const auto& [name, values] : texts) out.column(group + "/" + name, values);
  }
};

constexpr const char* kAxes[] = {"x0", "x1", "x2", "x3"};

Columns columns_of(const std::vector<Part>& parts) {
  Columns c;
  c.group = "/parts";
  auto& names = c.texts["name"];
  auto& terms = c.texts["term"];
  auto& times = c.reals["times"];
  for (const Part& part : parts) {
    names.push_back(part.name);
    terms.emplace_back(name(part.term));
    times.push_back(part.times);
  }
  return c;
}

/// Samples of all points stand one after the other; a point has its first row and its counts.
std::vector<Columns> columns_of(const std::vector<Point>& points) {
  Columns rows, samples;
  rows.group = "/points";
  samples.group = "/samples";
  for (const char* name : {"part", "x0", "x1", "x2", "x3", "cold", "held_out", "noisy", "first_sample", "samples"})
    rows.integers[name];
  for (const char* name : {"problem", "implementation", "kernel", "failure"}) rows.texts[name];
  rows.reals["error"];
  auto& wall = samples.reals["wall_s"];
  auto& cpu = samples.reals["cpu_s"];
  for (const Point& p : points) {
    const auto integer = [&](const char* name, std::size_t v) {
      rows.integers[name].push_back(static_cast<std::int64_t>(v));
    };
    integer("part", p.part);
    for (std::size_t a = 0; a < 4; ++a) rows.integers[kAxes[a]].push_back(p.shape[a]);
    integer("cold", p.cold);
    integer("held_out", p.held_out);
    integer("noisy", p.noisy);
    integer("first_sample", wall.size());
    integer("samples", p.wall_s.size());
    rows.texts["problem"].push_back(p.problem);
    rows.texts["implementation"].push_back(p.implementation);
    rows.texts["kernel"].push_back(p.kernel);
    rows.texts["failure"].push_back(p.failure);
    rows.reals["error"].push_back(p.error);
    wall.insert(wall.end(), p.wall_s.begin(), p.wall_s.end());
    for (std::size_t i = 0; i < p.wall_s.size(); ++i) cpu.push_back(p.cpu_s.empty() ? std::nan("") : p.cpu_s[i]);
  }
  return {std::move(rows), std::move(samples)};
}

std::vector<Columns> columns_of(const std::vector<StepRecord>& steps) {
  Columns rows, chunks;
  rows.group = "/steps";
  chunks.group = "/step_chunks";
  for (const char* name : {"tokens", "sampled", "decode_requests", "decode_context", "held_out"}) rows.integers[name];
  for (const char* name : {"step", "query", "context"}) chunks.integers[name];
  rows.reals["seconds"];
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepRecord& s = steps[i];
    rows.integers["tokens"].push_back(s.tokens);
    rows.integers["sampled"].push_back(s.sampled);
    rows.integers["decode_requests"].push_back(s.decode_requests);
    rows.integers["decode_context"].push_back(s.decode_context);
    rows.integers["held_out"].push_back(s.held_out);
    rows.reals["seconds"].push_back(s.seconds);
    for (const PrefillChunk& chunk : s.prefill) {
      chunks.integers["step"].push_back(static_cast<std::int64_t>(i));
      chunks.integers["query"].push_back(chunk.query);
      chunks.integers["context"].push_back(chunk.context);
    }
  }
  return {std::move(rows), std::move(chunks)};
}

/// Reads columns that must be equally long.
class Rows {
 public:
  Rows(const H5In& in, const std::string& path, std::string group) : in_(in), path_(path), group_(std::move(group)) {}

  std::vector<std::int64_t> integers(const char* name) { return sized(in_.integers(group_ + "/" + name)); }
  std::vector<double> reals(const char* name) { return sized(in_.reals(group_ + "/" + name)); }
  std::vector<std::string> texts(const char* name) { return sized(in_.texts(group_ + "/" + name)); }
  [[noreturn]] void fail(const std::string& message) const { throw ConfigError(Location{path_}, group_, message); }

 private:
  template <class T>
  std::vector<T> sized(std::vector<T> values) {
    if (rows_ && *rows_ != values.size()) fail("its columns differ in length");
    rows_ = values.size();
    return values;
  }

  const H5In& in_;
  const std::string& path_;
  std::string group_;
  std::optional<std::size_t> rows_;
};

std::vector<Part> read_parts(Rows rows) {
  std::vector<Part> parts;
  const auto names = rows.texts("name"), terms = rows.texts("term");
  const auto times = rows.reals("times");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* const term = std::find_if(kTerms.begin(), kTerms.end(), [&](Term t) { return terms[i] == name(t); });
    if (term == kTerms.end()) rows.fail("unknown term " + quote(terms[i]));
    parts.push_back({names[i], *term, times[i]});
  }
  return parts;
}

std::vector<Point> read_points(Rows rows, Rows samples, std::size_t parts) {
  const auto wall = samples.reals("wall_s"), cpu = samples.reals("cpu_s");
  const auto part = rows.integers("part"), first = rows.integers("first_sample"), count = rows.integers("samples");
  const auto cold = rows.integers("cold"), held = rows.integers("held_out"), noisy = rows.integers("noisy");
  const std::vector<std::int64_t> x[] = {rows.integers("x0"), rows.integers("x1"), rows.integers("x2"),
                                         rows.integers("x3")};
  const auto problem = rows.texts("problem"), implementation = rows.texts("implementation");
  const auto kernel = rows.texts("kernel"), failure = rows.texts("failure");
  const auto error = rows.reals("error");
  std::vector<Point> points(part.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto total = static_cast<std::int64_t>(wall.size());
    if (part[i] < 0 || static_cast<std::size_t>(part[i]) >= parts) rows.fail("a point belongs to no part");
    if (first[i] < 0 || count[i] < 0 || first[i] > total || count[i] > total - first[i])
      rows.fail("a point has samples that are not there");
    Point& p = points[i];
    p.part = static_cast<std::size_t>(part[i]);
    for (std::size_t a = 0; a < 4; ++a) p.shape[a] = x[a][i];
    p.problem = problem[i];
    p.implementation = implementation[i];
    p.kernel = kernel[i];
    p.failure = failure[i];
    p.cold = cold[i] != 0;
    p.held_out = held[i] != 0;
    p.noisy = noisy[i] != 0;
    p.error = error[i];
    p.wall_s.assign(wall.begin() + first[i], wall.begin() + first[i] + count[i]);
    p.cpu_s.assign(cpu.begin() + first[i], cpu.begin() + first[i] + count[i]);
    if (std::any_of(p.cpu_s.begin(), p.cpu_s.end(), [](double v) { return std::isnan(v); })) p.cpu_s.clear();
    if (!std::all_of(p.wall_s.begin(), p.wall_s.end(), [](double v) { return std::isfinite(v) && v >= 0; }))
      samples.fail("a time is negative or not finite");
  }
  return points;
}

std::vector<StepRecord> read_steps(Rows rows, Rows chunks) {
  const auto tokens = rows.integers("tokens"), sampled = rows.integers("sampled"),
             requests = rows.integers("decode_requests"), context = rows.integers("decode_context"),
             held = rows.integers("held_out");
  const auto seconds = rows.reals("seconds");
  std::vector<StepRecord> steps;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    steps.push_back({tokens[i], sampled[i], requests[i], context[i], {}, seconds[i], held[i] != 0});
  const auto step = chunks.integers("step"), query = chunks.integers("query"), before = chunks.integers("context");
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] < 0 || static_cast<std::size_t>(step[i]) >= steps.size()) chunks.fail("a chunk belongs to no step");
    steps[static_cast<std::size_t>(step[i])].prefill.push_back({query[i], before[i]});
  }
  return steps;
}

}  // namespace

void save(const Calibration& calibration, const std::string& path) {
  AtomicFile file(path);
  {
    H5Out out(file.temporary_path(), path);
    write_curve_part(out, calibration.head);
    for (const auto& [name, value] : calibration.provenance) out.put("/provenance", name, value);
    columns_of(calibration.parts).write(out);
    for (const Columns& columns : columns_of(calibration.points)) columns.write(out);
    for (const Columns& columns : columns_of(calibration.steps)) columns.write(out);
    out.close();
  }
  file.commit();
}

Calibration load(const std::string& path) {
  const H5In in(path);
  Calibration calibration;
  calibration.head = read_curve_part(in, path);
  for (const std::string& name : in.attributes("/provenance"))
    calibration.provenance[name] = in.text("/provenance", name);
  const auto rows = [&](const char* group) { return Rows(in, path, group); };
  calibration.parts = read_parts(rows("/parts"));
  calibration.points = read_points(rows("/points"), rows("/samples"), calibration.parts.size());
  calibration.steps = read_steps(rows("/steps"), rows("/step_chunks"));
  return calibration;
}

Lock::Lock(std::string name, const std::string& refusal) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  const std::string path = (std::filesystem::temp_directory_path() / ("poolcast-" + name + ".lock")).string();
  file_ = ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);  // other users may lock it, too
  if (file_ < 0) throw FileError(Location{path}, "", "cannot be opened: it is the lock of what is calibrated");
  if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(file_);
  throw ConfigError(fmt::format("{} by another process (it holds {}); wait until that is done", refusal, path));
}

Lock::~Lock() {
  if (file_ >= 0) ::close(file_);
}

Lock Lock::of_hardware(const std::string& hardware, const std::string& device) {
  return {hardware.substr(0, 100), device + " is being measured"};
}

Lock Lock::of_file(const std::string& path) {
  std::error_code ignored;
  const std::string whole = std::filesystem::weakly_canonical(path, ignored).string();
  return {sha256(whole.empty() ? path : whole).substr(0, 32), path + " is being written"};
}

}  // namespace poolcast::calibration
