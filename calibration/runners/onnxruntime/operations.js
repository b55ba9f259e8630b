// SPDX-License-Identifier: Apache-2.0
// Operations as small graphs: inputs from a seed, the model, and the result in double precision.
'use strict';

const {model} = require('./onnx.js');

/** Numbers even in [-1, 1) from a seed (xorshift32): never zeros, which run faster. */
function drawFrom(seed) {
  let state = seed >>> 0 || 1;
  return (count) => {
    const values = new Float32Array(count);
    for (let i = 0; i < count; ++i) {
      state ^= state << 13;
      state >>>= 0;
      state ^= state >>> 17;
      state ^= state << 5;
      state >>>= 0;
      values[i] = state / 2147483648 - 1;
    }
    return values;
  };
}

/** B is a constant weight, so that the runtime may pack it. */
function gemm({m, n, k}, draw) {
  const a = draw(m * k);
  const b = draw(k * n);
  return {
    dims: [m, n],
    inputs: {a: {data: a, dims: [m, k]}},
    bytes: model({
      nodes: [{op: 'MatMul', inputs: ['a', 'b'], outputs: ['y']}],
      constants: [{name: 'b', dims: [k, n], data: b}],
      inputs: {a: [m, k]},
      outputs: {y: [m, n]},
    }),
    reference(index) {
      const row = Math.floor(index / n);
      const column = index % n;
      let sum = 0;
      for (let i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      return sum;
    },
  };
}

/** An operation on each row of a matrix; `wanted(row)` gives the row's result. */
function onRows({rows, columns}, draw, nodes, constants, wanted) {
  const x = draw(rows * columns);
  let last = -1;
  let result;
  return {
    dims: [rows, columns],
    inputs: {x: {data: x, dims: [rows, columns]}},
    bytes: model({nodes, constants, inputs: {x: [rows, columns]}, outputs: {y: [rows, columns]}}),
    reference(index) {
      const row = Math.floor(index / columns);
      if (row !== last) result = wanted(Float64Array.from(x.subarray(row * columns, (row + 1) * columns)));
      last = row;
      return result[index % columns];
    },
  };
}

function softmax(shape, draw) {
  const nodes = [{op: 'Softmax', inputs: ['x'], outputs: ['y'], attributes: {axis: 1}}];
  return onRows(shape, draw, nodes, [], (row) => {
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const powers = row.map((v) => Math.exp(v - most));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((v) => v / sum);
  });
}

function rmsNorm(shape, draw) {
  const weight = draw(shape.columns);
  const nodes = [
    {op: 'Mul', inputs: ['x', 'x'], outputs: ['square']},
    {op: 'ReduceMean', inputs: ['square'], outputs: ['mean'], attributes: {axes: [1], keepdims: 1}},
    {op: 'Add', inputs: ['mean', 'epsilon'], outputs: ['above_zero']},
    {op: 'Sqrt', inputs: ['above_zero'], outputs: ['root']},
    {op: 'Div', inputs: ['x', 'root'], outputs: ['scaled']},
    {op: 'Mul', inputs: ['scaled', 'weight'], outputs: ['y']},
  ];
  const constants = [
    {name: 'epsilon', dims: [1], data: Float32Array.of(1e-6)},
    {name: 'weight', dims: [shape.columns], data: weight},
  ];
  return onRows(shape, draw, nodes, constants, (row) => {
    const root = Math.sqrt(row.reduce((sum, v) => sum + v * v, 0) / row.length + 1e-6);
    return row.map((v, i) => (v / root) * weight[i]);
  });
}

module.exports = {operations: {gemm, softmax, rms_norm: rmsNorm}, drawFrom};
