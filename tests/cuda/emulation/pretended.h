// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace poolcast::cuda {

/// What device() says from now on: compute capability major.0 and so many multiprocessors.
void pretend(int major, int multiprocessors);
constexpr int kPretendedDevices = 4;

}  // namespace poolcast::cuda
