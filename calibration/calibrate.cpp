// SPDX-License-Identifier: Apache-2.0
#include "calibration/calibrate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <set>

#include "calibration/file.h"
#include "calibration/fit.h"
#include "calibration/refine.h"
#include "scenarios/atomic_file.h"
#include "scenarios/error.h"

namespace poolcast::calibration {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

void fill_provenance(Calibration& c, const Description& d, const Plan& plan) {
  auto& p = c.provenance;
  p["device"] = d.device;
  p["driver"] = d.driver;
  p["runtime"] = d.runtime;
  p["compiler"] = d.compiler;
  p["flags"] = d.flags;
  p["clock_state"] = d.clock_state;
  p["host"] = host_name();
  p["date"] = date();
  p["left_out"] = fmt::format("{}", fmt::join(plan.left_out, ", "));
  for (const auto& [type, rate] : d.peak_flops) p["peak_flops_" + type] = fmt::format("{:.6g}", rate);
  if (d.bandwidth > 0) p["peak_bytes_per_s"] = fmt::format("{:.6g}", d.bandwidth);
}

void check_kernel(const std::string& kernel, const Description& d) {
  std::vector<std::string_view> names = {"auto"};
  for (const OfferedKernel& k : d.kernels) {
    if (std::find(names.begin(), names.end(), k.kernel) == names.end()) names.emplace_back(k.kernel);
  }
  if (std::find(names.begin(), names.end(), kernel) == names.end())
    throw ConfigError(fmt::format("--implementation: {} has no kernel called {}{}", d.device, quote(kernel),
                                  suggestion(kernel, names)));
}

/// What was measured before, if it was of the same model on the same device.
Calibration start(const CalibrateOptions& options, const CurveIdentity& wanted, const std::string& runtime,
                  const Plan& plan) {
  Calibration fresh;
  fresh.head.identity = wanted;
  fresh.head.poolcast = POOLCAST_VERSION;
  fresh.parts = plan.parts;
  if (!std::filesystem::exists(options.output)) return fresh;
  Calibration before = load(options.output);
  const CurveIdentity& is = before.head.identity;
  std::string differences = what_differs(is, wanted.shape, wanted.layout, wanted.weights, wanted.kv);
  const auto compare = [&](const char* what, const std::string& has, const std::string& wants) {
    if (has == wants) return;
    differences +=
        fmt::format("{}{} {} instead of {}", differences.empty() ? "" : ", ", what, quote(has), quote(wants));
  };
  compare("device", is.device, wanted.device);
  compare("implementation", is.implementation, wanted.implementation);
  compare("origin", is.origin, wanted.origin);
  compare("runtime", before.provenance["runtime"], runtime);
  if (!differences.empty())
    throw ConfigError(Location{options.output}, "", "is a calibration of something else: " + differences);
  // Parts by their names: another version may have planned other ones.
  for (Point& point : before.points) {
    if (!point.failure.empty()) continue;  // is tried again
    const std::string& name = before.parts[point.part].name;
    const auto same =
        std::find_if(fresh.parts.begin(), fresh.parts.end(), [&](const Part& p) { return p.name == name; });
    if (same == fresh.parts.end()) continue;
    point.part = static_cast<std::size_t>(same - fresh.parts.begin());
    fresh.points.push_back(std::move(point));
  }
  fresh.steps = std::move(before.steps);
  return fresh;
}

/// The work of one call, between its two locks: what was done, what is left, when to save.
class Session {
 public:
  Session(const CalibrateOptions& options, RunnerClient& runner, Calibration calibration, bool cpu_clock,
          const std::function<void(const CalibrateProgress&)>& progress)
      : options_(options), runner_(runner), c_(std::move(calibration)), cpu_clock_(cpu_clock), progress_(progress) {
    std::set<std::string> digests;
    for (const OfferedKernel& kernel : runner.describe().kernels) digests.insert(kernel.digest);
    for (const Point& p : c_.points) {
      known_.insert(key(p));
      report_.kept_of_others += digests.count(p.kernel) == 0;
    }
    report_.kept = c_.points.size();
  }

  void measure_plan(const Plan& plan) {
    shown_.planned = plan.points.size();
    for (const Point& p : plan.points) {
      if (known_.count(key(p)) > 0) {
        ++shown_.done;
        continue;
      }
      if (over()) return;
      take(p);
      ++shown_.done;
    }
    report_.complete = true;
  }

  void refine(const Plan& plan) {
    while (report_.complete && !over()) {
      const std::vector<Point> next = worst_gap(c_, options_.identity, plan, options_.limits, options_.refine_above);
      bool any = false;
      for (const Point& p : next) {
        if (over()) break;
        if (!known_.insert(key(p)).second) continue;
        any = true;
        ++report_.refined;
        shown_.refined = report_.refined;
        take(p);
      }
      if (!any) return;
    }
  }

  void measure_again() {
    for (Point& point : c_.points) {
      if (over()) return;
      if (!point.failure.empty()) continue;
      Point more;
      more.problem = point.problem;
      more.cold = point.cold;
      tell(more);
      measure(runner_, options_.stop, options_.kernel, cpu_clock_, more);
      if (!more.failure.empty() || more.kernel != point.kernel) continue;
      point.wall_s.insert(point.wall_s.end(), more.wall_s.begin(), more.wall_s.end());
      point.cpu_s.insert(point.cpu_s.end(), more.cpu_s.begin(), more.cpu_s.end());
      point.noisy = options_.stop.is_noisy(summarise(cpu_clock_ && !point.cpu_s.empty() ? point.cpu_s : point.wall_s));
      ++report_.again;
      save_now_and_then();
    }
  }

