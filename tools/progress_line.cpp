// SPDX-License-Identifier: Apache-2.0
#include "tools/progress_line.h"

#include <cstdio>
#include <string>

#include <unistd.h>

#include <fmt/format.h>

#include "scenarios/human.h"

namespace poolcast {

ProgressLine::ProgressLine() : shown_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (written_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  written_ = true;
  const std::string share = progress.share < 0 ? "" : fmt::format("{:3.0f} %  ", progress.share * 100);
  fmt::print(stderr, "\r{}{} requests ended, {} simulated\x1b[K", share, human_count(progress.ended),
             human_span(to_seconds(progress.now).value));
  std::fflush(stderr);
}

RunsLine::RunsLine() : shown_(::isatty(STDERR_FILENO) == 1) {}

RunsLine::~RunsLine() {
  if (written_) std::fputs("\r\x1b[K", stderr);
}

void RunsLine::show(std::int64_t done, std::int64_t all) {
  if (!shown_) return;
  written_ = true;
  fmt::print(stderr, "\r{} of {} runs\x1b[K", done, all);
  std::fflush(stderr);
}

}  // namespace poolcast
