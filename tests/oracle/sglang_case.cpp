// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/sglang_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/schedulers/sglang.h"

using nlohmann::json;

namespace poolcast::oracle {
namespace {

enum class Mode { kLiteral, kBulk, kLeap, kMended };
constexpr const char* kModes[] = {"literal", "bulk", "leap", "mended"};
constexpr const char* kKinds[] = {"idle", "prefill", "decode", "mixed", "crash"};

template <class Value>
Value pick(const std::map<std::string, Value>& names, const json& name) {
  return names.at(name.get<std::string>());
}

SglangArgs arguments(const json& a, Fidelity fidelity) {
  using Policy = SglangArgs::Policy;
  using Eviction = SglangArgs::Eviction;
  using Retraction = SglangArgs::Retraction;
  SglangArgs args;
  args.max_total_num_tokens = a.at("max_total_num_tokens");
  args.context_length = a.at("context_len");
  args.page_size = a.at("page_size");
  args.max_running_requests = a.at("max_running_requests");
  args.chunked_prefill_size = a.at("chunked_prefill_size");
  args.max_prefill_tokens = a.at("max_prefill_tokens");
  if (!a.at("prefill_max_requests").is_null()) args.prefill_max_requests = a.at("prefill_max_requests");
  args.schedule_policy = pick<Policy>({{"fcfs", Policy::kFcfs},
                                       {"lpm", Policy::kLpm},
                                       {"dfs-weight", Policy::kDfsWeight},
                                       {"lof", Policy::kLof},
                                       {"random", Policy::kRandom}},
                                      a.at("schedule_policy"));
  args.schedule_conservativeness = a.at("schedule_conservativeness");
  args.allow_auto_truncate = a.value("allow_auto_truncate", false);
  args.enable_mixed_chunk = a.at("enable_mixed_chunk");
  args.disable_overlap_schedule = !a.at("overlap").get<bool>();
  args.disable_radix_cache = a.at("disable_radix_cache");
  args.radix_eviction_policy = pick<Eviction>({{"lru", Eviction::kLru},
                                               {"lfu", Eviction::kLfu},
                                               {"fifo", Eviction::kFifo},
                                               {"mru", Eviction::kMru},
                                               {"filo", Eviction::kFilo},
                                               {"slru", Eviction::kSlru},
                                               {"priority", Eviction::kPriority}},
                                              a.at("radix_eviction_policy"));
  args.retraction_policy = pick<Retraction>({{"length", Retraction::kLength}, {"priority", Retraction::kPriority}},
                                            a.at("retraction_policy"));
  args.enable_priority_scheduling = a.at("enable_priority_scheduling");
  args.schedule_low_priority_values_first = a.at("schedule_low_priority_values_first");
  args.disable_priority_preemption = a.at("disable_priority_preemption");
  args.priority_scheduling_preemption_threshold = a.at("priority_scheduling_preemption_threshold");
  args.fidelity = fidelity;
  return args;
}

/// One run of one case.
class Check final : private SglangWatcher {
 public:
  Check(const json& document, Mode mode)
      : document_(document),
        steps_(document.at("steps")),
        requests_(document.at("scenario").at("requests")),
        mode_(mode),
        scheduler_(arguments(document.at("scenario").at("args"),
                             mode == Mode::kMended ? Fidelity::kMended : Fidelity::kUpstream),
                   table_, 1) {
    scheduler_.watch(this);
  }

  /// Nothing when every step agrees.
  std::optional<Difference> run() {
    try {
      if (mode_ == Mode::kMended) return run_mended();
      for (std::size_t k = 0; k < steps_.size();) k += step(k);
      compare_result();
    } catch (const Difference& difference) {
      return difference;
    }
    return std::nullopt;
  }

 private:
  /// Where upstream's faults are mended every request ends, one after the other if need be.
  std::optional<Difference> run_mended() {
    constexpr std::size_t kPatience = 100'000;
    step_ = kPatience;  // nothing is recorded of this
    for (std::size_t k = 0; k < kPatience; ++k) {
      receive(k);
      if (next_ == requests_.size() && scheduler_.running() + scheduler_.waiting() == 0) return std::nullopt;
      scheduler_.schedule_pass(false);
      scheduler_.finish(1);
    }
    return Difference{kPatience, "expected every request to have ended, got " +
                                     std::to_string(scheduler_.running() + scheduler_.waiting()) + " unfinished"};
  }

  std::string name(RequestId id) const { return requests_.at(id.value).at("id"); }
  json names(const std::vector<RequestId>& ids) const {
    json result = json::array();
    for (const RequestId id : ids) result.push_back(name(id));
    return result;
  }
  json got(const char* key) const { return got_.contains(key) ? got_.at(key) : json(); }

