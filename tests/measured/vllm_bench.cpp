// SPDX-License-Identifier: Apache-2.0
// Replays measured runs of vLLM 0.19 with step times from the kernel tables of the same device and prints predicted
// against measured latencies. Nothing is fitted to the runs: the tables, the engine's settings and the arrivals are all
// that goes in.
// Exit status 1 when a mean is further off than the limits below, 77 when the measurements are not at hand.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "models/kernel_tables.h"
#include "tests/support/data.h"
#include "tests/support/worlds.h"

using namespace poolcast;
using nlohmann::json;

namespace {

constexpr std::int64_t kLayers = 32;  // Llama-3.1-8B

struct Device {
  const char* name;
  std::int64_t max_num_seqs, num_gpu_blocks, max_model_len;
  double ttft_limit, tpot_limit, e2e_limit;  // percent, of the means
};

// The first states its KV blocks; of the second only that they were never short: 0.9 of 96 GB less the weights.
constexpr Device kDevices[] = {{"RTX4090", 256, 2588, 32768, 10, 3, 5}, {"RTXPRO6000", 128, 34'000, 131'072, 10, 3, 5}};

std::ifstream open(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": no such file");
  return file;
}

std::vector<std::vector<std::string>> read_csv(const std::string& path) {
  std::ifstream file = open(path);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);  // names
  while (std::getline(file, line)) {
    std::vector<std::string> row;
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    rows.push_back(row);
  }
  return rows;
}

/// Sums the lines of the named layers, each as often as it stands here.
KernelLine sum_of(const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& layers) {
  std::map<std::int64_t, double> sums;
  for (const auto& row : rows) {
    const auto times = static_cast<double>(std::count(layers.begin(), layers.end(), row[0]));
    if (times > 0) sums[std::stoll(row[1])] += times * std::stod(row[2]) * 1e-6;
  }
  KernelLine line;
  for (const auto& [x, seconds] : sums) {
    line.at.push_back(x);
    line.seconds.push_back(seconds);
  }
  return line;
}

AttentionTable read_attention(const std::string& path) {
  std::map<std::array<std::int64_t, 4>, double> times;
  std::vector<std::int64_t> axes[4];
  for (const auto& row : read_csv(path)) {
    std::array<std::int64_t, 4> key{};
    for (std::size_t i = 0; i < 4; ++i) key[i] = std::stoll(row[i]);
    // One of the files holds a second, coarser grid between the points of the first, which has the powers of two.
    if (std::any_of(key.begin(), key.end(), [](std::int64_t x) { return (x & (x - 1)) != 0; })) continue;
    times[key] = std::stod(row[4]) * 1e-6;
    for (std::size_t i = 0; i < 4; ++i) {
      if (key[i] > 0 || i == 1) axes[i].push_back(key[i]);
    }
  }
  for (auto& axis : axes) {
    std::sort(axis.begin(), axis.end());
    axis.erase(std::unique(axis.begin(), axis.end()), axis.end());
  }
  AttentionTable a{axes[0], axes[1], axes[2], axes[3], {}, {}, {}};
  for (const auto c : a.chunk) {
    for (const auto k : a.context) a.prefill.push_back(times.at({c, k, 0, 0}));
  }
  for (const auto n : a.requests) {
    for (const auto k : a.kv) a.decode.push_back(times.at({0, 0, n, k}));
  }
  for (const auto c : a.chunk) {
    for (const auto k : a.context) {
      for (std::size_t i = 0; i < a.requests.size(); ++i) {
        for (const auto kv : a.kv) {
          const auto known = times.find({c, k, a.requests[i], kv});
          // The largest batch was not measured beside a prompt: it adds what it adds alone.
          a.mixed.push_back(known != times.end()
                                ? known->second
                                : times.at({c, k, a.requests[i - 1], kv}) + times.at({0, 0, a.requests[i], kv}) -
                                      times.at({0, 0, a.requests[i - 1], kv}));
        }
      }
    }
  }
  return a;
}

std::vector<std::int64_t> capture_sizes() {  // as vLLM 0.19 resolved them in these runs
  std::vector<std::int64_t> sizes = {1, 2, 4};
  for (std::int64_t n = 8; n < 256; n += 8) sizes.push_back(n);
  for (std::int64_t n = 256; n <= 512; n += 16) sizes.push_back(n);
  return sizes;
}

KernelTables read_tables(const std::string& prefix) {
  const auto dense = read_csv(prefix + "dense.csv");
  KernelTables t;
  t.layers = kLayers;
  t.layer = sum_of(
      dense, {"layernorm", "qkv_proj", "rotary_emb", "o_proj", "layernorm", "gate_up_proj", "act_fn", "down_proj"});
  t.once = sum_of(dense, {"embedding", "final_layernorm"});
  t.per_sequence = sum_of(read_csv(prefix + "per_sequence.csv"), {"lm_head", "sampler"});
  t.attention = read_attention(prefix + "attention.csv");
  t.capture_sizes = capture_sizes();
  t.source = prefix;
  return t;
}

