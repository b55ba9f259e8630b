// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast {

/// What is measured of a request. NTPOT is end-to-end time over output tokens (inference-perf and GKE call it so;
/// GuideLLM calls it time_per_output_token). The last two run from `sent` instead of `intended`: they leave the wait
/// inside a capped client out, as `vllm bench serve --max-concurrency` does. They are filled only when some source has
/// a cap.
enum class Metric : std::uint8_t { kTtft, kTpot, kItl, kE2e, kQueueDelay, kNtpot, kTtftFromSent, kE2eFromSent };
inline constexpr int kMetrics = 8;
const char* name(Metric metric);  // "ttft", "tpot", "itl", "e2e", "queue_delay", "ntpot", "ttft_from_sent", …

}  // namespace poolcast