  CalibrateReport finish(const Plan& plan) {
    report_.left = shown_.planned - shown_.done;
    report_.left_out = plan.left_out;
    report_.too_large = plan.too_large;
    report_.given_up = runner_.given_up();
    fit(c_);
    save(c_, options_.output);
    return report_;
  }

 private:
  static std::string key(const Point& p) { return fmt::format("{} {}", p.problem, p.cold); }
  bool over() const { return since(begin_) >= options_.budget_s || runner_.given_up(); }

  void take(Point point) {
    tell(point);
    measure(runner_, options_.stop, options_.kernel, cpu_clock_, point);
    ++report_.measured;
    report_.failed += !point.failure.empty();
    if (!point.failure.empty()) ++report_.failures[point.failure];
    report_.noisy += point.noisy;
    shown_.failed = report_.failed;
    c_.points.push_back(std::move(point));
    save_now_and_then();
  }

  void tell(const Point& point) {
    shown_.now = point.problem;
    shown_.spent_s = since(begin_);
    progress_(shown_);
  }

  void save_now_and_then() {
    if (since(saved_) < options_.save_every_s) return;
    save(c_, options_.output);
    saved_ = Clock::now();
  }

  const CalibrateOptions& options_;
  RunnerClient& runner_;
  Calibration c_;
  bool cpu_clock_;
  const std::function<void(const CalibrateProgress&)>& progress_;
  std::set<std::string> known_;
  CalibrateReport report_;
  CalibrateProgress shown_;
  Clock::time_point begin_ = Clock::now(), saved_ = begin_;
};

}  // namespace

void measure(RunnerClient& runner, const StopRule& stop, const std::string& kernel, bool cpu_clock, Point& point) {
  const auto begin = Clock::now();
  RunRequest request;
  request.problem = *kernels::parse_problem(point.problem).problem;
  request.kernel = kernel;
  request.cold = point.cold;
  request.repetitions = 1;  // tells how long one takes
  for (request.check = true;; request.check = false) {
    RunOutcome outcome = runner.run(request);
    if (!outcome.result) {
      point.failure = std::move(outcome.failure);
      point.wall_s.clear();
      point.cpu_s.clear();
      return;
    }
    const RunResult& r = *outcome.result;
    point.implementation = r.kernel;
    point.kernel = r.digest;
    if (r.error) point.error = *r.error;
    const bool first = request.check;
    // The first run of a shape may find cold pages: it counts only when there is no time for others.
    if (!first && point.wall_s.size() == 1) {
      point.wall_s.clear();
      point.cpu_s.clear();
    }
    for (const double t : r.wall_ns) point.wall_s.push_back(t * 1e-9);
    for (const double t : r.cpu_ns) point.cpu_s.push_back(t * 1e-9);
    const SampleSummary so_far = summarise(cpu_clock && !point.cpu_s.empty() ? point.cpu_s : point.wall_s);
    const double spent = since(begin);
    if (stop.done(so_far, spent)) {
      point.noisy = stop.is_noisy(so_far);
      return;
    }
    const double one = std::max(so_far.median, quantile(point.wall_s, 0.5));
    const double fits = std::max(1.0, (stop.budget_s - spent) / std::max(one, 1e-7));
    const std::size_t wanted = first ? stop.least : point.wall_s.size();
    request.repetitions = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(fits, 1e4)), 1,
                                                   static_cast<std::int64_t>(std::min(wanted, stop.most)));
  }
}

CalibrateReport calibrate(const CalibrateOptions& options, RunnerClient& runner,
                          const std::function<void(const CalibrateProgress&)>& progress) {
  make_plan(options.identity, options.limits);  // what cannot be measured is told before anything is
  AtomicFile(options.output);                   // and what cannot be written
  const Lock file_lock = Lock::of_file(options.output);
  const Description& first = runner.describe(false);
  const Lock lock = Lock::of_hardware(first.hardware.empty() ? first.device : first.hardware, first.device);
  check_kernel(options.kernel, first);
  const Description& description = runner.describe();
  PlanLimits limits = options.limits;
  limits.offered.emplace();
  for (const OfferedKernel& kernel : description.kernels) limits.offered->insert(kernel.operation);
  const Plan plan = make_plan(options.identity, limits);
  CurveIdentity wanted = options.identity;
  wanted.device = description.device;
  wanted.origin = "measured";
  wanted.implementation = options.kernel + (options.limits.dtype.empty() ? "" : " in " + options.limits.dtype);
  const bool cpu_clock =
      std::find(description.clocks.begin(), description.clocks.end(), "cpu") != description.clocks.end();
  wanted.clock = cpu_clock ? "cpu" : "wall";
  Calibration calibration = start(options, wanted, description.runtime, plan);
  fill_provenance(calibration, description, plan);
  Session session(options, runner, std::move(calibration), cpu_clock, progress);
  try {
    session.measure_plan(plan);
    session.refine(plan);
    for (int round = 1; round < options.rounds; ++round) session.measure_again();
  } catch (const ConfigError&) {  // the device is gone: what was measured stays
    session.finish(plan);
    throw;
  }
  return session.finish(plan);
}

}  // namespace poolcast::calibration
