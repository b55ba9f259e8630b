// SPDX-License-Identifier: Apache-2.0
// What the operations are made of.
'use strict';

const {model} = require('./onnx.js');

/** Numbers even in [-1, 1) from a seed (xorshift32): never zeros, which run faster. */
function drawFrom(seed) {
  let state = seed >>> 0 || 1;
  return (...dims) => {
    const values = new Float32Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < values.length; ++i) {
      state ^= state << 13;
      state >>>= 0;
      state ^= state >>> 17;
      state ^= state << 5;
      state >>>= 0;
      values[i] = state / 2147483648 - 1;
    }
    return {data: values, dims};
  };
}

/** Whole numbers, of shapes and positions. */
const whole = (values, ...dims) => ({data: BigInt64Array.from(values, BigInt), dims});

/** The graph of a problem {nodes, constants, inputs, y: dims of that output}, whole: what is checked. */
function wholeGraph({nodes, constants = {}, inputs, y}) {
  return model({nodes, constants, inputs, outputs: {y: {data: new Float32Array(0), dims: y}}});
}

/**
 * The same, of whose output only the first number leaves the runtime: Node copies outputs into new memory, which takes
 * longer than many an operation, and within a model they stay inside. This is timed.
 */
function timedGraph({nodes, constants = {}, inputs, y}) {
  const corner = {op: 'Slice', inputs: ['y', 'begin', 'end'], outputs: ['first']};
  const bounds = {begin: whole(y.map(() => 0), y.length), end: whole(y.map(() => 1), y.length)};
  const outputs = {first: {data: new Float32Array(0), dims: y.map(() => 1)}};
  return model({nodes: [...nodes, corner], constants: {...constants, ...bounds}, inputs, outputs});
}

/** The same inputs and nothing to do: what a run costs beside its nodes. */
function emptyGraph({inputs}) {
  const one = {data: Float32Array.of(1), dims: [1]};
  const nodes = [{op: 'Identity', inputs: ['one'], outputs: ['first']}];
  return model({nodes, constants: {one}, inputs, outputs: {first: one}});
}

/** A reference by index that works out `width` outputs at a time. */
function byRow(width, wanted) {
  let last = -1;
  let result;
  return (index) => {
    const row = Math.floor(index / width);
    if (row !== last) result = wanted(row);
    last = row;
    return result[index % width];
  };
}

module.exports = {drawFrom, whole, wholeGraph, timedGraph, emptyGraph, byRow};
