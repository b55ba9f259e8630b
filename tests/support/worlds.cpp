// SPDX-License-Identifier: Apache-2.0
#include "tests/support/worlds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/pipeline.h"
#include "models/step_fit.h"
#include "sim/random.h"
#include "sim/workload.h"

namespace poolcast::testing {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

}  // namespace

DecodeLine KneeCurve::decode_line(std::int64_t requests, Tokens context) const {
  const auto border = static_cast<Tokens>(std::min(knee * d(requests), 1e17));
  DecodeLine line{base + per_request * d(requests), per_context, border};
  if (context > border) {
    line = {line.base_s - (beyond - per_context) * d(border), beyond, std::numeric_limits<Tokens>::max()};
  }
  constexpr Tokens kRange = 100'000'000;
  if (context <= kRange) line.last_context = std::min(line.last_context, kRange);
  return line;
}

Seconds KneeCurve::step(const StepShape& shape) const {
  double seconds = base;
  if (shape.decode_requests > 0) {
    const DecodeLine line = decode_line(shape.decode_requests, shape.decode_context);
    seconds = line.base_s + line.slope_s_per_token * d(shape.decode_context);
  }
  for (const PrefillChunk& chunk : shape.prefill) {
    seconds += per_token * d(chunk.query) + per_pair * d(chunk.query) * (d(chunk.context) + d(chunk.query) / 2);
  }
  return Seconds(seconds);
}

std::shared_ptr<const StepCurve> fixed_step(double seconds) {
  StepFit fit;
  fit.base = Seconds(seconds);
  fit.source = "test";
  return make_step_fit(fit);
}

SimulationSpec one_pool(std::shared_ptr<const StepCurve> curve, std::int32_t replicas) {
  SimulationSpec spec;
  spec.seed = 1;
  PoolSpec pool;
  pool.name = "pool";
  pool.replicas = replicas;
  pool.curve = std::move(curve);
  pool.vllm().num_gpu_blocks = 1'000'001;
  pool.vllm().max_model_len = 1'000'000;
  spec.pools.push_back(pool);
  spec.models.push_back({.name = "model", .implementations = {{.pool = PoolId(0u)}}});
  spec.classes.push_back({.name = "class", .model = ModelId(0u), .objectives = {}});
  spec.routing.pool.resize(1);
  return spec;
}

std::vector<RequestRecord> records_by_row(SimulationSpec spec, Report* report) {
  Recorder recorder;
  Report made = simulate(std::move(spec), {&recorder});
  if (report != nullptr) *report = std::move(made);
  std::sort(recorder.records.begin(), recorder.records.end(),
            [](const RequestRecord& a, const RequestRecord& b) { return a.row < b.row; });
  return recorder.records;
}

void add_list(SimulationSpec& spec, std::vector<Arrival> arrivals) {
  SourceSpec source;
  source.source = std::make_unique<ListSource>(std::move(arrivals));
  spec.sources.push_back(std::move(source));
}

Arrival arrival(double at_s, std::int64_t prompt, std::int64_t output, std::int32_t priority) {
  Arrival a;
  a.intended = to_sim_time(Seconds(at_s));
  a.cls = ClassId(0u);
  a.prompt_tokens = prompt;
  a.output_tokens = output;
  a.priority = priority;
  return a;
}

namespace {

/// Draws the parts of a random world.
class WorldMaker {
 public:
  explicit WorldMaker(std::uint64_t seed, bool prefixes = false)
      : prefixes_(prefixes), random_(seed, "random world"), content_(seed, "random content") {}

