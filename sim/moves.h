// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/move_report.h"
#include "sim/move_samples.h"
#include "sim/request_table.h"
#include "sim/spec.h"

namespace poolcast {

/// Carries out the moves of a run: says which requests go to the new pool, judges the gates, and rolls back.
///
/// Of the requests that the gateway sends to the origin of a move, those with a place below the present share are
/// chosen to move. What the new pool cannot take, by its limits or its queue, stays. Decisions are made at instants of
/// the clock, from what is known then.
class Moves {
 public:
  /// Both outlive this.
  Moves(const SimulationSpec& spec, const RequestTable& table);

  /// What a move makes of one request.
  struct Turn {
    std::uint32_t move = UINT32_MAX;  ///< none applies
    bool chosen = false;              ///< to move, if the new pool can take it
    Reason not_taken = Reason::kNone;
  };
  /// The turn of a request that the gateway would send to `pool`.
  Turn turn(const RequestRecord& request, PoolId pool) const;
  PoolId destination(const Turn& turn) const { return specs_[turn.move].to; }

  /// A request of whose turn something came is sent; before it can end.
  void sent(RequestId id, const Turn& turn);
  void ended(RequestId id, const RequestRecord& record);

  /// The next instant at which something is decided, or kNever.
  SimTime next() const;
  void decide(SimTime now);
  /// The run is over, at `now`.
  std::vector<MoveReport> take(SimTime now);

 private:
  struct Tag {
    std::uint32_t move = UINT32_MAX;
    std::uint32_t step = 0;
    bool moved = false;
  };
  struct State {
    std::string stream;
    std::vector<MoveStep> back;  ///< the shares of a roll-back that has begun
    std::size_t at = 0;          ///< in the spec's steps, or in `back`
    SimTime check = kNever, step_end = kNever;
    MoveSamples moved, stayed;
    std::vector<std::optional<double>> reference;  ///< of those that stayed, by gate, then by abort threshold
    MoveReport report;

    MoveStepReport& step() { return report.steps.back(); }
    const MoveStepReport& step() const { return report.steps.back(); }
  };

  double place(const State& state, const MoveSpec& spec, const RequestRecord& request) const;
  void decide(State& state, const MoveSpec& spec, SimTime now);
  void begin_step(State& state, const MoveSpec& spec, MoveStepReport::Kind kind, double share, SimTime length,
                  SimTime now);
  void end_step(State& state, MoveStepReport::End end, SimTime now);
  void advance(State& state, const MoveSpec& spec, SimTime now);
  void roll_back(State& state, const MoveSpec& spec, MoveStepReport::End end, SimTime now);
  void begin_back(State& state, const MoveSpec& spec, SimTime now);
  std::vector<GateResult> judge(State& state, const MoveSpec& spec, bool abort, SimTime now);
  GateResult judge(const MoveGate& gate, const std::optional<double>& reference, const State& state,
                   const MoveSpec& spec, SimTime now) const;
  void keep_references(State& state, const MoveSpec& spec, SimTime now);

  const std::vector<MoveSpec>& specs_;
  const RequestTable& table_;
  std::uint64_t seed_;
  bool capped_clients_ = false;
  std::vector<State> states_;
  std::vector<Tag> tags_;  ///< by RequestId
};

}  // namespace poolcast
