// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "scenarios/traces/selection.h"
#include "sim/source.h"

namespace poolcast {

/// What every request of a replay carries.
struct ReplayOptions {
  ClassId cls;
  std::int32_t priority = 0;  ///< of rows that state none
  std::uint64_t seed = 0;
  std::string stream_name;
  std::string file;    ///< for messages
  Seconds quantum{0};  ///< timestamps are spread over this, in replayed time; 0 = they stay as they are
};

/// Rows at their timestamps.
std::unique_ptr<Source> make_timestamp_source(Selection rows, const ReplayOptions& options);

/// Sessions: a session's first row at its timestamp, the next ones think_time after the end of the one before. A turn
/// that does not complete ends its session. Keeps about 90 bytes per row, and its hash ids, in memory.
std::unique_ptr<Source> make_session_source(Selection rows, const ReplayOptions& options);

}  // namespace poolcast
