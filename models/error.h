// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace poolcast {

/// A question that the models cannot answer from what they were given. The user can mend it (state a figure, choose
/// another layout), so scenarios/ turns it into a ConfigError with the place in the file.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A figure that no source states is used. It is never guessed.
class MissingFigure : public ModelError {
 public:
  /// `subject` is the accelerator or model, `figure` in words ("peak fp8 rate"), `note` what is known instead.
  MissingFigure(std::string_view subject, std::string_view figure, std::string_view note = {});
};

/// A layout that a model cannot be cut into, or that is not modelled.
class UnsupportedLayout : public ModelError {
 public:
  using ModelError::ModelError;
};

}  // namespace poolcast
