// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

#include "scenarios/atomic_file.h"
#include "scenarios/error.h"
#include "scenarios/traces/writers.h"

namespace poolcast {
namespace {

/// A text file that is written through a buffer, packed when its name ends in .gz.
class TextFile {
 public:
  explicit TextFile(const std::string& path) : path_(path), file_(path) {
    const bool packed = path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
    out_ = gzopen(file_.temporary_path().c_str(), packed ? "wb6" : "wbT");  // T: no packing
    if (out_ == nullptr) fail();
    gzbuffer(out_, 1u << 18);
  }
  ~TextFile() {
    if (out_ != nullptr) gzclose(out_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  fmt::memory_buffer& buffer() { return buffer_; }
  void end_line() {
    buffer_.push_back('\n');
    if (buffer_.size() > (1u << 16)) flush();
  }
  void close() {
    flush();
    const gzFile out = std::exchange(out_, nullptr);
    if (gzclose(out) != Z_OK) fail();
    file_.commit();
  }

 private:
  [[noreturn]] void fail() const {
    throw FileError(Location{path_}, "", fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  void flush() {
    if (buffer_.size() > 0 && gzwrite(out_, buffer_.data(), static_cast<unsigned>(buffer_.size())) == 0) fail();
    buffer_.clear();
  }

  std::string path_;
  AtomicFile file_;
  gzFile out_ = nullptr;
  fmt::memory_buffer buffer_;
};

/// Seconds with up to 9 decimals, as many as needed: the clock of a simulation counts nanoseconds.
void append_seconds(fmt::memory_buffer& out, Seconds seconds) {
  const std::size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "{:.9f}", seconds.value);
  std::size_t end = out.size();
  while (out[end - 1] == '0') --end;
  if (out[end - 1] == '.') --end;
  out.resize(end == begin ? out.size() : end);
}

void append_csv_text(fmt::memory_buffer& out, std::string_view text) {
  if (text.find_first_of(",\"\n\r") == text.npos) {
    out.append(text);
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"') out.push_back('"');
    out.push_back(c == '\n' || c == '\r' ? ' ' : c);
  }
  out.push_back('"');
}

class CsvWriter final : public TraceWriter {
 public:
  explicit CsvWriter(const std::string& path) : file_(path) {
    file_.buffer().append(
        std::string_view("timestamp_s,prompt_tokens,output_tokens,priority,session,think_time_s,model"));
    file_.end_line();
  }

  void write(const TraceRow& row) override {
    fmt::memory_buffer& out = file_.buffer();
    append_seconds(out, row.timestamp);
    fmt::format_to(std::back_inserter(out), ",{},{},", row.prompt_tokens, row.output_tokens);
    if (row.has_priority) fmt::format_to(std::back_inserter(out), "{}", row.priority);
    out.push_back(',');
    if (row.session != UINT64_MAX) fmt::format_to(std::back_inserter(out), "{}", row.session);
    out.push_back(',');
    if (row.think_time.value >= 0) append_seconds(out, row.think_time);
    out.push_back(',');
    append_csv_text(out, row.model);
    file_.end_line();
    lost_hash_ids_ += row.hash_ids.empty() ? 0 : 1;
    lost_callers_ += row.after_session == UINT64_MAX ? 0 : 1;
  }

  void close() override { file_.close(); }
  std::uint64_t lost_hash_ids() const override { return lost_hash_ids_; }
  std::uint64_t lost_callers() const override { return lost_callers_; }

 private:
  TextFile file_;
  std::uint64_t lost_hash_ids_ = 0, lost_callers_ = 0;
};

class JsonlWriter final : public TraceWriter {
 public:
  JsonlWriter(const std::string& path, std::int64_t block_tokens) : file_(path), block_tokens_(block_tokens) {}

  void write(const TraceRow& row) override {
    fmt::memory_buffer& out = file_.buffer();
    out.append(std::string_view("{\"timestamp_s\":"));
    append_seconds(out, row.timestamp);
    fmt::format_to(std::back_inserter(out), ",\"prompt_tokens\":{},\"output_tokens\":{}", row.prompt_tokens,
                   row.output_tokens);
    if (row.has_priority) fmt::format_to(std::back_inserter(out), ",\"priority\":{}", row.priority);
    if (row.session != UINT64_MAX) fmt::format_to(std::back_inserter(out), ",\"session\":{}", row.session);
    if (row.after_session != UINT64_MAX)
      fmt::format_to(std::back_inserter(out), ",\"after_session\":{}", row.after_session);
    if (row.think_time.value >= 0) {
      out.append(std::string_view(",\"think_time_s\":"));
      append_seconds(out, row.think_time);
    }
    if (!row.model.empty()) {
      // Bytes that are no UTF-8 are replaced, as JSON cannot hold them.
      const auto text = nlohmann::json(row.model).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      fmt::format_to(std::back_inserter(out), ",\"model\":{}", text);
    }
    if (!row.hash_ids.empty()) append_hash_ids(out, row);
    out.push_back('}');
    file_.end_line();
  }

  void close() override { file_.close(); }

 private:
  void append_hash_ids(fmt::memory_buffer& out, const TraceRow& row) const {
    fmt::format_to(std::back_inserter(out), ",\"block_tokens\":{},\"hash_ids\":[", block_tokens_);
    for (std::size_t i = 0; i < row.hash_ids.size(); ++i) {
      if (i > 0) out.push_back(',');
      const fmt::format_int digits(row.hash_ids[i]);
      out.append(digits.data(), digits.data() + digits.size());
    }
    out.push_back(']');
  }

  TextFile file_;
  std::int64_t block_tokens_;
};

}  // namespace

std::unique_ptr<TraceWriter> make_csv_writer(const std::string& path) { return std::make_unique<CsvWriter>(path); }

std::unique_ptr<TraceWriter> make_jsonl_writer(const std::string& path, std::int64_t block_tokens) {
  return std::make_unique<JsonlWriter>(path, block_tokens);
}

}  // namespace poolcast
