// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace poolcast {

/// What a logical model does with a request, and so the unit of its accepted output.
enum class Task {
  kGenerate,  ///< text: a prompt, then token after token
  kEmbed,     ///< embedding, reranking, classification: one pass over the input
  kImage,     ///< a fixed number of equal passes over the input, then one image
  kTrain,     ///< a job of as many equal steps as its output says
};
inline constexpr Task kTasks[] = {Task::kGenerate, Task::kEmbed, Task::kImage, Task::kTrain};

const char* name(Task task);  ///< "generate", "embed", "image", "train"
const char* unit(Task task);  ///< of accepted output: "tokens", "embeddings", "images", "steps"

}  // namespace poolcast
