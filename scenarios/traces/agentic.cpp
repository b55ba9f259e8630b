// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "scenarios/error.h"
#include "scenarios/traces/agentic_file.h"
#include "scenarios/traces/readers.h"
#include "scenarios/traces/trace_files.h"
#include "scenarios/traces/trace_row.h"

namespace poolcast {
namespace {

/// Coding-agent sessions, merged by time. File k begins at k * file_gap, by name. Sessions are numbered by file, the
/// sub-agents of a file after the file itself; hash ids are made distinct between files. `line` counts the rows that
/// come out.
class AgenticReader final : public TraceReader {
 public:
  AgenticReader(const TraceSpec& spec, TraceLog& log) {
    const std::vector<std::string> paths = agentic_files(spec.file);
    if (paths.empty()) throw ConfigError(Location{spec.file}, "", "the folder holds no JSON files");
    std::uint64_t sessions = 0;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      files_.push_back(Entry{read_agentic_file(paths[i], spec.block_tokens.value_or(0), log), paths[i],
                             static_cast<double>(i) * spec.file_gap.value, sessions, 0});
      sessions += files_.back().file.agents;
      add_block_size(files_.back());
      push(i);
    }
  }

  bool next(TraceRow& row) override {
    if (due_.empty()) return false;
    const std::size_t index = due_.top().file;
    due_.pop();
    Entry& entry = files_[index];
    fill(row, entry, index);
    ++entry.next;
    push(index);
    return true;
  }

  std::int64_t block_tokens() const override { return block_tokens_; }
  double progress() const override { return -1; }

 private:
  struct Entry {
    AgenticFile file;
    std::string path;
    double start = 0;
    std::uint64_t first_session = 0;
    std::size_t next = 0;
  };
  struct Due {
    double at;
    std::size_t file;
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : file > other.file; }
  };

  void add_block_size(const Entry& entry) {
    const std::int64_t size = entry.file.block_tokens;
    if (block_tokens_ != 0 && size != block_tokens_)
      throw ConfigError(Location{entry.path}, "block_size",
                        fmt::format("blocks of {} tokens, but the files before have {}", size, block_tokens_));
    block_tokens_ = size;
  }

  void push(std::size_t index) {
    const Entry& entry = files_[index];
    if (entry.next < entry.file.rows.size()) due_.push(Due{entry.start + entry.file.rows[entry.next].t, index});
  }

  void fill(TraceRow& row, const Entry& entry, std::size_t index) {
    const AgenticRow& from = entry.file.rows[entry.next];
    reset_row(row, ++rows_);
    row.timestamp = Seconds(entry.start + from.t);
    row.prompt_tokens = from.prompt_tokens;
    row.output_tokens = from.output_tokens;
    row.session = entry.first_session + from.agent;
    row.think_time = Seconds(from.think_time_s);
    if (from.after_agent != UINT32_MAX) row.after_session = entry.first_session + from.after_agent;
    row.model = entry.file.models[from.model];
    for (std::uint32_t i = 0; i < from.hash_count; ++i)
      row.hash_ids.push_back((std::uint64_t{index} << 32) | entry.file.hash_ids[from.hash_begin + i]);
  }

  std::vector<Entry> files_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::int64_t block_tokens_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<TraceReader> open_agentic(const TraceSpec& spec, TraceLog& log) {
  return std::make_unique<AgenticReader>(spec, log);
}

}  // namespace poolcast
