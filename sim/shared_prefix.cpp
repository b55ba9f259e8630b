// SPDX-License-Identifier: Apache-2.0
#include "sim/shared_prefix.h"

#include "sim/length_sampler.h"
#include "sim/portable_math.h"

namespace poolcast {

SharedPrefixes::SharedPrefixes(const SharedPrefixSpec& spec, std::uint64_t seed, const std::string& stream_name)
    : seed_(seed), stream_("prefix/" + stream_name), space_(content_space(stream_)) {
  if (spec.groups == 0) return;
  RandomStream random(seed, "prefix tokens/" + stream_name);
  const LengthSampler length(spec.tokens);
  std::vector<double> weights;
  for (std::uint64_t group = 0; group < spec.groups; ++group) {
    tokens_.push_back(length.sample(random));
    weights.push_back(portable_pow(static_cast<double>(group + 1), -spec.skew));
  }
  groups_ = AliasTable(weights);
}

Segment SharedPrefixes::draw(std::uint64_t index) const {
  if (tokens_.empty()) return {};
  RandomStream random(seed_, stream_, index);
  const std::size_t group = groups_.draw(random);
  return {content_id(space_, group), 0, tokens_[group]};
}

void SharedPrefixes::add(Arrival& arrival, std::uint64_t index) const {
  const Segment prefix = draw(index);
  if (prefix.tokens == 0) return;
  arrival.prompt_tokens += prefix.tokens;
  arrival.content.prompt.push_back(prefix);
}

}  // namespace poolcast
