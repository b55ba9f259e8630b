// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/traces/trace.h"

namespace poolcast {

/// What can be odd about a trace. The first group makes a row unusable, the second is only worth knowing.
enum class Oddity : std::uint8_t {
  kBadValue,  ///< not a number, out of range, not JSON
  kMissingField,
  kNegativeTokens,
  kZeroPrompt,
  kZeroOutput,
  kTimeBackwards,
  kMissingTable,  ///< a ServeGen client or interval without the table it needs
  kUnreadable,    ///< nothing can be read from here on
  kNoRows,
  kLastFault = kNoRows,

  kCrlf,
  kNoFinalNewline,
  kBlankLine,
  kUnknownField,
  kTies,
  kSilence,
  kShortGap,
  kQuietHead,
  kBlocksRoundUp,    ///< hash_ids count a last block that is not full
  kBlocksRoundDown,  ///< hash_ids count full blocks only
  kHashCount,        ///< hash_ids that fit the prompt in neither way
  kSubAgent,
  kUnknownCaller,  ///< after_session names no session of the rows before
  kMissingApiTime,
  kMissingThinkTime,
  kBlankSession,
  kZeroRate,
  kDrawnZero,
  kImplausibleRate,
  kCount,
};
inline constexpr std::size_t kOddities = static_cast<std::size_t>(Oddity::kCount);

const char* key(Oddity oddity);       ///< "zero-output"
const char* sentence(Oddity oddity);  ///< "rows with no output token"
inline bool is_fault(Oddity oddity) { return oddity <= Oddity::kLastFault; }

/// Where something stands in a trace.
struct Place {
  std::uint64_t line = 0;   ///< 0 = not known
  int column = 0;           ///< of the text, from 1; 0 = not known
  std::string_view text{};  ///< the line
  std::string_view item{};  ///< path within a JSON file: "requests[12]"
  std::string_view file{};  ///< when it is not the trace's own file
};

/// Takes note of what readers meet: it stops at the first bad row, counts those that may be skipped, or (for `trace
/// lint`) keeps the first few of every kind.
class TraceLog {
 public:
  static constexpr std::size_t kExamples = 5;

  TraceLog(std::string file, TraceSpec::BadRow on_bad_row) : file_(std::move(file)), on_bad_row_(on_bad_row) {}

  /// From now on nothing stops and examples are kept.
  void collect() { collecting_ = true; }

  /// A row that cannot be used. Throws ConfigError unless it may be skipped.
  void bad_row(Oddity fault, const Place& place, const std::string& message);
  /// Worth knowing; `message` is a function that makes the text, called for the examples only.
  template <class Message>
  void remark(Oddity oddity, const Place& place, Message message) {
    if (wants(oddity)) add(oddity, place, message());
    ++counts_[static_cast<std::size_t>(oddity)];
  }
  /// Many of one kind at once, without a further example.
  void more(Oddity oddity, std::uint64_t count) { counts_[static_cast<std::size_t>(oddity)] += count; }

  std::uint64_t count(Oddity oddity) const { return counts_[static_cast<std::size_t>(oddity)]; }
  std::uint64_t skipped_rows() const { return skipped_; }

  struct Example {
    std::string where;  ///< "8101", "trace_0276.json.gz: requests[12]", or empty
    std::string message;
  };
  const std::vector<Example>& examples(Oddity oddity) const { return examples_[static_cast<std::size_t>(oddity)]; }

 private:
  bool wants(Oddity oddity) const { return collecting_ && examples(oddity).size() < kExamples; }
  void add(Oddity oddity, const Place& place, std::string message);

  std::string file_;
  TraceSpec::BadRow on_bad_row_;
  bool collecting_ = false;
  std::uint64_t skipped_ = 0;
  std::array<std::uint64_t, kOddities> counts_{};
  std::array<std::vector<Example>, kOddities> examples_;
};

}  // namespace poolcast
