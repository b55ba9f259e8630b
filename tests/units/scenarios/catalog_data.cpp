// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "models/error.h"
#include "models/kv_memory.h"
#include "models/roofline.h"
#include "scenarios/catalog.h"
#include "scenarios/error.h"

/// What the shipped catalog says.
namespace poolcast {
namespace {

const Catalog& catalog() {
  static const Catalog shipped = Catalog::load(std::string(POOLCAST_SOURCE_DIR) + "/scenarios/catalog");
  return shipped;
}

const Accelerator& accelerator(const char* name) {
  const Accelerator* found = catalog().accelerator(name);
  REQUIRE(found != nullptr);
  return *found;
}

TEST_CASE("every accelerator of the datasheet table and the measured CPUs are in the catalog") {
  const std::vector<std::string_view> expected = {
      "h100-sxm",  "h200-sxm",   "b200-sxm",   "gb200",       "b300-sxm",   "a100-sxm-80gb", "l40s",
      "mi300x",    "mi325x",     "mi355x",     "tpu-v5e",     "tpu-v5p",    "tpu-v6e",       "tpu7x",
      "trainium1", "trainium2",  "trainium3",  "inferentia2", "gaudi2",     "gaudi3",        "groq-lpu-v1",
      "wse-3",     "xeon-6980p", "zen4-1core", "zen4-2cores", "arc-pro-b60"};
  CHECK(catalog().accelerator_names() == expected);
}

TEST_CASE("each figure that has a value has a source, and each that is explained away has none") {
  for (const Accelerator& entry : catalog().accelerators()) {
    INFO(entry.name);
    const auto check = [](const auto& figure) { CHECK(figure.value.has_value() == !figure.source.empty()); };
    for (const auto& peak : entry.peak) check(peak);
    check(entry.memory);
    check(entry.addressable_memory);
    check(entry.memory_bandwidth);
    check(entry.tdp);
    check(entry.link_bandwidth);
    CHECK_FALSE(entry.vendor.empty());
    CHECK_FALSE(entry.family.empty());
  }
}

TEST_CASE("figures read as the datasheets print them") {
  const Accelerator& h100 = accelerator("h100-sxm");
  CHECK(h100.require_peak(Precision::kBf16).value == 989e12);
  CHECK(h100.require_memory_bandwidth().value == 3.35e12);
  CHECK(h100.memory.value->value == 80e9);
  CHECK(h100.require_memory().value == 85'899'345'920.0);
  CHECK(h100.require_tdp().value == 700);
  CHECK(h100.require_link_bandwidth().value == 450e9);
  CHECK(h100.memory_bandwidth.source == "stas00/ml-engineering@744d01e:compute/accelerator/README.md");
  CHECK(accelerator("tpu-v6e").require_peak(Precision::kInt8).value == 1836e12);
  CHECK(accelerator("wse-3").require_tdp().value == 23e3);
}

TEST_CASE("a figure that the table leaves blank is missing, and says why") {
  CHECK_THROWS_WITH(
      accelerator("xeon-6980p").require_peak(Precision::kBf16),
      "peak bf16 rate of xeon-6980p is missing: no source states it; a scenario may state it itself (peak "
      "AMX rate not found on any page seen)");
  CHECK_THROWS_AS(accelerator("a100-sxm-80gb").require_peak(Precision::kFp8), MissingFigure);
  CHECK_THROWS_AS(accelerator("tpu-v5e").require_tdp(), MissingFigure);
  CHECK_THROWS_AS(accelerator("groq-lpu-v1").require_link_bandwidth(), MissingFigure);
}

TEST_CASE("every shape has the parameters that its makers count") {
  CHECK(catalog().models().size() >= 10);
  for (const ModelEntry& entry : catalog().models()) {
    INFO(entry.shape.name);
    REQUIRE(entry.parameters);
    CHECK(parameters(entry.shape) == Approx(*entry.parameters).epsilon(0.01));
    // Active counts are published to two digits, and cut rather than rounded.
    if (entry.shape.moe) CHECK(active_parameters(entry.shape) == Approx(entry.active_parameters.value()).epsilon(0.02));
    CHECK(entry.shape.context_limit > 0);
    CHECK_FALSE(entry.source.empty());
  }
  for (const char* name : {"llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "llama-2-7b", "llama-2-70b", "qwen3-32b",
                           "qwen3-30b-a3b", "qwen2.5-72b", "mixtral-8x7b", "deepseek-v3"}) {
    CHECK(catalog().model(name) != nullptr);
  }
}

TEST_CASE("every accelerator with figures runs every model, more slowly with more work") {
  int pairs = 0;
  for (const Accelerator& device : catalog().accelerators()) {
    for (const ModelEntry& model : catalog().models()) {
      RooflineOptions options;
      options.table_tokens = 16;
      std::unique_ptr<StepCurve> curve;
      try {
        curve = make_roofline(device, model.shape, {1}, options);
      } catch (const MissingFigure&) {
        CHECK(device.name == "xeon-6980p");
        continue;
      }
      ++pairs;
      double last = 0;
      for (std::int64_t batch = 1; batch <= 4096; batch *= 2) {
        const DecodeLine line = curve->decode_line(batch, batch * 500);
        const double seconds = line.base_s + line.slope_s_per_token * static_cast<double>(batch) * 500;
        INFO(model.shape.name << " on " << device.name << ", batch " << batch);
        CHECK(seconds > last);
        last = seconds;
      }
    }
  }
  CHECK(pairs == 25 * static_cast<int>(catalog().models().size()));
}

TEST_CASE("prices keep the instance, and what the list leaves blank is missing") {
  const auto find = [](std::string_view instance) -> const PriceEntry& {
    for (const PriceEntry& entry : catalog().prices()) {
      if (entry.instance == instance) return entry;
    }
    FAIL("no instance " << instance);
    std::abort();
  };
  const PriceEntry& p5 = find("p5.48xlarge");
  CHECK(p5.on_demand->value == 55.04);
  CHECK(p5.on_demand_per_device()->value == Approx(6.88));
  CHECK(p5.spot_lowest->value == 10.24);
  CHECK(p5.spot_highest->value == 55.04);
  CHECK(p5.accelerator == "h100-sxm");
  CHECK_FALSE(find("p5e.48xlarge").on_demand_per_device());
  CHECK_FALSE(find("trn2.48xlarge").on_demand);
  CHECK_FALSE(find("inf2.48xlarge").on_demand);
  CHECK(find("inf2.48xlarge").reserved->value == 5.608);
  CHECK(find("tpu-v5p-12288").on_demand_per_device()->value == Approx(4.2));
  CHECK_FALSE(find("MI300X").on_demand);
  CHECK(find("MI300X").claimed_highest->value == 6);
  CHECK(find("p4d.24xlarge").accelerator.empty());
}

TEST_CASE("price entries name accelerators of the catalog and no placeholder prices") {
  CHECK(catalog().prices().size() == 37);
  for (const PriceEntry& entry : catalog().prices()) {
    INFO(entry.instance);
    CHECK(entry.on_demand != DollarsPerHour(700));
    CHECK((entry.accelerator.empty() || catalog().accelerator(entry.accelerator) != nullptr));
    CHECK_FALSE(entry.source.empty());
  }
}

struct Case {
  const char* device;
  EngineUsage usage;
  std::int64_t seqs;
  std::int64_t tokens;
};

TEST_CASE("vLLM's defaults follow device, memory and usage") {
  const Case cases[] = {
      {"h100-sxm", EngineUsage::kApi, 1024, 8192},      {"h100-sxm", EngineUsage::kOffline, 1024, 16384},
      {"b200-sxm", EngineUsage::kApi, 1024, 16384},     {"mi300x", EngineUsage::kApi, 1024, 16384},
      {"a100-sxm-80gb", EngineUsage::kApi, 256, 2048},  {"a100-sxm-80gb", EngineUsage::kOffline, 256, 8192},
      {"l40s", EngineUsage::kApi, 256, 2048},           {"tpu-v6e", EngineUsage::kApi, 256, 1024},
      {"tpu-v5e", EngineUsage::kOffline, 256, 1024},    {"tpu-v5p", EngineUsage::kApi, 1024, 256},
      {"xeon-6980p", EngineUsage::kOffline, 256, 4096}, {"xeon-6980p", EngineUsage::kApi, 128, 2048},
  };
  for (const Case& expected : cases) {
    INFO(expected.device);
    const auto defaults =
        catalog().engine_defaults("vllm", "mainline-2026-08-17", accelerator(expected.device), expected.usage);
    REQUIRE(defaults);
    CHECK(std::get<VllmArgs>(defaults->settings.args).max_num_seqs == expected.seqs);
    CHECK(std::get<VllmArgs>(defaults->settings.args).max_num_batched_tokens == expected.tokens);
    CHECK(defaults->missing.empty());
  }
  // On CPUs both grow with the world size.
  const auto two =
      catalog().engine_defaults("vllm", "mainline-2026-08-17", accelerator("xeon-6980p"), EngineUsage::kApi, 2);
  CHECK(std::get<VllmArgs>(two->settings.args).max_num_seqs == 256);
  CHECK(std::get<VllmArgs>(two->settings.args).max_num_batched_tokens == 4096);
  CHECK(two->find("max_num_seqs")->default_value == "256");
}

TEST_CASE("the rest of vLLM's defaults is that of its version") {
  const auto now = catalog().engine_defaults("vllm", "mainline-2026-08-17", accelerator("h100-sxm"));
  REQUIRE(now);
  CHECK(now->settings.memory_share == 0.92);
  CHECK(std::get<VllmArgs>(now->settings.args).block_size == 16);
  CHECK(std::get<VllmArgs>(now->settings.args).enable_chunked_prefill);
  CHECK(std::get<VllmArgs>(now->settings.args).scheduler_reserve_full_isl);
  CHECK(std::get<VllmArgs>(now->settings.args).watermark == 0);
  CHECK(std::get<VllmArgs>(now->settings.args).policy == VllmArgs::Policy::kFcfs);
  CHECK(now->find("watermark") != nullptr);
  CHECK(now->find("enable_prefix_caching")->modelled);
  CHECK(std::get<VllmArgs>(now->settings.args).async_scheduling);

  const auto older = catalog().engine_defaults("vllm", "0.19.0", accelerator("h100-sxm"));
  REQUIRE(older);
  CHECK(older->version == "0.19");
  CHECK(older->settings.memory_share == 0.9);
  CHECK(older->find("watermark") == nullptr);
  CHECK(older->missing == std::vector<std::string>{"max_num_seqs", "max_num_batched_tokens"});
  CHECK_FALSE(older->find("max_num_seqs")->default_value);
}

TEST_CASE("an engine or a version that no table answers for is not guessed") {
  const Accelerator& h100 = accelerator("h100-sxm");
  CHECK_FALSE(catalog().engine_defaults("vllm", "0.18", h100));
  CHECK_FALSE(catalog().engine_defaults("vllm", "0.190", h100));
  CHECK_FALSE(catalog().engine_defaults("vllm", "0.1", h100));
  CHECK_FALSE(catalog().engine_defaults("sglang", "0.19", h100));
  CHECK(catalog().engine_kinds() ==
        std::vector<std::string_view>{"vllm", "sglang", "tensorrt-llm", "bucketed", "triton", "session"});
  CHECK(catalog().engine_versions("vllm") == std::vector<std::string_view>{"0.19", "mainline-2026-08-17"});
  CHECK(catalog().engine_versions("sglang") == std::vector<std::string_view>{"mainline-2026-07-20"});
  CHECK(catalog().engine_versions("tgi").empty());
}

TEST_CASE("Llama-3.1-70B fits on eight H100 and not on one") {
  const auto memory = [](std::int64_t tp) {
    return kv_memory(catalog().model("llama-3.1-70b")->shape, {tp}, accelerator("h100-sxm").require_memory(), {});
  };
  CHECK_FALSE(memory(1).fits());
  CHECK(memory(8).num_gpu_blocks > 80'000);
}

}  // namespace
}  // namespace poolcast
