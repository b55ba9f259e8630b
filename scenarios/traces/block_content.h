// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/content.h"

namespace poolcast {

/// The content of a prompt whose blocks of `block_tokens` are identified by `hash_ids`. What lies behind the last id is
/// unknown, and so is the output: a trace tells that two prompts begin alike, not that one quotes an answer.
Content block_content(const std::vector<std::uint64_t>& hash_ids, std::int64_t prompt_tokens, std::int64_t block_tokens,
                      std::uint64_t space);

}  // namespace poolcast
