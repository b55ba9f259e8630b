// SPDX-License-Identifier: Apache-2.0
// Rule: each endpoint takes the prompts of one range of lengths; the ranges follow the prompts of late.
// Source: smg 73da68ca bucket (balance thresholds 32 and 1.0001, adjusted every 5 s). How its borders follow is not
// published as a formula. Our reading: at every interval of the clock the borders are set so that each range would have
// got the same number of the tokens that were sent since the last time; loads are requests in flight, as in
// cache_aware.
#include <algorithm>

#include "sim/routing/registry.h"

namespace poolcast::routing {
namespace {

class LengthBuckets : public Plugin, public Filter {
 public:
  explicit LengthBuckets(const Settings& settings)
      : balance_abs_(settings.number("balance_abs_threshold")),
        balance_rel_(settings.number("balance_rel_threshold")),
        interval_(static_cast<std::int64_t>(settings.number("bucket_adjust_interval_secs") * 1e9)) {}

  void bind(const Endpoints& endpoints) override {
    buckets_ = endpoints.size();
    borders_.clear();
    lengths_.clear();
  }

  void filter(const RequestView& request, const Endpoints& endpoints, std::vector<std::uint32_t>& kept) override {
    if (kept.empty()) return;
    if (const std::int64_t turn = request.now_ns / interval_; turn != turn_) {
      turn_ = turn;
      set_borders();
    }
    const auto load = [&](std::uint32_t e) { return endpoints.in_flight_requests[e]; };
    std::int64_t least = INT64_MAX, most = 0;
    for (const std::uint32_t e : kept) {
      least = std::min(least, load(e));
      most = std::max(most, load(e));
    }
    const bool uneven = static_cast<double>(most - least) > balance_abs_ &&
                        static_cast<double>(most) > balance_rel_ * static_cast<double>(least);
    if (!uneven && !borders_.empty()) {
      // Bucket i ends at border i, that length included; the next one begins with it.
      const auto first = std::lower_bound(borders_.begin(), borders_.end(), request.prompt_tokens) - borders_.begin();
      const auto last = std::upper_bound(borders_.begin(), borders_.end(), request.prompt_tokens) - borders_.begin();
      const auto ours = [&](std::int64_t e) { return e >= first && e <= last; };
      if (std::any_of(kept.begin(), kept.end(), ours)) {
        std::erase_if(kept, [&](std::uint32_t e) { return !ours(e); });
        return;
      }
    }
    std::erase_if(kept, [&](std::uint32_t e) { return load(e) != least; });
  }

  void decided(const RequestView& request, const Decision& decision) override {
    if (decision.endpoint) lengths_.push_back(request.prompt_tokens);
  }

 private:
  /// Where nothing was sent the borders stay.
  void set_borders() {
    if (lengths_.empty()) return;
    std::sort(lengths_.begin(), lengths_.end());
    std::int64_t all = 0, sum = 0;
    for (const std::int64_t length : lengths_) all += length;
    borders_.clear();
    const auto buckets = static_cast<std::int64_t>(buckets_);
    for (const std::int64_t length : lengths_) {
      sum += length;
      const auto ended =
          static_cast<std::int64_t>(static_cast<double>(sum) * static_cast<double>(buckets) / static_cast<double>(all));
      while (static_cast<std::int64_t>(borders_.size()) < std::min(ended, buckets - 1)) borders_.push_back(length);
    }
    lengths_.clear();
  }

  double balance_abs_, balance_rel_;
  std::int64_t interval_;
  std::int64_t turn_ = 0;
  std::size_t buckets_ = 0;
  std::vector<std::int64_t> borders_;  ///< ascending, one fewer than buckets; empty: not known yet
  std::vector<std::int64_t> lengths_;  ///< of the prompts sent since the borders were set
};

}  // namespace

void add_length_buckets(std::vector<PluginInfo>& table) {
  constexpr auto kNumber = ParameterKind::kNumber;
  table.push_back(
      {"length-bucket-filter",
       "filter",
       "smg",
       "keep the endpoint whose range of prompt lengths the request is in (those on both sides of a border that it "
       "meets); every interval borders are set so that each would have got the same tokens since the last time; before "
       "that, and when requests in flight differ by more than balance_abs_threshold and a factor of "
       "balance_rel_threshold, keep the least loaded",
       {{"balance_abs_threshold", kNumber, "32", "[0, inf)", "difference of requests in flight that is too much ..."},
        {"balance_rel_threshold", kNumber, "1.0001", "[1, inf)", "... when the ratio is, too"},
        {"bucket_adjust_interval_secs", kNumber, "5", "[0.001, 1e9]", "s between two settings of the borders"}},
       make_of_settings<LengthBuckets>});
}

}  // namespace poolcast::routing
