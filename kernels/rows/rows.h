// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/kernel.h"
#include "kernels/rows/row_task.h"
#include "kernels/threads.h"

namespace poolcast::kernels {

using RowFunction = void (*)(const RowTask& task, Team& team);
using RotaryFunction = void (*)(const RotaryTask& task, Team& team);

// Each in the source of its name.
void portable_naive_softmax(const RowTask& task, Team& team);
void portable_naive_cross_entropy(const RowTask& task, Team& team);
void portable_naive_rms_norm(const RowTask& task, Team& team);
void portable_softmax(const RowTask& task, Team& team);
void portable_cross_entropy(const RowTask& task, Team& team);
void portable_rms_norm(const RowTask& task, Team& team);
void portable_naive_silu_gate(const RowTask& task, Team& team);
void portable_silu_gate(const RowTask& task, Team& team);
void portable_residual_add(const RowTask& task, Team& team);
void portable_rotary(const RotaryTask& task, Team& team);

/// Parts of about 64 KiB of rows, for all implementations.
void over_rows(const RowTask& task, Team& team, const std::function<void(std::int64_t first, std::int64_t end)>& part);

/// The CPU's implementations of softmax, cross_entropy, rms_norm, silu_gate, residual_add and rotary.
std::span<const Kernel> row_kernels();

}  // namespace poolcast::kernels
