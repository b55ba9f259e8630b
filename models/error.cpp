// SPDX-License-Identifier: Apache-2.0
#include "models/error.h"

namespace poolcast {
namespace {

std::string message(std::string_view subject, std::string_view figure, std::string_view note) {
  std::string text(figure);
  text.append(" of ").append(subject).append(" is missing: no source states it; a scenario may state it itself");
  if (!note.empty()) text.append(" (").append(note).append(")");
  return text;
}

}  // namespace

MissingFigure::MissingFigure(std::string_view subject, std::string_view figure, std::string_view note)
    : ModelError(message(subject, figure, note)) {}

}  // namespace poolcast
