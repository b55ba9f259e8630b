// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "scenarios/traces/trace.h"

namespace poolcast {

/// The rows of a trace that a spec asks for: its time window, then its filters, then its limit. Their timestamps start
/// at the first row of the window and are divided by rate_scale.
class Selection {
 public:
  Selection(const TraceSpec& spec, std::unique_ptr<TraceReader> reader);

  /// False when no row is left.
  bool next(TraceRow& row);
  std::uint64_t ordinal() const { return read_ - 1; }  ///< of the last row, from 0, among the usable rows of the file
  const TraceReader& reader() const { return *reader_; }

 private:
  bool wanted(const TraceRow& row) const;

  TraceSpec spec_;
  std::unique_ptr<TraceReader> reader_;
  bool started_ = false;
  Seconds begin_{0};
  std::uint64_t read_ = 0, taken_ = 0;
};

}  // namespace poolcast