struct Row {
  std::int64_t prompt, output;
  double arrival, first, last;  // s, on one clock
};

/// Arrivals are epoch times, the rest is monotonic: the offset is that of the request that was queued fastest.
std::vector<Row> read_requests(const std::string& path) {
  std::ifstream file = open(path);
  std::vector<Row> rows;
  double offset = 1e300;
  for (std::string line; std::getline(file, line);) {
    const json r = json::parse(line);
    rows.push_back(
        {r.at("input_toks"), r.at("output_toks"), r.at("arrival_time"), r.at("first_token_ts"), r.at("last_token_ts")});
    offset = std::min(offset, r.at("queued_ts").get<double>() - rows.back().arrival);
  }
  for (Row& r : rows) r.arrival += offset;
  return rows;
}

struct Latencies {
  std::vector<double> ttft, tpot, e2e;  // s
  void add(double arrival, double first, double last, std::int64_t output) {
    ttft.push_back(first - arrival);
    e2e.push_back(last - arrival);
    if (output > 1) tpot.push_back((last - first) / static_cast<double>(output - 1));
  }
};

Latencies predicted(const Device& device, const std::vector<Row>& rows, const std::string& tables) {
  SimulationSpec spec = testing::one_pool(make_kernel_table_curve(read_tables(tables)));
  VllmArgs& args = spec.pools[0].vllm();
  args.max_num_seqs = device.max_num_seqs;
  args.max_num_batched_tokens = 2048;
  args.num_gpu_blocks = device.num_gpu_blocks;
  args.max_model_len = device.max_model_len;
  args.enable_prefix_caching = true;
  args.async_scheduling = true;  // as vLLM 0.19 resolves it, by the log
  std::vector<Arrival> arrivals;
  for (const Row& r : rows) arrivals.push_back(testing::arrival(r.arrival - rows[0].arrival, r.prompt, r.output));
  testing::add_list(spec, std::move(arrivals));
  testing::Recorder recorder;
  simulate(std::move(spec), {&recorder});
  Latencies latencies;
  for (const RequestRecord& r : recorder.records) {
    latencies.add(to_seconds(r.at.intended).value, to_seconds(r.at.first_token).value,
                  to_seconds(r.at.last_token).value, r.output_tokens);
  }
  return latencies;
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double quantile(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[std::min(v.size() - 1, static_cast<std::size_t>(q * static_cast<double>(v.size())))];
}

/// Prints four lines; the error of the mean in percent.
double compare(const char* metric, const std::vector<double>& predicted, const std::vector<double>& measured) {
  const auto line = [&](const char* what, double p, double m) {
    fmt::print("  {:5} {:5} {:>12.1f} {:>12.1f} {:>+8.1f} %\n", metric, what, p * 1e3, m * 1e3, (p / m - 1) * 100);
  };
  line("mean", mean(predicted), mean(measured));
  line("p50", quantile(predicted, 0.5), quantile(measured, 0.5));
  line("p90", quantile(predicted, 0.9), quantile(measured, 0.9));
  line("p99", quantile(predicted, 0.99), quantile(measured, 0.99));
  return (mean(predicted) / mean(measured) - 1) * 100;
}

bool check(const std::string& folder, const Device& device) {
  const std::vector<Row> rows =
      read_requests(fmt::format("{}/{}/Llama-3.1-8B/vllm/requests.jsonl", folder, device.name));
  const Latencies p = predicted(
      device, rows, fmt::format("{}/kernel_tables/profile_{}_meta-llama_Llama-3.1-8B_bf16_tp1_", folder, device.name));
  Latencies m;
  for (const Row& r : rows) m.add(r.arrival, r.first, r.last, r.output);
  fmt::print("{}, Llama-3.1-8B, vLLM 0.19, {} requests\n  {:11} {:>12} {:>12}\n", device.name, rows.size(), "",
             "predicted ms", "measured ms");
  const double ttft = compare("TTFT", p.ttft, m.ttft);
  const double tpot = compare("TPOT", p.tpot, m.tpot);
  const double e2e = compare("E2E", p.e2e, m.e2e);
  return std::abs(ttft) <= device.ttft_limit && std::abs(tpot) <= device.tpot_limit &&
         std::abs(e2e) <= device.e2e_limit;
}

}  // namespace

int main() {
  const auto folder = testing::data_path("measured/vllm_bench");
  if (!folder) {
    fmt::print("skipped: no measurements of vllm_bench at hand\n");
    return 77;
  }
  try {
    bool good = true;
    for (const Device& device : kDevices) good &= check(*folder, device);
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "vllm_bench: {}\n", error.what());
    return 2;
  }
}
