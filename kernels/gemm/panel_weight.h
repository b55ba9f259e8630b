// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/gemm/panels.h"
#include "kernels/gemm/weight.h"

namespace poolcast::kernels {

/// A weight packed into panels.
class PanelWeight final : public Weight {
 public:
  PanelWeight(const WeightShape& shape, const PanelFormat& format, const void* b, Memory& memory);

  void multiply(const void* a, std::int64_t m, void* c, Team& team) override;
  std::unique_ptr<Weight> copy(Memory& memory) const override;

  /// The same for rows that lie anywhere: packing and multiplying apart, so that many weights share one packing and one
  /// team. Words of the packed form of `rows` rows:
  std::int64_t packed_words(std::int64_t rows) const;
  void pack_row(const void* row, std::int64_t index, std::uint32_t* packed) const;
  /// Parts into which a product of `rows` rows falls, and one of them.
  std::int64_t parts(std::int64_t rows) const;
  void multiply_part(std::int64_t part, const std::uint32_t* packed, std::int64_t rows, void* c) const;

 private:
  void pack_panel(std::int64_t panel, const void* b);

  WeightShape shape_;
  PanelFormat format_;
  std::int64_t panels_, group_;  // of how many panels a task has
  std::int64_t words_, row_words_;
  std::uint32_t* packed_;          // [panel][words_ x panel_columns]
  std::int32_t* start_ = nullptr;  // [panel][panel_columns]
};

}  // namespace poolcast::kernels
