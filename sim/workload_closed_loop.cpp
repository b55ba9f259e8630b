// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <queue>

#include "sim/length_sampler.h"
#include "sim/shared_prefix.h"
#include "sim/workload.h"

namespace poolcast {
namespace {

/// After a request that was refused, a user without think time would send again at the same instant for ever.
constexpr SimTime kPauseAfterFailure = kNanosPerSecond / 1000;

/// Closed loop. `session` is the user, `row` counts the requests of all users in order of their sending. The lengths
/// and the think time of a user's k-th request are the same in every run, whatever the other users meet.
class ClosedLoopSource final : public Source {
 public:
  ClosedLoopSource(const ClosedLoopSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                   const std::string& name)
      : requests_(spec.requests == 0 ? UINT64_MAX : spec.requests),
        duration_(spec.duration),
        cls_(cls),
        priority_(priority),
        seed_(seed),
        think_(spec.think_time),
        prompt_(at_least_one(spec.prompt_tokens)),
        output_(at_least_one(spec.output_tokens)),
        prefixes_(spec.shared_prefix, seed, name),
        prompt_name_("prompt/" + name),
        output_name_("output/" + name),
        think_name_("think/" + name),
        turns_(static_cast<std::size_t>(spec.users)) {
    for (std::int64_t user = 0; user < spec.users; ++user) {
      const double share = static_cast<double>(user) / static_cast<double>(spec.users);
      plan(to_sim_time(to_seconds(spec.ramp) * share), static_cast<std::uint32_t>(user));
    }
  }

  SimTime peek() override { return due_.empty() || row_ >= requests_ ? kNever : due_.top().at; }

  Arrival pop() override {
    const auto [at, user] = due_.top();
    due_.pop();
    const std::uint64_t draw = (std::uint64_t{user} << 32) | turns_[user]++;
    RandomStream prompt(seed_, prompt_name_, draw), output(seed_, output_name_, draw);
    Arrival arrival;
    arrival.intended = at;
    arrival.cls = cls_;
    arrival.priority = priority_;
    arrival.row = row_++;
    arrival.session = user;
    arrival.prompt_tokens = prompt_.sample(prompt);
    arrival.output_tokens = output_.sample(output);
    prefixes_.add(arrival, draw);
    return arrival;
  }

  bool wants_feedback() const override { return true; }

  void finished(const RequestRecord& record) override {
    const auto user = static_cast<std::uint32_t>(record.session);
    RandomStream stream(seed_, think_name_, (std::uint64_t{user} << 32) | turns_[user]);
    SimTime think = think_.sample(stream);
    if (record.outcome != Outcome::kCompleted) think = std::max(think, kPauseAfterFailure);
    plan(later(record.ended, think), user);
  }

  bool has_prefix_data() const override { return prefixes_.any(); }

  double progress() const override {
    return requests_ == UINT64_MAX ? -1 : static_cast<double>(row_) / static_cast<double>(requests_);
  }

 private:
  struct Due {
    SimTime at;
    std::uint32_t user;
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : user > other.user; }
  };

  void plan(SimTime at, std::uint32_t user) {
    if (at < duration_) due_.push(Due{at, user});
  }

  std::uint64_t requests_;
  SimTime duration_;
  ClassId cls_;
  std::int32_t priority_;
  std::uint64_t seed_;
  ThinkSampler think_;
  LengthSampler prompt_, output_;
  SharedPrefixes prefixes_;
  std::string prompt_name_, output_name_, think_name_;
  std::vector<std::uint32_t> turns_;  ///< sent so far, by user
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t row_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_source(const ClosedLoopSpec& spec, ClassId cls, std::int32_t priority, std::uint64_t seed,
                                    const std::string& stream_name) {
  return std::make_unique<ClosedLoopSource>(spec, cls, priority, seed, stream_name);
}

}  // namespace poolcast
