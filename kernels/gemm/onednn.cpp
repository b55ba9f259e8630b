// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/gemm/weight.h"

namespace poolcast::kernels {
namespace {

using dnnl::memory;
using Description = dnnl::memory::desc;

memory::data_type type_of(DType dtype) {
  if (dtype == DType::kInt8) return memory::data_type::s8;
  return dtype == DType::kBf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// oneDNN's matmul, with the weight in whatever layout the library chooses for each number of rows.
class OneDnnWeight final : public Weight {
 public:
  OneDnnWeight(const WeightShape& shape, const void* b, Memory& room) : shape_(shape), b_(b), room_(room) {}

  void multiply(const void* a, std::int64_t m, void* c, Team& team) override {
    omp_set_num_threads(team.size());
    Product& product = product_of(m);
    product.a.set_data_handle(const_cast<void*>(a));
    product.c.set_data_handle(c);
    product.primitive.execute(stream_, {{DNNL_ARG_SRC, product.a},
                                        {DNNL_ARG_WEIGHTS, *product.weight},
                                        {DNNL_ARG_DST, product.c},
                                        {DNNL_ARG_SCRATCHPAD, product.scratch}});
    stream_.wait();
  }

  void expect(std::int64_t m) override { product_of(m); }

 private:
  struct Product {
    dnnl::matmul primitive;
    memory a, c, scratch;
    const memory* weight;
  };

  Product& product_of(std::int64_t m) {
    auto found = by_rows_.find(m);
    if (found == by_rows_.end()) found = by_rows_.emplace(m, made_for(m)).first;
    return found->second;
  }

  Product made_for(std::int64_t m) {
    const auto in = type_of(shape_.dtype);
    const auto out = shape_.dtype == DType::kInt8 ? memory::data_type::s32 : in;
    const Description a({m, shape_.k}, in, memory::format_tag::ab), c({m, shape_.n}, out, memory::format_tag::ab);
    const Description any({shape_.k, shape_.n}, in, memory::format_tag::any);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc chosen(dnnl::matmul::desc(a, any, c), attributes, engine_);
    return {dnnl::matmul(chosen), memory(a, engine_, nullptr), memory(c, engine_, nullptr),
            memory(chosen.scratchpad_desc(), engine_), packed(chosen.weights_desc())};
  }

  /// The weight in a layout: kept, since most numbers of rows share one.
  const memory* packed(const Description& layout) {
    for (const auto& one : packed_)
      if (one->get_desc() == layout) return one.get();
    auto* place = room_.take<char>(static_cast<std::int64_t>(layout.get_size()));
    packed_.push_back(std::make_unique<memory>(layout, engine_, place));
    const Description plain({shape_.k, shape_.n}, type_of(shape_.dtype), memory::format_tag::ab);
    memory from(plain, engine_, const_cast<void*>(b_));
    dnnl::reorder(from, *packed_.back()).execute(stream_, from, *packed_.back());
    stream_.wait();
    return packed_.back().get();
  }

  WeightShape shape_;
  const void* b_;
  Memory& room_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<std::unique_ptr<memory>> packed_;
  std::map<std::int64_t, Product> by_rows_;
};

}  // namespace

std::unique_ptr<Weight> onednn_weight(const WeightShape& shape, const void* b, Memory& memory) {
  return std::make_unique<OneDnnWeight>(shape, b, memory);
}

}  // namespace poolcast::kernels
