// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "kernels/memory.h"
#include "kernels/rows/row_case.h"
#include "kernels/threads.h"

namespace poolcast::kernels {

/// Softmax by oneDNN, as MakeRun<RowCase>.
std::function<void()> onednn_softmax(RowCase& data, Memory& memory, Team& team);

}  // namespace poolcast::kernels
