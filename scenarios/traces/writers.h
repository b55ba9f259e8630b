// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "scenarios/traces/writer.h"

namespace poolcast {

std::unique_ptr<TraceWriter> make_csv_writer(const std::string& path);
std::unique_ptr<TraceWriter> make_jsonl_writer(const std::string& path, std::int64_t block_tokens);
std::unique_ptr<TraceWriter> make_hdf5_writer(const std::string& path, std::int64_t block_tokens);

}  // namespace poolcast
