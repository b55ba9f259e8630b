// SPDX-License-Identifier: Apache-2.0
#include "scenarios/results_h5.h"

namespace poolcast {
namespace {

template <class Enum>
std::vector<std::string> names_of(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(name(static_cast<Enum>(i)));
  return names;
}

/// In the order in which `request_ended` puts them.
std::vector<H5Column> columns(bool retries) {
  std::vector<H5Column> columns = {{"intended_ns", H5Type::kInt64, "ns"},
                                   {"sent_ns", H5Type::kInt64, "ns"},
                                   {"routed_ns", H5Type::kInt64, "ns"},
                                   {"queued_ns", H5Type::kInt64, "ns"},
                                   {"first_scheduled_ns", H5Type::kInt64, "ns"},
                                   {"first_token_ns", H5Type::kInt64, "ns"},
                                   {"last_token_ns", H5Type::kInt64, "ns"},
                                   {"ended_ns", H5Type::kInt64, "ns"},
                                   {"source", H5Type::kInt32},
                                   {"row", H5Type::kUint64},
                                   {"session", H5Type::kInt64},
                                   {"class", H5Type::kInt32},
                                   {"model", H5Type::kInt32},
                                   {"pool", H5Type::kInt32},
                                   {"replica", H5Type::kInt32},
                                   {"prompt_tokens", H5Type::kInt64, "tokens"},
                                   {"output_tokens", H5Type::kInt64, "tokens"},
                                   {"output_target_tokens", H5Type::kInt64, "tokens"},
                                   {"cached_tokens", H5Type::kInt64, "tokens"},
                                   {"recomputed_tokens", H5Type::kInt64, "tokens"},
                                   {"preemptions", H5Type::kInt32},
                                   {"priority", H5Type::kInt32},
                                   {"outcome", H5Type::kEnum, "", names_of<Outcome>(kOutcomes)},
                                   {"reason", H5Type::kEnum, "", names_of<Reason>(kReasons)},
                                   {"accepted", H5Type::kBool},
                                   {"measured", H5Type::kBool}};
  if (retries) columns.push_back({"retries", H5Type::kInt32});
  return columns;
}

/// An instant as it is stored: -1 when it was not reached.
std::int64_t stored(SimTime instant) { return instant == kNever ? -1 : instant; }

/// An id as it is stored: -1 when there is none (the all-ones pattern of an invalid id, read as signed).
template <class Tag>
std::int32_t stored(Id<Tag> id) {
  return static_cast<std::int32_t>(id.value);
}

/// The pool of each replica, by ReplicaId.
std::vector<std::string> pool_of_replicas(const ResultsHeader& header) {
  std::vector<std::string> pools;
  for (std::size_t i = 0; i < header.pools.size(); ++i) {
    pools.insert(pools.end(), static_cast<std::size_t>(header.replicas[i]), header.pools[i]);
  }
  return pools;
}

}  // namespace

ResultsFile::ResultsFile(const std::string& path, const ResultsHeader& header)
    : file_(path),
      retries_(header.retries),
      columns_(file_.temporary_path(), path, "requests", columns(header.retries)) {
  columns_.attribute("poolcast", header.version);
  columns_.attribute("schema", kSchema);
  columns_.attribute("seed", header.seed);
  columns_.attribute("scenario_digest", header.scenario_digest);
  columns_.strings("names/classes", header.classes);
  columns_.strings("names/models", header.models);
  columns_.strings("names/pools", header.pools);
  columns_.strings("names/replicas", pool_of_replicas(header));
  for (const auto& [name, by_pool] : header.metadata) columns_.strings("metadata/" + name, by_pool);
}

void ResultsFile::request_ended(const RequestRecord& record) {
  std::size_t column = 0;
  const Instants& at = record.at;
  for (const SimTime instant :
       {at.intended, at.sent, at.routed, at.queued, at.first_scheduled, at.first_token, at.last_token, record.ended}) {
    columns_.put(column++, stored(instant));
  }
  columns_.put(column++, stored(record.source));
  columns_.put(column++, record.row);
  columns_.put(column++, record.session);  // all ones when there is none, which reads as -1
  columns_.put(column++, stored(record.cls));
  columns_.put(column++, stored(record.model));
  columns_.put(column++, stored(record.pool));
  columns_.put(column++, stored(record.replica));
  columns_.put(column++, record.prompt_tokens);
  columns_.put(column++, record.output_tokens);
  columns_.put(column++, record.output_target);
  columns_.put(column++, record.cached_tokens);
  columns_.put(column++, record.recomputed_tokens);
  columns_.put(column++, record.preemptions);
  columns_.put(column++, record.priority);
  columns_.put(column++, record.outcome);
  columns_.put(column++, record.reason);
  columns_.put(column++, record.accepted);
  columns_.put(column++, record.measured);
  if (retries_) columns_.put(column++, std::int32_t{record.retries});
  columns_.end_row();
}

void ResultsFile::finish() {
  columns_.close();
  file_.commit();
}

}  // namespace poolcast