  // What the scheduler does inside a pass.
  static json sums(const SglangAdder& a) {
    return {a.rem_total(), a.rem_input(), a.rem_chunk() ? json(*a.rem_chunk()) : json(), a.rem_cur()};
  }
  void note_add(RequestId id, const char* result, const SglangAdder& adder) {
    json entry = {name(id), result};
    for (const json& sum : sums(adder)) entry.push_back(sum);
    got_["adder"]["adds"].push_back(entry);
  }
  void adder_started(const SglangAdder& adder) override {
    got_["adder"] = {{"start", sums(adder)}, {"adds", json::array()}};
  }
  void chunk_added(RequestId id, bool more, const SglangAdder& adder) override {
    note_add(id, more ? "CHUNK_MORE" : "CHUNK_LAST", adder);
  }
  void tried(RequestId id, SglangAdder::Result result, const SglangAdder& adder) override {
    constexpr const char* kResults[] = {"CONTINUE", "NO_TOKEN", "OTHER"};
    note_add(id, kResults[static_cast<int>(result)], adder);
  }
  void finished(RequestId id, Finish why) override {
    constexpr const char* kReasons[] = {"FINISH_LENGTH", "FINISH_MATCHED_TOKEN", "FINISH_ABORT"};
    got_["finished"].push_back({name(id), kReasons[static_cast<int>(why)]});
  }

  /// As recorded: upstream walks a set there.
  void order_preempted(std::vector<RequestId>& preempted) override {
    if (step_ >= steps_.size()) return;
    const json recorded = value_or(steps_.at(step_), "preempted", json::array());
    const auto place = [&](RequestId id) { return std::find(recorded.begin(), recorded.end(), name(id)); };
    std::stable_sort(preempted.begin(), preempted.end(), [&](RequestId a, RequestId b) { return place(a) < place(b); });
  }

  void receive(std::size_t k) {
    while (next_ < requests_.size() && requests_.at(next_).at("arrive_step").get<std::size_t>() <= k) {
      const json& r = requests_.at(next_++);
      const RequestId id = table_.create();
      SchedulerState& s = table_.state(id);
      s.prompt_tokens = r.at("prompt_tokens");
      s.end_tokens = s.prompt_tokens + r.at("output_tokens").get<Tokens>();
      s.priority = r.at("priority");
      Content& content = table_.content(id);
      for (const json& part : r.at("prompt_segments")) {
        content.prompt.push_back({segment(part.at(0)), part.at(1), part.at(2)});
      }
      content.output = segment(r.at("out_segment"));
      const Tokens declared = r.at("max_new_tokens");
      scheduler_.enqueue(id, {declared, r.value("ignore_eos", false)});
      const SglangJob& job = scheduler_.job(id);
      if (job.max_new != declared) got_["clipped"].push_back({name(id), job.max_new});
      if (job.rejected) got_["rejected"].push_back(name(id));
    }
  }
  /// Segments are numbered from 0 there; here 0 stands for tokens unlike all others.
  static std::uint64_t segment(const json& number) { return number.get<std::uint64_t>() + 1; }

  /// Runs and compares the steps that are decided at step k; returns how many.
  std::size_t step(std::size_t k) {
    got_ = json::object();
    step_ = k;
    receive(k);
    const StepPlan& plan = scheduler_.schedule_pass(mode_ == Mode::kLiteral);
    note_plan(plan);
    compare_plan(k);
    if (scheduler_.kind() == SglangScheduler::Kind::kCrash) return 1;
    std::size_t count = 1;
    if (mode_ == Mode::kLeap && plan.decode_only()) {
      const std::size_t end =
          next_ < requests_.size() ? requests_.at(next_).at("arrive_step").get<std::size_t>() : steps_.size();
      count = std::min(end - k, static_cast<std::size_t>(scheduler_.certain_steps(INT64_MAX / 2)));
    }
    for (std::size_t i = 1; i < count; ++i) compare_repetition(k, i);
    scheduler_.finish(static_cast<std::int64_t>(count));
    compare_end(k + count - 1);
    return count;
  }

  void note_plan(const StepPlan& plan) {
    got_["kind"] = kKinds[static_cast<int>(scheduler_.kind())];
    got_["batch"] = got_["prefix"] = json::array();
    const bool crash = scheduler_.kind() == SglangScheduler::Kind::kCrash;
    if (!crash) {
      scheduler_.for_each_in_batch([&](RequestId id, Tokens tokens, Tokens before) {
        got_["batch"].push_back({name(id), tokens});
        got_["prefix"].push_back(before);
      });
    }
    if (plan.prefill.empty()) got_["prefix"] = json::array();
    got_["new"] = got_["resumed"] = json::array();
    for (const RequestId id : plan.admitted) {
      const SglangJob& job = scheduler_.job(id);
      got_[table_.state(id).preemptions > 0 ? "resumed" : "new"].push_back({name(id), job.extend_end - job.extend});
    }
    std::vector<RequestId> gone;
    for (const StepPlan::Preempted& p : plan.preempted) gone.push_back(p.id);
    got_["gone"] = names(gone);
    got_["free_sched"] = scheduler_.memory().available();
    got_["evictable_sched"] = scheduler_.memory().evictable();
  }