  SimulationSpec make(std::uint64_t seed) {
    SimulationSpec spec;
    spec.seed = seed;
    const std::int64_t pools = pick({1, 1, 2, 3});
    const std::int64_t classes = pick({1, 1, 2, 3});
    spec.models.push_back({.name = "model", .implementations = {}});
    spec.models[0].on_too_long = chance(0.3) ? TooLong::kTruncate : TooLong::kReject;
    for (std::int64_t p = 0; p < pools; ++p) add_pool(spec, p);
    for (std::int64_t c = 0; c < classes; ++c) add_class(spec, c);
    const char* policies[] = {"round-robin", "random", "weighted", "least-request", "power-of-two"};
    spec.routing.gateway.name = policies[random_.below(5)];
    for (PolicySpec& policy : spec.routing.pool) policy.name = policies[random_.below(5)];
    if (chance(0.3)) spec.measure.warm_up_requests = random_.below(40);
    if (chance(0.1)) spec.stall_preemptions = between(1, 20);
    if (chance(0.3)) spec.measure.warm_up = static_cast<SimTime>(random_.below(2'000'000'000));
    return spec;
  }

 private:
  bool chance(double p) { return random_.uniform() < p; }
  std::int64_t pick(std::initializer_list<std::int64_t> values) { return values.begin()[random_.below(values.size())]; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void add_pool(SimulationSpec& spec, std::int64_t index) {
    PoolSpec pool;
    pool.name = "pool" + std::to_string(index);
    pool.replicas = static_cast<std::int32_t>(pick({1, 1, 2, 5}));
    auto curve = std::make_shared<KneeCurve>();
    curve->base = 1e-3 * random_.uniform() + 1e-5;
    curve->per_context = chance(0.2) ? 0 : 1e-7 * random_.uniform();
    curve->beyond = curve->per_context * 3;
    curve->knee = chance(0.5) ? 1e18 : d(between(5, 200));
    curve->per_request = 1e-5 * random_.uniform();
    pool.curve = curve;
    VllmArgs& e = pool.vllm();
    e.block_size = pick({1, 3, 4, 16, 16, 64});
    e.max_num_seqs = pick({1, 2, 4, 16, 128});
    e.max_num_batched_tokens = pick({8, 32, 64, 256, 2048});
    e.max_model_len = pick({64, 256, 512, 4096});
    e.enable_chunked_prefill = chance(0.8);
    if (!e.enable_chunked_prefill) e.max_num_batched_tokens = e.max_model_len;
    e.long_prefill_token_threshold = chance(0.25) ? pick({1, 7, 30}) : 0;
    e.policy = chance(0.4) ? VllmArgs::Policy::kPriority : VllmArgs::Policy::kFcfs;
    e.scheduler_reserve_full_isl = chance(0.6);
    e.watermark = chance(0.25) ? 0.1 * random_.uniform() : 0;
    e.enable_prefix_caching = prefixes_ && content_.uniform() < 0.85;
    if (content_.uniform() < 0.25) e.preemption_victim = VllmArgs::Victim::kLeastComputed;
    e.fidelity = content_.uniform() < 0.5 ? Fidelity::kMended : Fidelity::kUpstream;
    // From a cache that holds a single request to one that is never short.
    const std::int64_t tokens = chance(0.6) ? between(20, 400) : between(400, 100'000);
    e.num_gpu_blocks = 2 + tokens / e.block_size;
    pool.max_pending_requests = chance(0.2) ? between(0, 6) : INT64_MAX;
    spec.models[0].implementations.push_back({.pool = PoolId(static_cast<std::uint32_t>(index))});
    spec.pools.push_back(std::move(pool));
    spec.routing.pool.emplace_back();
  }

  void add_class(SimulationSpec& spec, std::int64_t index) {
    ClassSpec cls;
    cls.name = "class" + std::to_string(index);
    cls.model = ModelId(0u);
    if (chance(0.2)) cls.timeout = between(1'000'000, 500'000'000);
    if (chance(0.2)) cls.patience = between(1'000'000, 100'000'000);
    cls.objectives.push_back({Metric::kTtft, 99, between(1'000'000, 100'000'000)});
    spec.classes.push_back(cls);
    SourceSpec source;
    const ClassId id(static_cast<std::uint32_t>(index));
    if (chance(0.2)) {
      source.source = make_source(closed_loop(), id, 0, spec.seed, "workload/" + std::to_string(index));
    } else {
      source.source = std::make_unique<ListSource>(arrivals(id));
      if (chance(0.2)) source.max_concurrency = between(1, 8);
    }
    spec.sources.push_back(std::move(source));
  }

  ClosedLoopSpec closed_loop() {
    ClosedLoopSpec loop;
    loop.users = between(1, 20);
    loop.requests = 100;
    loop.think_time = {ThinkSpec::Kind::kExponential, Seconds(0.01 * random_.uniform()), 0};
    loop.prompt_tokens = {LengthSpec::Kind::kUniform, 50, 0, 1, 100, {}};
    loop.output_tokens = {LengthSpec::Kind::kUniform, 25, 0, 1, 50, {}};
    return loop;
  }

  std::vector<Arrival> arrivals(ClassId cls) {
    std::vector<Arrival> list;
    const double gap_s = 0.03 * random_.uniform();
    const bool ties = chance(0.4);
    const std::int64_t longest = pick({20, 60, 300});
    double now = 0;
    for (int i = 0; i < 120; ++i) {
      // Ties fall on whole milliseconds, so that some meet step ends as well.
      now += chance(0.3) ? 0 : random_.exponential(gap_s);
      Arrival a;
      a.intended = ties ? static_cast<SimTime>(now * 1e3) * 1'000'000 : to_sim_time(Seconds(now));
      a.cls = cls;
      a.prompt_tokens = between(1, longest);
      a.output_tokens = between(1, longest);
      a.priority = static_cast<std::int32_t>(between(0, 3));
      if (prefixes_) add_content(a, cls, list);
      list.push_back(a);
    }
    return list;
  }

  /// Begins anew, shares a prefix, repeats a prompt, or goes on where an earlier request will have ended.
  void add_content(Arrival& a, ClassId cls, const std::vector<Arrival>& before) {
    const std::uint64_t row = 1000 * (cls.value + 1) + before.size();
    const double kind = content_.uniform();
    std::int64_t fresh = a.prompt_tokens;
    std::vector<Segment>& prompt = a.content.prompt;
    if (kind < 0.3) {
      const std::uint64_t group = content_.below(3);
      prompt.push_back({1 + group, 0, 5 + 13 * static_cast<std::int64_t>(group)});
    } else if (kind < 0.6 && !before.empty()) {
      const Arrival& other = before[before.size() - 1 - content_.below(std::min<std::size_t>(before.size(), 12))];
      prompt = other.content.prompt;
      if (kind < 0.5 && other.content.output != 0) {
        prompt.push_back({other.content.output, 0, 1 + (other.output_tokens - 1) / (kind < 0.45 ? 1 : 2)});
      } else if (!prompt.empty()) {
        fresh = 0;
      }
    }
    if (fresh > 0) prompt.push_back({10'000 + row, 0, fresh});
    a.content.output = content_.uniform() < 0.8 ? 100'000 + row : 0;
    a.prompt_tokens = 0;
    for (const Segment& s : prompt) a.prompt_tokens += s.tokens;
    if (kind > 0.9) prompt.pop_back();  // its end is not known
  }

  bool prefixes_;
  RandomStream random_;
  RandomStream content_;  // of its own, so that the worlds without prefixes stay as they are
};

}  // namespace

SimulationSpec random_disaggregated_world(std::uint64_t seed) {
  SimulationSpec spec = random_prefix_world(seed);
  RandomStream random(seed, "random network");
  const std::uint32_t hub = spec.topology.add_node("switch");
  const std::size_t before = spec.pools.size();
  // Every pool gets a partner with its engine, so that any request finds both halves; some also stay whole.
  for (std::size_t p = 0; p < before; ++p) {
    PoolSpec partner = spec.pools[p];
    partner.name += "-prefill";
    partner.role = PoolRole::kPrefill;
    partner.kv_bytes_per_token = 1000;
    if (random.uniform() < 0.8) spec.pools[p].role = PoolRole::kDecode;
    spec.models[0].implementations.push_back({.pool = PoolId(spec.pools.size())});
    spec.pools.push_back(std::move(partner));
    spec.routing.pool.push_back(spec.routing.pool[p]);
  }
  for (PoolSpec& pool : spec.pools) {
    pool.node = spec.topology.add_node(pool.name);
    const double bandwidth = 1e5 + 1e7 * random.uniform() * random.uniform();
    spec.topology.connect({pool.node, hub, BytesPerSecond(bandwidth), Seconds(1e-3 * random.uniform())});
    if (random.uniform() < 0.3) pool.ranks = 2;
  }
  return spec;
}

SimulationSpec random_layout_world(std::uint64_t seed) {
  SimulationSpec spec = random_prefix_world(seed);
  RandomStream random(seed, "random layouts");
  const char* balancers[] = {"vllm-dplb", "vllm-dplb-queue"};
  for (std::size_t p = 0; p < spec.pools.size(); ++p) {
    PoolSpec& pool = spec.pools[p];
    pool.ranks = 1 + static_cast<std::int32_t>(random.below(3));
    pool.balancer.name = balancers[random.below(2)];
    if (random.uniform() < 0.5) spec.routing.pool[p].name = balancers[random.below(2)];
    if (random.uniform() < 0.3) continue;
    Pipeline pipeline;
    pipeline.stages = 2 + static_cast<std::int64_t>(random.below(3));
    pipeline.micro_batch_tokens = pool.vllm().max_num_batched_tokens;
    pool.vllm().max_num_batched_tokens *= pipeline.stages;
    pipeline.whole = pool.curve;
    for (const double share : {0.3, 0.4}) {
      auto stage = std::make_shared<KneeCurve>(dynamic_cast<const KneeCurve&>(*pool.curve));
      for (double KneeCurve::*part : {&KneeCurve::base, &KneeCurve::per_token, &KneeCurve::per_request,
                                      &KneeCurve::per_context, &KneeCurve::beyond, &KneeCurve::per_pair}) {
        (*stage).*part *= share * (0.8 + 0.4 * random.uniform());
      }
      pipeline.slowest.push_back(std::move(stage));
    }
    pipeline.hops_base_s = 1e-4 * random.uniform();
    pipeline.hops_per_token_s = 1e-6 * random.uniform();
    pool.curve = make_pipeline(std::move(pipeline));
  }
  if (random.uniform() < 0.3) spec.routing.gateway.name = balancers[random.below(2)];
  return spec;
}

SimulationSpec random_prefix_world(std::uint64_t seed) { return WorldMaker(seed, true).make(seed); }

SimulationSpec random_world(std::uint64_t seed) { return WorldMaker(seed).make(seed); }

void send_in_bundles(SimulationSpec& spec, std::uint64_t seed) {
  RandomStream random(seed, "random bundles");
  for (PoolSpec& pool : spec.pools) pool.vllm().stream_interval = 1 + static_cast<std::int64_t>(random.below(9));
}

void plan_ahead(SimulationSpec& spec, std::uint64_t seed) {
  for (PoolSpec& pool : spec.pools) {
    pool.vllm().async_scheduling = true;
    if (seed % 3 != 0) continue;
    auto curve = std::make_shared<KneeCurve>();
    curve->base = 1e-3 * static_cast<double>(1 + seed % 4);
    curve->per_token = curve->per_request = curve->per_context = curve->beyond = curve->per_pair = 0;
    pool.curve = curve;
  }
}

void speculate(SimulationSpec& spec, std::uint64_t seed) {
  RandomStream random(seed, "random speculation");
  using Method = SpeculationArgs::Method;
  for (PoolSpec& pool : spec.pools) {
    SpeculationArgs& args = pool.vllm().speculation;
    const Method methods[] = {Method::kNgram, Method::kDraftModel, Method::kEagle};
    args.method = methods[random.below(3)];
    args.num_speculative_tokens = 1 + static_cast<std::int64_t>(random.below(5));
    for (std::int64_t i = 0; i < args.num_speculative_tokens; ++i) {
      args.synthetic_acceptance_rates.push_back(random.uniform() < 0.2 ? 1 : random.uniform());
    }
    if (args.runs_model()) args.draft_time = Seconds(1e-4 * random.uniform());
    pool.vllm().max_num_batched_tokens = std::max<std::int64_t>(pool.vllm().max_num_batched_tokens, 8);
  }
}

void offload(SimulationSpec& spec, std::uint64_t seed) {
  RandomStream random(seed, "random host");
  for (PoolSpec& pool : spec.pools) {
    VllmArgs& args = pool.vllm();
    if (!args.enable_prefix_caching) continue;
    args.host_blocks = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(6 * args.num_gpu_blocks)));
    pool.kv_bytes_per_token = 1000;
    pool.host_bandwidth = BytesPerSecond(1e5 + 1e7 * random.uniform() * random.uniform());
  }
}

SimulationSpec whole_milliseconds(std::uint64_t seed) {
  SimulationSpec spec = random_prefix_world(seed);
  for (PoolSpec& pool : spec.pools) {
    auto curve = std::make_shared<KneeCurve>();
    curve->base = 1e-3 * static_cast<double>(1 + seed % 3);
    curve->per_token = curve->per_request = curve->per_context = curve->beyond = curve->per_pair = 0;
    pool.curve = curve;
  }
  return spec;
}

}  // namespace poolcast::testing
