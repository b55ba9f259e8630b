// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/trtllm_case.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedulers/tensorrt_llm.h"

using nlohmann::json;

namespace poolcast::oracle {
namespace {

enum class Mode { kLiteral, kBulk, kLeap };
constexpr const char* kModes[] = {"literal", "bulk", "leap"};

TensorrtLlmArgs arguments(const json& c) {
  TensorrtLlmArgs args;
  args.tokens_per_block = c.at("tokens_per_block");
  args.max_batch_size = c.at("max_batch_size");
  args.max_num_tokens = c.at("max_num_tokens");
  args.num_blocks = c.at("num_blocks");
  args.max_seq_len = 1'000'000;
  const std::string policy = c.at("policy");
  using Policy = TensorrtLlmArgs::CapacityPolicy;
  args.capacity_scheduler_policy = policy == "MAX_UTILIZATION" ? Policy::kMaxUtilization
                                   : policy == "STATIC_BATCH"  ? Policy::kStaticBatch
                                                               : Policy::kGuaranteedNoEvict;
  args.enable_chunked_prefill = c.contains("chunk_unit");
  args.chunk_unit_size = c.value("chunk_unit", 0);
  if (c.value("chunk_policy", "") == "EQUAL_PROGRESS") {
    args.context_chunking_policy = TensorrtLlmArgs::ChunkingPolicy::kEqualProgress;
  }
  args.enable_block_reuse = c.value("reuse", false);
  args.enable_partial_reuse = false;
  args.disable_overlap_scheduler = true;
  return args;
}

/// One run of one case.
class Check {
 public:
  Check(const json& document, Mode mode)
      : steps_(document.at("steps")),
        mode_(mode),
        scheduler_(arguments(document.at("scenario").at("config")), table_, 1) {
    for (const json& r : document.at("scenario").at("requests")) add(r);
    order_.resize(names_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return arrive_[a] < arrive_[b]; });
  }

  /// Nothing when every step agrees.
  std::optional<Difference> run() {
    try {
      for (std::size_t k = 0; k < steps_.size();) k += step(k);
    } catch (const Difference& difference) {
      return difference;
    }
    return std::nullopt;
  }

 private:
  void add(const json& r) {
    const RequestId id = table_.create();
    SchedulerState& s = table_.state(id);
    s.prompt_tokens = r.at("prompt");
    s.end_tokens = s.prompt_tokens + r.at("out").get<std::int64_t>();
    s.rank = id.value;
    for (const json& segment : r.value("seg", json::array())) {
      const std::size_t next = segments_.size() + 1;
      const std::size_t name = segments_.try_emplace(segment.at(0).get<std::string>(), next).first->second;
      table_.content(id).prompt.push_back({name, segment.at(1), segment.at(2)});
    }
    names_.push_back(r.at("id"));
    arrive_.push_back(r.at("arrive"));
  }

  template <class Ids>
  json names(const Ids& ids) const {
    json result = json::array();
    for (const RequestId id : ids) result.push_back(names_[id.value]);
    return result;
  }

  std::size_t step(std::size_t k) {
    while (next_ < order_.size() && arrive_[order_[next_]] <= static_cast<std::int64_t>(k)) {
      scheduler_.enqueue(RequestId(order_[next_++]));
    }
    const json& expected = steps_.at(k);
    expect(k, "free_before", expected.at("free_before"), scheduler_.free_blocks());
    const StepPlan& plan = mode_ == Mode::kLiteral ? scheduler_.schedule_literally() : scheduler_.schedule();
    compare_plan(k, plan);
    std::size_t count = 1;
    if (mode_ == Mode::kLeap && plan.decode_only()) {
      const auto arrival = next_ < order_.size() ? static_cast<std::size_t>(arrive_[order_[next_]]) : steps_.size();
      count = std::min(arrival - k, static_cast<std::size_t>(scheduler_.certain_steps(INT64_MAX / 2)));
    }
    for (std::size_t i = 1; i < count; ++i) {
      for (const char* key : {"fit", "context", "generation"})
        expect(k + i, key, steps_.at(k + i).at(key), expected.at(key));
    }
    const json finished = names(scheduler_.finish(static_cast<std::int64_t>(count)).ended);
    const json& last = steps_.at(k + count - 1);
    expect(k + count - 1, "finished", value_or(last, "finished", json::array()), finished);
    expect(k + count - 1, "free_after", last.at("free_after"), scheduler_.free_blocks());
    return count;
  }

  void compare_plan(std::size_t k, const StepPlan& plan) {
    const json& expected = steps_.at(k);
    std::vector<RequestId> active, generation;
    scheduler_.for_each_active([&](RequestId id) {
      active.push_back(id);
      if (table_.state(id).standing == Standing::kDecoding && !table_.state(id).starved) generation.push_back(id);
    });
    json context = json::array();
    for (std::size_t i = 0; i < plan.prefill.size(); ++i) {
      context.push_back({names_[plan.prefill_ids[i].value], plan.prefill[i].context, plan.prefill[i].query});
    }
    std::vector<RequestId> paused;
    for (const StepPlan::Preempted& p : plan.preempted) paused.push_back(p.id);
    expect(k, "active", value_or(expected, "active", names(active)), names(active));
    if (mode_ == Mode::kLiteral) {
      std::vector<RequestId> fit;
      for (const TrtCapacity::Fit& f : scheduler_.capacity().fits()) fit.push_back(f.id);
      expect(k, "fit", expected.at("fit"), names(fit));
    }
    const json skipped = names(scheduler_.capacity().skipped());
    expect(k, "paused", value_or(expected, "paused", json::array()), names(paused));
    expect(k, "skipped", value_or(expected, "skipped_duplicate_prefix", json::array()), skipped);
    expect(k, "context", expected.at("context"), context);
    expect(k, "generation", expected.at("generation"), names(generation));
  }

  const json& steps_;
  Mode mode_;
  RequestTable table_;
  TensorrtLlmScheduler scheduler_;
  std::map<std::string, std::size_t> segments_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> arrive_;
  std::vector<std::size_t> order_;
  std::size_t next_ = 0;
};

}  // namespace

Result check_trtllm(const json& document) {
  for (const Mode mode : {Mode::kLiteral, Mode::kBulk, Mode::kLeap}) {
    if (const auto difference = Check(document, mode).run()) {
      return differs(*difference, kModes[static_cast<int>(mode)]);
    }
  }
  return {};
}

}  // namespace poolcast::oracle
