// SPDX-License-Identifier: Apache-2.0
#include "calibration/live/transformer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "calibration/live/elementwise.h"
#include "calibration/live/operators.h"
#include "kernels/memory.h"
#include "kernels/random.h"
#include "kernels/threads.h"
#include "models/error.h"

namespace poolcast {
namespace {

using kernels::Bf16;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Layer {
  std::unique_ptr<kernels::Weight> qkv, output, gate_up, down;
  Bf16 *attention_norm, *mlp_norm;
  Bf16 *k, *v;  // [blocks][kv_heads][block_size][head_dim]
};

void check(const TransformerShape& shape) {
  const auto refuse = [&](const char* what) { throw ModelError(shape.name + " cannot run here: " + what); };
  if (shape.moe) refuse("mixtures of experts are not run live");
  if (shape.mla) refuse("latent attention is not run live");
  if (shape.mlp_matrices != 3) refuse("only gated MLPs are run live");
}

}  // namespace

struct LiveTransformer::Pass {
  Pass(const TransformerShape& s, const LiveOptions& o)
      : shape(s),
        options(o),
        ops(live::operators(o.implementation)),
        team(o.threads),
        random(o.seed),
        rotary(s.head_dim) {
    for (std::int64_t i = 0; i < shape.layers; ++i) layers.push_back(make_layer());
    embedding = numbers(shape.vocab * shape.hidden, shape.hidden);
    last_norm = ones();
    head = weight(shape.vocab, shape.hidden);
  }

  void run(std::span<const LiveSequence> batch);

  // ---- set-up

  /// Random, of a size that keeps the sums of `inputs` products near one.
  Bf16* numbers(std::int64_t count, std::int64_t inputs) {
    Bf16* const values = memory.take<Bf16>(count);
    random.fill(values, count);
    const float scale = std::exp2(-std::round(std::log2(std::sqrt(static_cast<float>(inputs) / 3))));
    for (std::int64_t i = 0; i < count; ++i) values[i] = kernels::to_bf16(kernels::to_float(values[i]) * scale);
    return values;
  }
  Bf16* ones() {
    Bf16* const values = memory.take<Bf16>(shape.hidden);
    std::fill_n(values, shape.hidden, kernels::to_bf16(1));
    return values;
  }
  std::unique_ptr<kernels::Weight> weight(std::int64_t outputs, std::int64_t inputs) {
    return ops.weight({kernels::DType::kBf16, outputs, inputs}, numbers(outputs * inputs, inputs), memory);
  }
  Layer make_layer() {
    const std::int64_t cache = options.kv_blocks * options.block_size * kv_width();
    Layer layer;
    layer.qkv = weight(qkv_width(), shape.hidden);
    layer.output = weight(shape.hidden, q_width());
    layer.gate_up = weight(2 * shape.intermediate, shape.hidden);
    layer.down = weight(shape.hidden, shape.intermediate);
    layer.attention_norm = ones();
    layer.mlp_norm = ones();
    layer.k = memory.take<Bf16>(cache);
    layer.v = memory.take<Bf16>(cache);
    return layer;
  }
  std::int64_t q_width() const { return shape.heads * shape.head_dim; }
  std::int64_t kv_width() const { return shape.kv_heads * shape.head_dim; }
  std::int64_t qkv_width() const { return q_width() + 2 * kv_width(); }

  // ---- one pass

  void make_room(std::int64_t tokens);
  void embed(std::span<const LiveSequence> batch);
  void norm(const std::vector<Bf16>& from, const Bf16* weights, std::int64_t rows) {
    ops.rms_norm({from.data(), normed.data(), weights, nullptr, rows, shape.hidden, true}, team);
  }
  void rotate(std::int64_t first_column, std::int64_t heads, std::vector<Bf16>& to) {
    ops.rotary({&qkv[at(first_column)], to.data(), turns.data(), tokens, heads, shape.head_dim, true, qkv_width()},
               team);
  }
  /// x += mixed.
  void add() {
    ops.residual_add({x.data(), x.data(), nullptr, nullptr, tokens, shape.hidden, true, mixed.data()}, team);
  }
  void place(std::span<const LiveSequence> batch);
  void store(const Layer& layer);
  void attend(const Layer& layer);
  void mlp(const Layer& layer);
  void sample(std::span<const LiveSequence> batch);

