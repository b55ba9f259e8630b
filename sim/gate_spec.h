// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What the gates know of an implementation (sim/gates.h judges).
namespace poolcast {

/// How far an artifact is approved, and so which traffic it gets:
///  - experimental, retired: none that a user waits for;
///  - batch-only: that of classes that say they are batch;
///  - canary: what the gateway weighs for it, or a move sends to it;
///  - production: all.
enum class ImplementationStatus : std::uint8_t { kExperimental, kBatchOnly, kCanary, kProduction, kRetired };
const char* name(ImplementationStatus status);

/// A shape that an artifact was compiled for: it serves what fits, padded.
struct CompiledShape {
  std::int64_t input = INT64_MAX;    ///< tokens of the prompt
  std::int64_t context = INT64_MAX;  ///< prompt plus output

  bool covers(std::int64_t prompt, std::int64_t output) const {
    return prompt <= input && output <= context && prompt <= context - output;
  }
  bool operator==(const CompiledShape&) const = default;
};

}  // namespace poolcast
