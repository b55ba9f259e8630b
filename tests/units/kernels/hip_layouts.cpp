// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <set>
#include <utility>

#include "kernels/hip/mfma.h"

namespace {

using namespace poolcast::hip;

TEST_CASE("the lanes of a wave of 64 hold each operand and each sum of a matrix instruction once") {
  for (int size : {16, 32}) {
    const int depth = 4 * kWave / size, sums = size * size / kWave;
    std::set<std::pair<int, int>> operands, results;
    for (int lane = 0; lane < kWave; ++lane) {
      for (int i = 0; i < 4; ++i) operands.insert({operand_row(lane, size), operand_k(lane, size) + i});
      for (int i = 0; i < sums; ++i) {
        const SumElement at = sum_element(lane, i, size);
        CHECK((at.row < size && at.column < size));
        results.insert({at.row, at.column});
      }
    }
    CHECK(static_cast<int>(operands.size()) == size * depth);
    CHECK(static_cast<int>(results.size()) == size * size);
  }
}

TEST_CASE("a lane's scores are the weights that it must give to the next instruction") {
  for (int lane = 0; lane < kWave; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const SumElement score = sum_element(lane, i, 16);  // row: token, column: query head
      CHECK(score.row == operand_k(lane, 16) + i);
      CHECK(score.column == operand_row(lane, 16));
    }
  }
}

TEST_CASE("fours of a lane's scores of 32 x 32 are the weights that it must give to four instructions") {
  for (int lane = 0; lane < kWave; ++lane) {
    for (int i = 0; i < 16; ++i) {
      const SumElement score = sum_element(lane, i, 32);  // row: token, column: query row
      CHECK(score.row == i / 4 * 8 + operand_k(lane, 32) + i % 4);
      CHECK(score.column == operand_row(lane, 32));
    }
  }
}

TEST_CASE("decode sums over each element of a head once, and reads it in whole 16 bytes") {
  for (int head_dim : {64, 128}) {
    std::set<int> summed, written;
    for (int lane = 0; lane < kWave; lane += 16) {
      for (int step = 0; step < head_dim / 16; ++step) {
        CHECK(decode_k(lane, step) % 4 == 0);
        if (step % 2 == 1) CHECK(decode_k(lane, step) == decode_k(lane, step - 1) + 4);
        for (int i = 0; i < 4; ++i) summed.insert(decode_k(lane, step) + i);
      }
    }
    for (int row = 0; row < 16; ++row)
      for (int tile = 0; tile < head_dim / 16; ++tile) written.insert(decode_element(row, tile, head_dim));
    CHECK(static_cast<int>(summed.size()) == head_dim);
    CHECK(*summed.rbegin() == head_dim - 1);
    CHECK(static_cast<int>(written.size()) == head_dim);
    CHECK(*written.rbegin() == head_dim - 1);
  }
}

}  // namespace