  TransformerShape shape;
  LiveOptions options;
  live::Operators ops;
  kernels::Team team;
  kernels::Random random;
  kernels::Memory memory;
  std::vector<Layer> layers;
  Bf16 *embedding, *last_norm;
  std::unique_ptr<kernels::Weight> head;

  std::int64_t tokens = 0;                                          ///< of the present pass
  std::vector<Bf16> x, normed, qkv, q, k, attended, mixed, hidden;  ///< activations, a row a token
  std::vector<Bf16> last, logits;                                   ///< a row a sampled token
  std::vector<float> turns;                                         ///< of each token, for the rotary embedding
  std::vector<std::int64_t> slots;                                  ///< of each token in the KV cache
  live::RotaryTable rotary;
  TermClock clock;
  std::vector<kernels::AttentionSequence> prefill, decode;
  std::int64_t sampled = 0;  ///< rows of logits
  std::int64_t spoken = 0;   ///< sum of what was sampled: so that sampling cannot be left out
};

void LiveTransformer::Pass::make_room(std::int64_t rows) {
  tokens = rows;
  const auto room = [&](std::vector<Bf16>& values, std::int64_t width) {
    if (values.size() < at(rows * width)) values.resize(at(rows * width));
  };
  room(x, shape.hidden);
  room(normed, shape.hidden);
  room(qkv, qkv_width());
  room(q, q_width());
  room(k, kv_width());
  room(attended, q_width());
  room(mixed, std::max(shape.hidden, 2 * shape.intermediate));
  room(hidden, shape.intermediate);
}

/// Tokens are random numbers by text and position: which they are changes no cost.
void LiveTransformer::Pass::embed(std::span<const LiveSequence> batch) {
  std::int64_t row = 0;
  for (const LiveSequence& sequence : batch) {
    for (std::int64_t i = 0; i < sequence.query; ++i, ++row) {
      kernels::Random token(sequence.text * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(sequence.context + i));
      std::copy_n(embedding + token.below(shape.vocab) * shape.hidden, shape.hidden, &x[at(row * shape.hidden)]);
    }
  }
}

/// K and V of the new tokens go to their slots of the cache.
void LiveTransformer::Pass::store(const Layer& layer) {
  constexpr std::int64_t kBytes = sizeof(Bf16);
  ops.kv_store({reinterpret_cast<const char*>(k.data()),
                reinterpret_cast<const char*>(qkv.data()) + (q_width() + kv_width()) * kBytes, kv_width() * kBytes,
                qkv_width() * kBytes, reinterpret_cast<char*>(layer.k), reinterpret_cast<char*>(layer.v), slots.data(),
                tokens, shape.kv_heads, options.block_size, shape.head_dim * kBytes},
               team);
}

void LiveTransformer::Pass::attend(const Layer& layer) {
  norm(x, layer.attention_norm, tokens);
  layer.qkv->multiply(normed.data(), tokens, qkv.data(), team);
  rotate(0, shape.heads, q);
  rotate(q_width(), shape.kv_heads, k);
  store(layer);
  clock.was(LiveTerm::kLinear);
  const kernels::KvCache cache{kernels::DType::kBf16, layer.k,       layer.v, shape.kv_heads,
                               options.block_size,    shape.head_dim};
  if (!prefill.empty()) ops.prefill_attention(cache, shape.heads, prefill, team);
  clock.was(LiveTerm::kPrefill);
  if (!decode.empty()) ops.decode_attention(cache, shape.heads, decode, team);
  clock.was(LiveTerm::kDecode);
  layer.output->multiply(attended.data(), tokens, mixed.data(), team);
  add();
}

void LiveTransformer::Pass::mlp(const Layer& layer) {
  norm(x, layer.mlp_norm, tokens);
  layer.gate_up->multiply(normed.data(), tokens, mixed.data(), team);
  ops.silu_gate({mixed.data(), hidden.data(), nullptr, nullptr, tokens, shape.intermediate, true}, team);
  layer.down->multiply(hidden.data(), tokens, mixed.data(), team);
  add();
}

/// The last token of each sequence that samples goes through the head; the likeliest token is taken.
void LiveTransformer::Pass::sample(std::span<const LiveSequence> batch) {
  std::int64_t row = 0, count = 0;
  for (const LiveSequence& sequence : batch) {
    row += sequence.query;
    if (!sequence.samples) continue;
    last.resize(std::max(last.size(), at((count + 1) * shape.hidden)));
    std::copy_n(&x[at((row - 1) * shape.hidden)], shape.hidden, &last[at(count++ * shape.hidden)]);
  }
  sampled = count;
  if (count == 0) return;
  norm(last, last_norm, count);
  logits.resize(std::max(logits.size(), at(count * shape.vocab)));
  head->multiply(normed.data(), count, logits.data(), team);
  for (std::int64_t i = 0; i < count; ++i) spoken += live::greatest(&logits[at(i * shape.vocab)], shape.vocab);
}

/// Turns, slots and sequences of the batch, which are the same in every layer.
void LiveTransformer::Pass::place(std::span<const LiveSequence> batch) {
  turns.clear();
  slots.clear();
  prefill.clear();
  decode.clear();
  std::int64_t row = 0;
  for (const LiveSequence& sequence : batch) {
    (sequence.query > 1 ? prefill : decode)
        .push_back({&q[at(row * q_width())], &attended[at(row * q_width())], sequence.blocks.data(), sequence.query,
                    sequence.context + sequence.query});
    row += sequence.query;
    rotary.reach(sequence.context + sequence.query);
    const float* const first = rotary.row(sequence.context);
    turns.insert(turns.end(), first, first + sequence.query * shape.head_dim);
    for (Tokens position = sequence.context; position < sequence.context + sequence.query; ++position)
      slots.push_back(sequence.blocks[at(position / options.block_size)] * options.block_size +
                      position % options.block_size);
  }
}

void LiveTransformer::Pass::run(std::span<const LiveSequence> batch) {
  std::int64_t rows = 0;
  for (const LiveSequence& sequence : batch) rows += sequence.query;
  clock.start();
  make_room(rows);
  place(batch);
  embed(batch);
  clock.was(LiveTerm::kOther);
  for (const Layer& layer : layers) {
    attend(layer);
    mlp(layer);
  }
  clock.was(LiveTerm::kLinear);
  sample(batch);
  clock.was(LiveTerm::kHead);
}

LiveTransformer::LiveTransformer(const TransformerShape& shape, const LiveOptions& options) {
  check(shape);
  pass_ = std::make_unique<Pass>(shape, options);
}

LiveTransformer::~LiveTransformer() = default;

kernels::RunTime LiveTransformer::forward(std::span<const LiveSequence> batch) {
  pass_->team.reset_busy();
  const Seconds wall = kernels::wall_now(), cpu = kernels::thread_cpu_now();
  pass_->run(batch);
  const Seconds here = kernels::thread_cpu_now() - cpu;
  return {kernels::wall_now() - wall, std::max(here, pass_->team.worker_busy()), std::nullopt};
}

const TermTimes& LiveTransformer::terms() const { return pass_->clock.times(); }

std::span<const Bf16> LiveTransformer::logits() const {
  return {pass_->logits.data(), at(pass_->sampled * pass_->shape.vocab)};
}

std::int64_t LiveTransformer::kv_blocks() const { return pass_->options.kv_blocks; }
std::int64_t LiveTransformer::block_size() const { return pass_->options.block_size; }

std::string LiveTransformer::description() const {
  const int threads = pass_->team.size();
  return pass_->shape.name + " in bf16, " + std::string(pass_->ops.name) + " kernels, " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

}  // namespace poolcast
