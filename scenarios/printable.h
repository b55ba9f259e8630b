// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace poolcast {

/// The text as a terminal may show it: control characters and bytes that are no UTF-8, but for those in `kept`, are
/// spelt \n or \x1b. For text from files that others wrote.
std::string printable(std::string_view text, std::string_view kept = {});

/// Whether this byte of UTF-8 is none that begins a code point.
bool continues_code_point(char c);

/// Where the code point that `at` may stand in the middle of ends.
std::size_t code_point_end(std::string_view text, std::size_t at);

}  // namespace poolcast
