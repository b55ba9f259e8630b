// SPDX-License-Identifier: Apache-2.0
#include "kernels/onednn/onednn.h"

#include "kernels/gemm/product.h"
#include "kernels/grouped_gemm/grouped_product.h"
#include "kernels/prepared.h"
#include "kernels/rows/onednn_softmax.h"

namespace poolcast::kernels {
namespace {

constexpr Kernel kOneDnnKernels[] = {
    {Operation::kGemm, "onednn", DeviceKind::kCpu, "matmul of oneDNN, weight in the layout that it chooses", never,
     prepare_product<onednn_weight>},
    {Operation::kGroupedGemm, "onednn", DeviceKind::kCpu, "matmul of oneDNN, expert by expert", never,
     prepare_looped<onednn_weight>},
    {Operation::kSoftmax, "onednn", DeviceKind::kCpu, "softmax of oneDNN", never, prepare<RowCase, onednn_softmax>},
};

}  // namespace

std::span<const Kernel> onednn_kernels() { return kOneDnnKernels; }
std::string_view why_no_onednn() { return ""; }

}  // namespace poolcast::kernels
