// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "sim/request.h"
#include "sim/request_table.h"
#include "sim/schedulers/engine_args.h"
#include "sim/schedulers/scheduler.h"

/// What depends on the kind of an engine, in one place.
namespace poolcast {

/// The scheduling loop of an engine that advances in steps; `seed` is that of the run. Aborts for the kinds that have
/// none (triton, session).
std::unique_ptr<Scheduler> make_scheduler(const EngineArgs& engine, RequestTable& table, std::size_t groups,
                                          std::uint64_t seed);

/// Tokens of the longest sequence that the engine takes, prompt and output together.
std::int64_t max_context(const EngineArgs& engine);
/// Requests that may run at once.
std::int64_t max_running(const EngineArgs& engine);
/// Tokens that a step computes at most; INT64_MAX: there is no such limit.
std::int64_t token_budget(const EngineArgs& engine);
/// Tokens that it gathers for one message to a client.
std::int64_t stream_interval(const EngineArgs& engine);
/// Tokens of a block of its prefix cache; 0: it has none.
std::int64_t block_size(const EngineArgs& engine);
/// Why the engine could never serve a request of this size, however long it waits; kNone when it could.
Reason refusal(const EngineArgs& engine, std::int64_t prompt_tokens, std::int64_t output_tokens);

}  // namespace poolcast
