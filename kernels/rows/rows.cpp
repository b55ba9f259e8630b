// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/rows.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu.h"
#include "kernels/element.h"
#include "kernels/prepared.h"
#include "kernels/rows/row_case.h"

namespace poolcast::kernels {
namespace {

template <class Output>
void reference_row(const RowCase& data, std::int64_t row, std::vector<double>& values) {
  row_values(data, row, values.data());
  Output* out = static_cast<Output*>(data.task.out) + row * static_cast<std::int64_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) put(out[i], static_cast<float>(values[i]));
}

std::function<void()> reference_rows(RowCase& data, Memory&, Team& team) {
  return [&data, &team] {
    const bool loss = data.operation == Operation::kCrossEntropy;
    over_rows(data.task, team, [&](std::int64_t first, std::int64_t end) {
      std::vector<double> values(static_cast<std::size_t>(loss ? 1 : data.task.columns));
      for (std::int64_t row = first; row < end; ++row)
        data.task.bf16 && !loss ? reference_row<Bf16>(data, row, values) : reference_row<float>(data, row, values);
    });
  };
}

std::function<void()> reference_rotary(RotaryCase& data, Memory&, Team& team) {
  return [&data, &team] {
    const std::int64_t width = data.task.heads * data.task.head_dim;
    team.parallel(data.task.tokens, [&](std::int64_t token) {
      std::vector<double> values(static_cast<std::size_t>(width));
      rotary_values(data, token, values.data());
      with_float_element(data.dtype, [&](auto element) {
        auto* out = static_cast<decltype(element)*>(data.task.out) + token * width;
        for (std::int64_t i = 0; i < width; ++i) put(out[i], static_cast<float>(values[static_cast<std::size_t>(i)]));
      });
    });
  };
}

template <RowFunction function>
std::function<void()> run_rows(RowCase& data, Memory&, Team& team) {
  return [&data, &team] { function(data.task, team); };
}

template <RotaryFunction function>
std::function<void()> run_rotary(RotaryCase& data, Memory&, Team& team) {
  return [&data, &team] { function(data.task, team); };
}

void softmax_by_avx512(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) {
    thread_local std::vector<float> scratch;
    scratch.resize(static_cast<std::size_t>(task.columns));
    avx512_softmax(task, first, end, scratch.data());
  });
}

void cross_entropy_by_avx512(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) { avx512_cross_entropy(task, first, end); });
}

void rms_norm_by_avx512(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) { avx512_rms_norm(task, first, end); });
}

void silu_gate_by_avx512(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) { avx512_silu_gate(task, first, end); });
}

void residual_add_by_avx512(const RowTask& task, Team& team) {
  over_rows(task, team, [&](std::int64_t first, std::int64_t end) { avx512_residual_add(task, first, end); });
}

void rotary_by_avx512(const RotaryTask& task, Team& team) {
  team.parallel(task.tokens, [&](std::int64_t token) { avx512_rotary(task, token, token + 1); });
}

std::string why_not_avx512(const KernelProblem&) { return why_no_avx512(); }

constexpr Kernel row(Operation operation, std::string_view implementation, std::string_view description,
                     decltype(Kernel::prepare) prepared, decltype(Kernel::why_not) why_not = never) {
  return {operation, implementation, DeviceKind::kCpu, description, why_not, prepared};
}

constexpr auto kReference = prepare<RowCase, reference_rows>;
constexpr auto kSoftmax = Operation::kSoftmax, kLoss = Operation::kCrossEntropy, kNorm = Operation::kRmsNorm;

constexpr Kernel kRowKernels[] = {
    row(kSoftmax, "reference", "in double", kReference),
    row(kSoftmax, "portable_naive", "plain C++, the library's exp, sums in one chain",
        prepare<RowCase, run_rows<portable_naive_softmax>>),
    row(kSoftmax, "portable", "plain C++, loops that compilers vectorise",
        prepare<RowCase, run_rows<portable_softmax>>),
    row(kSoftmax, "avx512", "greatest, powers kept in a row of floats, scaled",
        prepare<RowCase, run_rows<softmax_by_avx512>>, why_not_avx512),
    row(kLoss, "reference", "in double", kReference),
    row(kLoss, "portable_naive", "plain C++, the library's exp, sums in one chain",
        prepare<RowCase, run_rows<portable_naive_cross_entropy>>),
    row(kLoss, "portable", "plain C++, loops that compilers vectorise",
        prepare<RowCase, run_rows<portable_cross_entropy>>),
    row(kLoss, "avx512", "greatest, then the sum of powers", prepare<RowCase, run_rows<cross_entropy_by_avx512>>,
        why_not_avx512),
    row(kNorm, "reference", "in double", kReference),
    row(kNorm, "portable_naive", "plain C++, squares summed in one chain",
        prepare<RowCase, run_rows<portable_naive_rms_norm>>),
    row(kNorm, "portable", "plain C++, loops that compilers vectorise", prepare<RowCase, run_rows<portable_rms_norm>>),
    row(kNorm, "avx512", "squares in two vectors, then scaled", prepare<RowCase, run_rows<rms_norm_by_avx512>>,
        why_not_avx512),
    row(Operation::kSiluGate, "reference", "in double", kReference),
    row(Operation::kSiluGate, "portable_naive", "plain C++, the library's exp",
        prepare<RowCase, run_rows<portable_naive_silu_gate>>),
    row(Operation::kSiluGate, "portable", "plain C++, loops that compilers vectorise",
        prepare<RowCase, run_rows<portable_silu_gate>>),
    row(Operation::kSiluGate, "avx512", "sixteen at a time", prepare<RowCase, run_rows<silu_gate_by_avx512>>,
        why_not_avx512),
    row(Operation::kResidualAdd, "reference", "in double", kReference),
    row(Operation::kResidualAdd, "portable", "plain C++, a loop that compilers vectorise",
        prepare<RowCase, run_rows<portable_residual_add>>),
    row(Operation::kResidualAdd, "avx512", "sixteen at a time", prepare<RowCase, run_rows<residual_add_by_avx512>>,
        why_not_avx512),
    row(Operation::kRotary, "reference", "in double", prepare<RotaryCase, reference_rotary>),
    row(Operation::kRotary, "portable", "plain C++, head by head", prepare<RotaryCase, run_rotary<portable_rotary>>),
    row(Operation::kRotary, "avx512", "sixteen pairs at a time, cosines and sines loaded once for all heads",
        prepare<RotaryCase, run_rotary<rotary_by_avx512>>, why_not_avx512),
};

}  // namespace

void over_rows(const RowTask& task, Team& team, const std::function<void(std::int64_t, std::int64_t)>& part) {
  const std::int64_t rows = std::max<std::int64_t>(1, (std::int64_t{64} << 10) / (task.columns * (task.bf16 ? 2 : 4)));
  team.parallel((task.rows + rows - 1) / rows,
                [&](std::int64_t i) { part(i * rows, std::min(task.rows, (i + 1) * rows)); });
}

std::span<const Kernel> row_kernels() { return kRowKernels; }

}  // namespace poolcast::kernels
