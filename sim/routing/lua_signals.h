// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/endpoints.h"
#include "sim/routing/lua_state.h"

namespace poolcast::routing {

/// What a script sees: the tables `request`, `endpoint` (one for each candidate) and `pool`, with the fields that
/// expressions have, as floats; an endpoint's `id`, its place in the pool from 0, its `labels`, a table of texts, and
/// for pickers its `score`.
///
/// The tables live as long as the state. A field gets there when a script first reads it (the tables' __index), and
/// from then on with every decision, so a decision pays for the fields that its script reads and for no others.
class LuaSignals {
 public:
  explicit LuaSignals(LuaState& state) : state_(state) {}
  LuaSignals(const LuaSignals&) = delete;
  LuaSignals& operator=(const LuaSignals&) = delete;

  /// Makes the tables; for LuaState::prepare, as `show`.
  void create();
  /// Fills in one decision. `scores` is empty or by candidate. The spans and references serve until the next call.
  void show(const RequestView& request, const Endpoints& endpoints, std::span<const std::uint32_t> candidates,
            std::span<const double> scores);

  // Each pushes one value: for functions that run in LuaState::prepare or know that the stack has room.
  void push_request();
  void push_endpoint(std::size_t candidate);
  void push_endpoints();  ///< a new list of the candidates
  void push_pool();

 private:
  enum class Over : std::uint8_t { kLeast, kMost, kMean, kSum };
  struct Field {
    std::size_t index;  ///< of `request_fields` or `endpoint_fields`, or one of those below
    int key = 0;        ///< its name, in the registry
    Over over = Over::kLeast;
  };
  static constexpr std::size_t kId = SIZE_MAX, kScore = SIZE_MAX - 1, kSize = SIZE_MAX - 2, kLabels = SIZE_MAX - 3;

  static int missing_request(lua_State* lua);
  static int missing_endpoint(lua_State* lua);
  static int missing_pool(lua_State* lua);
  int make_metatable(lua_CFunction missing);
  void grow(std::size_t count);
  std::size_t endpoint_field(const char* name) const;
  Field remember(std::size_t index, Over over = Over::kLeast);
  void set_request(const Field& field);
  void set_endpoints(const Field& field);
  void set_pool(const Field& field);
  void push_value(std::size_t index, std::size_t candidate);
  void push_labels(std::uint32_t endpoint);
  void read(std::size_t index);
  double fold(Over over) const;

  LuaState& state_;
  const RequestView* request_ = nullptr;
  const Endpoints* endpoints_ = nullptr;
  std::span<const std::uint32_t> candidates_;
  std::span<const double> scores_;
  int request_table_ = 0, pool_table_ = 0, endpoint_metatable_ = 0;  ///< in the registry
  std::vector<int> endpoint_tables_;
  std::vector<int> label_tables_;  ///< by endpoint; LUA_NOREF: not made yet
  std::vector<Field> request_used_, endpoint_used_, pool_used_;
  std::vector<double> column_;
};

}  // namespace poolcast::routing
