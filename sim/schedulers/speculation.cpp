// SPDX-License-Identifier: Apache-2.0
#include "sim/schedulers/speculation.h"

#include "sim/random.h"

namespace poolcast {

Acceptance::Acceptance(const SpeculationArgs& args, std::uint64_t seed) : seed_(seed) {
  double all = 1;
  for (const double rate : args.synthetic_acceptance_rates) at_least_.push_back(all *= rate);
}

std::int64_t Acceptance::accepted(const RequestRecord& request, std::int64_t outputs, std::int64_t drafts) const {
  // A request checks drafts once at most after each of its outputs, so that its place names the draw.
  const std::uint64_t source = (std::uint64_t{request.source.value} + 1) * 0x9e3779b97f4a7c15ULL;
  const std::uint64_t row = (request.row + 1) * 0xd6e8feb86659fd93ULL;
  RandomStream random(seed_, "speculation", (source ^ row) + static_cast<std::uint64_t>(outputs));
  const double u = random.uniform();
  std::int64_t n = 0;
  while (n < drafts && u < at_least_[static_cast<std::size_t>(n)]) ++n;
  return n;
}

double acceptance_for_length(double length, std::int64_t drafts) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double rate = low + (high - low) / 2;
    double mean = 0;
    for (std::int64_t d = 0; d < drafts; ++d) mean = rate * (1 + mean);
    (mean < length ? low : high) = rate;
  }
  return high;
}

}  // namespace poolcast
