// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

namespace poolcast {

/// Adds `test` to the command `policy`; a case that fails sets `status`.
void add_policy_test(CLI::App& policy, int& status);

}  // namespace poolcast
