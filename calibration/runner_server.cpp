// SPDX-License-Identifier: Apache-2.0
#include "calibration/runner_server.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <new>

#include "calibration/runner_protocol.h"
#include "kernels/cpu.h"
#include "kernels/opencl/opencl.h"
#include "kernels/peaks.h"
#include "kernels/registry.h"
#include "kernels/timer.h"

namespace poolcast::calibration {
namespace {

using kernels::Kernel;
using kernels::KernelProblem;

std::string cpu_clock_state() {
  std::ifstream governor("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string words = "governor unknown";
  if (std::string name; governor >> name) words = "governor " + name;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("cpu MHz", 0) == 0) return words + ", " + line.substr(line.find(':') + 2) + " MHz";
  }
  return words;
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

/// What every implementation can run whose device is there.
KernelProblem ordinary_problem() { return *kernels::parse_problem("gemm bf16 m=256 n=256 k=256").problem; }

/// Answers requests; keeps the last kernel prepared, so that more samples of the same shape cost no set-up.
class Server {
 public:
  explicit Server(const RunnerSetup& setup) : setup_(setup), team_(setup.threads) {}

  std::string answer(std::string_view line) {
    auto request = read_request(line);
    if (const auto* const error = std::get_if<RunnerError>(&request)) return to_line(*error);
    try {
      if (const auto* const describe = std::get_if<DescribeRequest>(&request)) {
        const std::string why = why_no_device();
        return why.empty() ? to_line(description(*describe)) : to_line(RunnerError{"failed", why});
      }
      return run(std::get<RunRequest>(request));
    } catch (const std::bad_alloc&) {
      prepared_.reset();
      return to_line(RunnerError{"memory", "out of memory"});
    } catch (const std::exception& error) {
      prepared_.reset();
      return to_line(RunnerError{"failed", error.what()});
    }
  }

 private:
  bool is_ours(const Kernel& kernel) const { return kernels::name(kernel.device) == setup_.device; }

  /// The reason that all products give for an ordinary problem, when none of them can run it; empty otherwise.
  std::string why_no_device() const {
    const KernelProblem problem = ordinary_problem();
    std::string why;
    for (const Kernel& k : kernels::all_kernels()) {
      if (!is_ours(k) || k.operation != problem.operation) continue;
      const std::string not_this = k.why_not(problem);
      if (not_this.empty()) return "";
      if (why.empty()) why = not_this;
    }
    return why;
  }

  void describe_gpu(Description& d, bool peaks) const {
    const auto kind = setup_.device == "cuda" ? kernels::DeviceKind::kCuda : kernels::DeviceKind::kHip;
    const kernels::DeviceFacts facts = kernels::device_facts(kind, peaks);
    d.device = facts.name;
    if (!facts.driver.empty()) d.driver += ", " + facts.driver;
    d.runtime += ", " + facts.runtime;
    d.compiler = facts.compiler;
    for (const auto& [type, rate] : facts.compute) d.peak_flops[std::string(kernels::name(type))] = rate.value;
    d.bandwidth = facts.reading.value;
  }

  Description description(const DescribeRequest& request) {
    Description d;
    const bool cpu = setup_.device == "cpu", opencl = setup_.device == "opencl";
    utsname system{};
    ::uname(&system);
    d.device = cpu ? cpu_device_name(team_.size()) : opencl ? kernels::opencl_device_name() : setup_.device;
    d.driver = fmt::format("{} {}", system.sysname, system.release);
    d.runtime = "poolcast " POOLCAST_VERSION;
    d.compiler = opencl ? "of the OpenCL platform" : compiler();
    if (cpu) d.flags = kernels::compiler_flags();
    d.clock_state = cpu_clock_state();
    if (cpu || one_cpu_) d.clocks = {"cpu"};
    if (cpu || (opencl && kernels::opencl_on_cpu())) d.hardware = "cpu";
    if (!cpu && !opencl) describe_gpu(d, request.peaks);
    if (cpu && request.peaks) {
      const auto peaks = kernels::measure_compute_peaks(team_);
      for (const kernels::DType type : {kernels::DType::kBf16, kernels::DType::kFp32, kernels::DType::kInt8})
        d.peak_flops[std::string(kernels::name(type))] = kernels::compute_peak_for(peaks, type).value;
      d.bandwidth = kernels::reading_peak(kernels::measure_memory_peaks(team_)).value;
    }
    if (opencl && request.peaks) {
      const kernels::OpenClPeaks peaks = kernels::measure_opencl_peaks();
      d.peak_flops["fp32"] = d.peak_flops["bf16"] = peaks.fp32.value;  // bf16 is computed in fp32
      d.bandwidth = peaks.reading.value;
    }
    for (const Kernel& k : kernels::all_kernels()) {
      if (!is_ours(k)) continue;
      OfferedKernel offered{std::string(kernels::name(k.operation)), std::string(k.implementation), {}, setup_.digest};
      for (const kernels::DType type : kernels::dtypes_of(k.operation))
        offered.dtypes.emplace_back(kernels::name(type));
      d.kernels.push_back(std::move(offered));
    }
    for (const kernels::AbsentPart& part : kernels::absent_parts())
      if (!opencl) d.absent.emplace_back(std::string(part.implementation), std::string(part.reason));
    const KernelProblem problem = ordinary_problem();
    for (const Kernel& k : kernels::all_kernels()) {
      if (!is_ours(k) || k.operation != problem.operation) continue;
      if (std::string why = k.why_not(problem); !why.empty())
        d.absent.emplace_back(std::string(k.implementation), std::move(why));
    }
    return d;
  }

