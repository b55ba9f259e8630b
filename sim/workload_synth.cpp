// SPDX-License-Identifier: Apache-2.0
#include "sim/arrival_process.h"
#include "sim/length_sampler.h"
#include "sim/shared_prefix.h"
#include "sim/workload.h"

namespace poolcast {
namespace {

/// Open load. `row` counts its arrivals.
class SynthSource final : public Source {
 public:
  SynthSource(const SynthSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed, const std::string& name)
      : requests_(spec.requests == 0 ? UINT64_MAX : spec.requests),
        duration_(spec.duration),
        cls_(cls),
        priority_(priority),
        arrivals_(spec.arrivals, RandomStream(seed, "arrivals/" + name)),
        prompt_(at_least_one(spec.prompt_tokens)),
        output_(at_least_one(spec.output_tokens)),
        prefixes_(spec.shared_prefix, seed, name),
        prompt_stream_(seed, "prompt/" + name),
        output_stream_(seed, "output/" + name) {
    advance();
  }

  SimTime peek() override { return next_; }

  Arrival pop() override {
    Arrival arrival;
    arrival.intended = next_;
    arrival.cls = cls_;
    arrival.priority = priority_;
    arrival.row = row_++;
    arrival.prompt_tokens = prompt_.sample(prompt_stream_);
    arrival.output_tokens = output_.sample(output_stream_);
    prefixes_.add(arrival, arrival.row);
    advance();
    return arrival;
  }

  bool has_prefix_data() const override { return prefixes_.any(); }

  double progress() const override {
    if (next_ == kNever) return 1;
    if (requests_ != UINT64_MAX) return static_cast<double>(row_) / static_cast<double>(requests_);
    return duration_ == kNever ? -1 : static_cast<double>(next_) / static_cast<double>(duration_);
  }

 private:
  void advance() {
    next_ = row_ < requests_ ? arrivals_.next() : kNever;
    if (next_ >= duration_) next_ = kNever;
  }

  std::uint64_t requests_;
  SimTime duration_;
  ClassId cls_;
  std::int32_t priority_;
  ArrivalProcess arrivals_;
  LengthSampler prompt_, output_;
  SharedPrefixes prefixes_;
  RandomStream prompt_stream_, output_stream_;
  SimTime next_ = kNever;
  std::uint64_t row_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_source(const SynthSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                    const std::string& stream_name) {
  return std::make_unique<SynthSource>(spec, cls, priority, seed, stream_name);
}

}  // namespace poolcast
