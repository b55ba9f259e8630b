// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace poolcast {

/// Dense ids: each indexes a vector that one owner holds. The tag keeps them apart at compile time.
template <class Tag>
struct Id {
  std::uint32_t value = UINT32_MAX;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}
  constexpr bool valid() const { return value != UINT32_MAX; }
  constexpr auto operator<=>(const Id&) const = default;
};

using PoolId = Id<struct PoolTag>;
using ModelId = Id<struct ModelTag>;
using ClassId = Id<struct ClassTag>;      ///< a class of requests of one logical model
using SourceId = Id<struct SourceTag>;    ///< one entry of `workload`
using ReplicaId = Id<struct ReplicaTag>;  ///< dense over all pools
using RequestId = Id<struct RequestTag>;  ///< a slot of the request table; reused after the request has ended

}  // namespace poolcast