  /// "auto": the most native kernel that can run the problem; the table ends with it.
  const Kernel* choose(const RunRequest& request, std::string& why) const {
    const Kernel* chosen = nullptr;
    for (const Kernel* k : kernels::kernels_for(request.problem)) {
      if (is_ours(*k) && k->implementation != "reference") chosen = k;
    }
    if (request.kernel == "auto") {
      why = fmt::format("no kernel of {} runs {}", setup_.device, kernels::to_text(request.problem));
      return chosen;
    }
    const Kernel* const named = kernels::find_kernel(request.problem.operation, request.kernel);
    why = named == nullptr || !is_ours(*named) ? "no kernel is called " + request.kernel
                                               : named->why_not(request.problem);
    return why.empty() ? named : nullptr;
  }

  std::string run(const RunRequest& request) {
    std::string why;
    const Kernel* const kernel = choose(request, why);
    if (kernel == nullptr) return to_line(RunnerError{"unsupported", why});
    if (!prepared_ || kernel != kernel_ || !(problem_ == request.problem)) {
      prepared_.reset();
      prepared_ = kernel->prepare(request.problem, 1, team_);
      kernel_ = kernel;
      problem_ = request.problem;
    }
    RunResult result;
    result.kernel = std::string(kernel->implementation);
    result.digest = setup_.digest;
    result.tolerance = kernels::allowed_error(request.problem);
    if (request.check) {
      prepared_->poison();
      prepared_->run();
      result.error = prepared_->error();
      if (!(*result.error <= result.tolerance)) {
        return to_line(RunnerError{"wrong_result", fmt::format("{}: error {:.3g}, allowed {:.3g}", result.kernel,
                                                               *result.error, result.tolerance)});
      }
    }
    prepared_->run();  // warms caches and clocks
    for (std::int64_t i = 0; i < request.repetitions; ++i) {
      if (request.cold) prepared_->cool();
      const Seconds all_threads = kernels::process_cpu_now();
      const kernels::RunTime time = kernels::time_run(*prepared_, team_);
      // The process's has the driver's launch in it, the device's whatever else ran on the CPU meanwhile.
      const Seconds cpu =
          one_cpu_ ? std::min(kernels::process_cpu_now() - all_threads, time.device.value_or(time.wall)) : time.cpu;
      // No clock resolves less than a nanosecond.
      result.wall_ns.push_back(std::max(1.0, time.device.value_or(time.wall).value * 1e9));
      if (setup_.device == "cpu" || one_cpu_) result.cpu_ns.push_back(std::max(1.0, cpu.value * 1e9));
    }
    return to_line(result);
  }

  RunnerSetup setup_;
  const bool one_cpu_ = setup_.device == "opencl" && kernels::opencl_on_one_cpu();
  kernels::Team team_;
  const Kernel* kernel_ = nullptr;
  KernelProblem problem_;
  std::unique_ptr<kernels::PreparedKernel> prepared_;
};

/// False at the end of the input.
bool read_line(std::FILE* in, std::string& line) {
  line.clear();
  for (int c = 0; (c = std::getc(in)) != EOF;) {
    if (c == '\n') return true;
    line.push_back(static_cast<char>(c));
  }
  return !line.empty();
}

}  // namespace

std::string cpu_device_name(int threads) {
  return fmt::format("{}, {} {}", kernels::cpu().model, threads, threads == 1 ? "CPU" : "CPUs");
}

void serve_runner(std::FILE* in, std::FILE* out, const RunnerSetup& setup) {
  Server server(setup);
  for (std::string line; read_line(in, line);) {
    const std::string answer = server.answer(line) + "\n";
    if (std::fwrite(answer.data(), 1, answer.size(), out) != answer.size() || std::fflush(out) != 0) return;
  }
}

}  // namespace poolcast::calibration
