// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

/// Records as files: sealed by a digest of their own content, written once and never again.
namespace poolcast {

inline constexpr const char* kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr const char* kPredicateType = "https://poolcast.dev/qualification/v1";  ///< a name, not a place
inline constexpr int kQualificationSchema = 1;

/// Sets `predicate.digest`: the SHA-256 of the statement's text without that member.
void seal(nlohmann::ordered_json& statement);

/// Whether the digest that it states is the one that it has: nothing was changed since it was sealed. Who changes a
/// record can seal it again; that its figures are true only a rehearsal shows (`verify`).
bool is_sealed(const nlohmann::ordered_json& statement);

/// Throws ConfigError when the file cannot be read, is no whole JSON, no qualification record, or one of a schema that
/// this program does not know.
nlohmann::ordered_json read_record(const std::string& path);

/// Where `statement` goes: `place` itself or, in a folder that is there or ends in "/", DATE-MODEL-DIGEST.json.
std::string record_path(const nlohmann::ordered_json& statement, const std::string& place);

/// Throws FileError where a record could not be written there, before anything is run.
void check_record_place(const std::string& place);

/// Writes it whole or not at all, and returns where. The same record there already is no fault; another one is
/// (FileError), since a record is never replaced.
std::string write_record(const nlohmann::ordered_json& statement, const std::string& place);

}  // namespace poolcast
