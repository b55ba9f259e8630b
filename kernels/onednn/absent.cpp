// SPDX-License-Identifier: Apache-2.0
#include "kernels/onednn/onednn.h"

namespace poolcast::kernels {

std::span<const Kernel> onednn_kernels() { return {}; }
std::string_view why_no_onednn() { return "built without oneDNN (Debian package libdnnl-dev)"; }

}  // namespace poolcast::kernels
