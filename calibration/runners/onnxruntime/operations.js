// SPDX-License-Identifier: Apache-2.0
// Operations as small graphs: inputs from a seed, the model, and the result in double precision.
'use strict';

const {prefill, decode, rotary} = require('./attention.js');
const {byRow} = require('./problem.js');

/** B is a constant weight, so that the runtime may pack it. */
function gemm({m, n, k}, draw) {
  const a = draw(m, k);
  const b = draw(k, n);
  return {
    nodes: [{op: 'MatMul', inputs: ['a', 'b'], outputs: ['y']}],
    constants: {b},
    inputs: {a},
    y: [m, n],
    reference(index) {
      const row = Math.floor(index / n);
      const column = index % n;
      let sum = 0;
      for (let i = 0; i < k; ++i) sum += a.data[row * k + i] * b.data[i * n + column];
      return sum;
    },
  };
}

/** An operation on each row of the inputs, matrices all; `wanted` makes a row of y from theirs. */
function onRows({rows, columns}, inputs, nodes, constants, wanted) {
  const row = (i) => Object.values(inputs).map(
      ({data}) => Float64Array.from(data.subarray(i * columns, (i + 1) * columns)));
  return {nodes, constants, inputs, y: [rows, columns], reference: byRow(columns, (i) => wanted(...row(i)))};
}

function softmax(shape, draw) {
  const nodes = [{op: 'Softmax', inputs: ['x'], outputs: ['y'], attributes: {axis: 1}}];
  return onRows(shape, {x: draw(shape.rows, shape.columns)}, nodes, {}, (row) => {
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const powers = row.map((v) => Math.exp(v - most));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((v) => v / sum);
  });
}

function residualAdd(shape, draw) {
  const inputs = {x: draw(shape.rows, shape.columns), addend: draw(shape.rows, shape.columns)};
  const nodes = [{op: 'Add', inputs: ['x', 'addend'], outputs: ['y']}];
  return onRows(shape, inputs, nodes, {}, (x, addend) => x.map((v, i) => v + addend[i]));
}

/** The node that ONNX Runtime has for it; written out in six it takes twice as long. */
function rmsNorm(shape, draw) {
  const weight = draw(shape.columns);
  const attributes = {axis: -1, epsilon: {float: 1e-6}};
  const nodes = [{op: 'SimplifiedLayerNormalization', inputs: ['x', 'weight'], outputs: ['y'], attributes}];
  return onRows(shape, {x: draw(shape.rows, shape.columns)}, nodes, {weight}, (row) => {
    const root = Math.sqrt(row.reduce((sum, v) => sum + v * v, 0) / row.length + 1e-6);
    return row.map((v, i) => (v / root) * weight.data[i]);
  });
}

/** Gates and ups come from two products, so they are two matrices. QuickGelu with alpha 1 is no faster. */
function siluGate(shape, draw) {
  const nodes = [
    {op: 'Sigmoid', inputs: ['gate'], outputs: ['share']},
    {op: 'Mul', inputs: ['gate', 'share'], outputs: ['open']},
    {op: 'Mul', inputs: ['open', 'up'], outputs: ['y']},
  ];
  const inputs = {gate: draw(shape.rows, shape.columns), up: draw(shape.rows, shape.columns)};
  return onRows(shape, inputs, nodes, {}, (gate, up) => gate.map((v, i) => (v / (1 + Math.exp(-v))) * up[i]));
}

module.exports = {
  operations: {
    gemm, softmax, rms_norm: rmsNorm, silu_gate: siluGate, residual_add: residualAdd, rotary,
    prefill_attention: prefill, decode_attention: decode,
  },
};
