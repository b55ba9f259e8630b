// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/vllm_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/schedulers/vllm.h"

using nlohmann::json;

namespace poolcast::oracle {
namespace {

enum class Mode { kLiteral, kBulk, kLeap };
constexpr const char* kModes[] = {"literal", "bulk", "leap"};

/// One run of one case.
class Check {
 public:
  Check(const json& document, Mode mode)
      : document_(document),
        steps_(document.at("steps")),
        mode_(mode),
        scheduler_(arguments(document.at("scenario").at("args")), table_, 1) {
    name_requests(document.at("scenario").at("requests"));
  }

  /// Nothing when every step agrees.
  std::optional<Difference> run() {
    try {
      for (std::size_t k = 0; k < steps_.size();) k += step(k);
      compare_result();
    } catch (const Difference& difference) {
      return difference;
    }
    return std::nullopt;
  }

 private:
  static VllmArgs arguments(const json& a) {
    VllmArgs args;
    args.max_num_seqs = a.at("max_num_seqs");
    args.max_num_batched_tokens = a.at("max_num_batched_tokens");
    args.max_model_len = a.at("max_model_len");
    args.block_size = a.at("block_size");
    args.num_gpu_blocks = a.at("num_gpu_blocks");
    args.enable_chunked_prefill = a.at("enable_chunked_prefill");
    args.long_prefill_token_threshold = a.at("long_prefill_token_threshold");
    args.policy = a.at("policy") == "priority" ? VllmArgs::Policy::kPriority : VllmArgs::Policy::kFcfs;
    args.scheduler_reserve_full_isl = a.at("scheduler_reserve_full_isl");
    args.watermark = a.at("watermark");
    args.enable_prefix_caching = a.at("enable_prefix_caching");
    args.fidelity = Fidelity::kUpstream;
    return args;
  }

  /// Ranks: the real queue breaks ties of priority and arrival by comparing ids as strings.
  void name_requests(const json& requests) {
    std::set<std::string> ids;
    std::set<double> times;
    for (const json& r : requests) {
      ids.insert(r.at("id").get<std::string>());
      times.insert(r.at("arrival_time").get<double>());
    }
    const std::int64_t max_model_len = document_.at("scenario").at("args").at("max_model_len");
    for (const json& r : requests) {
      const RequestId id = table_.create();
      SchedulerState& s = table_.state(id);
      s.prompt_tokens = r.at("prompt_tokens");
      s.end_tokens = std::min(s.prompt_tokens + r.at("output_tokens").get<std::int64_t>(), max_model_len);
      s.priority = r.at("priority");
      s.arrival = std::distance(times.begin(), times.find(r.at("arrival_time").get<double>()));
      s.rank = static_cast<std::uint64_t>(std::distance(ids.begin(), ids.find(r.at("id").get<std::string>())));
      table_.content(id) = content(r, document_.at("scenario").at("args").at("block_size"));
      names_.push_back(r.at("id"));
      arrive_step_.push_back(r.at("arrive_step"));
    }
  }

  /// By token segments; by the ids of full blocks where a case has nothing else, which says nothing of outputs.
  static Content content(const json& r, std::int64_t block_size) {
    Content content;
    const auto known = [](const json& id) { return id.get<std::uint64_t>() + 1; };  // 0 means unknown
    if (r.contains("prompt_segments")) {
      for (const json& s : r.at("prompt_segments")) content.prompt.push_back({known(s.at(0)), s.at(1), s.at(2)});
      content.output = known(r.at("out_segment"));
    } else if (r.contains("hash_ids")) {
      for (const json& id : r.at("hash_ids")) content.prompt.push_back({known(id), 0, block_size});
      content.prompt.resize(r.at("prompt_tokens").get<std::size_t>() / static_cast<std::size_t>(block_size));
    }
    return content;
  }

  const std::string& name(RequestId id) const { return names_[id.value]; }
  std::vector<std::string> names(const std::vector<RequestId>& ids) const {
    std::vector<std::string> result;
    for (const RequestId id : ids) result.push_back(name(id));
    return result;
  }

  /// Runs and compares the steps that are decided at step k; returns how many.
  std::size_t step(std::size_t k) {
    while (next_ < names_.size() && arrive_step_[next_] <= k) {
      scheduler_.enqueue(RequestId(next_++));
    }
    const StepPlan& plan = mode_ == Mode::kLiteral ? scheduler_.schedule_literally() : scheduler_.schedule();
    compare_plan(k, plan);
    std::size_t count = 1;
    if (mode_ == Mode::kLeap && plan.decode_only()) {
      const std::size_t horizon = (next_ < names_.size() ? arrive_step_[next_] : steps_.size()) - k;
      count = std::min(horizon, static_cast<std::size_t>(scheduler_.certain_steps(INT64_MAX / 2)));
    }
    for (std::size_t i = 1; i < count; ++i) compare_repetition(k, i);
    const StepOutcome& outcome = scheduler_.finish(static_cast<std::int64_t>(count));
    compare_outcome(k + count - 1, outcome);
    return count;
  }

