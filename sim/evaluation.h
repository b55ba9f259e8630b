// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace poolcast {

/// The lower end of Wilson's one-sided interval for a share that was seen in `samples` trials (E. B. Wilson, "Probable
/// Inference, the Law of Succession, and Statistical Inference", 1927):
///
///   (p + z²/2n - z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n),   z = the normal quantile of `confidence`
///
/// The true share is above it with that confidence. `share` in [0, 1], `samples` >= 1, `confidence` in [0.5, 1).
double wilson_low(double share, double samples, double confidence);

}  // namespace poolcast