  void compare(std::size_t k, const char* key, const char* as = nullptr) const {
    const json& expected = steps_.at(k);
    const json mine = got(as ? as : key);
    const bool empty = mine.is_null() || (mine.is_array() && mine.empty());
    if (!expected.contains(key) && empty) return;
    expect(k, key, value_or(expected, key, json()), mine);
  }

  void compare_plan(std::size_t k) {
    const json& expected = steps_.at(k);
    compare(k, "kind");
    if (expected.at("kind") == "crash") return;
    for (const char* key : {"clipped", "rejected", "adder"}) {
      if (expected.contains("running_ids") || key[0] != 'a') compare(k, key);
    }
    for (const char* key : {"batch", "prefix", "new", "resumed"}) compare(k, key);
    if (expected.contains("retracted")) compare(k, "retracted", "gone");
    if (expected.contains("preempted")) {
      const std::vector<std::string> a = expected.at("preempted"), b = got("gone");
      expect(k, "preempted", std::multiset<std::string>(a.begin(), a.end()),
             std::multiset<std::string>(b.begin(), b.end()));
    }
    if (!expected.contains("retracted") && !expected.contains("preempted")) {
      expect(k, "retracted or preempted", json::array(), got("gone"));
    }
    if (expected.at("kind") == "idle") return;
    compare(k, "free_sched");
    compare(k, "evictable_sched");
  }

  /// A step inside a leap: the same batch, and nobody comes, goes or ends before it.
  void compare_repetition(std::size_t k, std::size_t i) {
    const json& expected = steps_.at(k + i);
    for (const char* key : {"kind", "batch"}) expect(k + i, key, expected.at(key), steps_.at(k).at(key));
    for (const char* key : {"new", "resumed", "retracted", "preempted", "adder", "chunked"}) {
      expect(k + i, key, value_or(expected, key, json()), json());
    }
    expect(k + i - 1, "finished", value_or(steps_.at(k + i - 1), "finished", json()), json());
  }

  void compare_end(std::size_t k) {
    const json& expected = steps_.at(k);
    got_["free"] = scheduler_.memory().available();
    got_["evictable"] = scheduler_.memory().evictable();
    got_["protected"] = scheduler_.memory().tree().protected_tokens();
    got_["ratio"] = scheduler_.ratio();
    got_["full"] = scheduler_.full() ? 1 : 0;
    got_["running_ids"] = names(scheduler_.running_batch());
    got_["waiting_ids"] = names(scheduler_.waiting_queue());
    got_["running"] = got("running_ids").size();
    got_["waiting"] = scheduler_.waiting();
    if (scheduler_.chunked().valid()) got_["chunked"] = name(scheduler_.chunked());
    for (const char* key : {"finished", "free", "evictable", "ratio", "full", "running", "waiting", "chunked"}) {
      compare(k, key);
    }
    for (const char* key : {"running_ids", "waiting_ids", "protected"}) {
      if (expected.contains(key)) compare(k, key);
    }
  }

  void compare_result() {
    json retractions = json::object(), unfinished = json::array();
    for (std::size_t i = 0; i < next_; ++i) {
      const SchedulerState& s = table_.state(RequestId(i));
      if (s.preemptions > 0) retractions[name(RequestId(i))] = s.preemptions;
    }
    const json& result = document_.at("result");
    expect(steps_.size(), "retractions", result.at("retractions"), retractions);
    const std::size_t left = static_cast<std::size_t>(scheduler_.running() + scheduler_.waiting());
    if (!result.contains("crash")) expect(steps_.size(), "unfinished", result.at("unfinished").size(), left);
  }

  const json& document_;
  const json& steps_;
  const json& requests_;
  Mode mode_;
  RequestTable table_;
  SglangScheduler scheduler_;
  json got_;
  std::size_t next_ = 0;
  std::size_t step_ = 0;
};

}  // namespace

bool is_sglang(const json& document) {
  const json& args = document.at("scenario").at("args");
  return args.contains("chunked_prefill_size") || args.contains("max_total_num_tokens");
}

Result check_sglang(const json& document) {
  if (document.at("scenario").at("args").at("schedule_policy") == "random") {
    return {Verdict::kSkipped, "the order of the policy random is our own"};
  }
  for (const Mode mode : {Mode::kLiteral, Mode::kBulk, Mode::kLeap, Mode::kMended}) {
    if (const auto difference = Check(document, mode).run()) {
      return differs(*difference, kModes[static_cast<int>(mode)]);
    }
  }
  return {};
}

}  // namespace poolcast::oracle