  void compare_plan(std::size_t k, const StepPlan& plan) {
    const json& expected = steps_.at(k);
    json scheduled = json::array(), computed = json::array(), fresh = json::array(), resumed = json::array();
    scheduler_.for_each_running([&](RequestId id, Tokens done, Tokens n) {
      if (n == 0) return;
      scheduled.push_back({name(id), n});
      computed.push_back(done);
    });
    for (const RequestId id : plan.admitted) {
      (table_.state(id).preemptions > 0 ? resumed : fresh).push_back({name(id), table_.state(id).computed});
    }
    std::vector<RequestId> preempted;
    for (const StepPlan::Preempted& p : plan.preempted) preempted.push_back(p.id);
    expect(k, "scheduled", expected.at("scheduled"), scheduled);
    expect(k, "computed", expected.at("computed"), computed);
    expect(k, "new", value_or(expected, "new", json::array()), fresh);
    expect(k, "resumed", value_or(expected, "resumed", json::array()), resumed);
    expect(k, "preempted", value_or(expected, "preempted", json::array()), names(preempted));
    expect(k, "free_sched", expected.at("free_sched"), scheduler_.free_blocks());
    if (expected.contains("pc")) compare_cache(k, expected.at("pc"), fresh.size(), resumed.size());
  }

  /// vLLM's PrefixCacheStats of this step: requests, queries and hits, of new requests and of resumed ones.
  void compare_cache(std::size_t k, const json& expected, std::size_t fresh, std::size_t resumed) {
    const PrefixStats now = scheduler_.prefix_stats();
    const std::int64_t queries = now.queries - before_.queries, again = now.resumed_queries - before_.resumed_queries;
    const std::int64_t hits = now.hits - before_.hits, found_again = now.resumed_hits - before_.resumed_hits;
    expect(k, "pc", expected, json{fresh, queries - again, hits - found_again, resumed, again, found_again});
    before_ = now;
  }

  /// A step inside a leap: the same requests, each one token further, and nobody comes, goes or ends before it.
  void compare_repetition(std::size_t k, std::size_t i) {
    const json& expected = steps_.at(k + i);
    json computed = steps_.at(k).at("computed");
    for (json& c : computed) c = c.get<std::int64_t>() + static_cast<std::int64_t>(i);
    expect(k + i, "scheduled", expected.at("scheduled"), steps_.at(k).at("scheduled"));
    expect(k + i, "computed", expected.at("computed"), computed);
    for (const char* key : {"new", "resumed", "preempted"}) {
      expect(k + i, key, value_or(expected, key, json::array()), json::array());
    }
    expect(k + i - 1, "finished", value_or(steps_.at(k + i - 1), "finished", json::array()), json::array());
  }

  void compare_outcome(std::size_t k, const StepOutcome& outcome) {
    const json& expected = steps_.at(k);
    expect(k, "finished", value_or(expected, "finished", json::array()), names(outcome.ended));
    expect(k, "running", expected.at("running"), scheduler_.running());
    expect(k, "waiting", expected.at("waiting"), scheduler_.waiting());
    expect(k, "free", expected.at("free"), scheduler_.free_blocks());
    const double usable = static_cast<double>(scheduler_.usable_blocks());
    expect(k, "usage", expected.at("usage"), 1.0 - static_cast<double>(scheduler_.free_blocks()) / usable);
  }

  void compare_result() {
    json preemptions = json::object();
    std::set<std::string> unfinished;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const SchedulerState& s = table_.state(RequestId(i));
      if (s.preemptions > 0) preemptions[names_[i]] = s.preemptions;
      if (s.standing != Standing::kGone) unfinished.insert(names_[i]);
    }
    const json& result = document_.at("result");
    const std::vector<std::string> expected = result.at("unfinished");
    std::int64_t uncomputed = 0;
    for (const json& hit : value_or(result, "uncomputed_hits", json::array())) uncomputed += hit.at(2).get<int>();
    expect(steps_.size(), "uncomputed hits", uncomputed, scheduler_.prefix_stats().uncomputed_hits);
    expect(steps_.size(), "preemptions", result.at("preemptions"), preemptions);
    expect(steps_.size(), "unfinished", std::set<std::string>(expected.begin(), expected.end()), unfinished);
  }

  const json& document_;
  const json& steps_;
  Mode mode_;
  RequestTable table_;
  VllmScheduler scheduler_;
  std::vector<std::string> names_;
  std::vector<std::size_t> arrive_step_;
  std::size_t next_ = 0;
  PrefixStats before_;
};

}  // namespace

Result check_vllm(const json& document) {
  for (const Mode mode : {Mode::kLiteral, Mode::kBulk, Mode::kLeap}) {
    if (const auto difference = Check(document, mode).run()) {
      return differs(*difference, kModes[static_cast<int>(mode)]);
    }
  }
  return {};
}

}  // namespace poolcast::oracle
