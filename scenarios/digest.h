// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace poolcast {

/// SHA-256 (FIPS 180-4) in lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);
/// Of a file's content. Throws FileError when it cannot be read.
std::string sha256_of_file(const std::string& path);

}  // namespace poolcast
