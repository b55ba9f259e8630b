// SPDX-License-Identifier: Apache-2.0
// Writes ONNX models as protobuf bytes (onnx.proto3 of onnx/onnx, IR version 8, operator set 17): no library is needed
// for graphs of a few nodes. Field numbers stand beside the names that the schema gives them.
'use strict';

const FLOAT = 1; // TensorProto.DataType

function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
function bytes(field, value) {
  const content = Buffer.isBuffer(value) ? value : Buffer.from(value, 'utf8');
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
}
const all = (parts) => Buffer.concat(parts);

/** Attributes are integers or lists of integers. */
function attribute(name, value) {
  const list = Array.isArray(value);
  return all([
    bytes(1, name),
    ...(list ? value.map((i) => number(8 /* ints */, i)) : [number(3 /* i */, value)]),
    number(20 /* type */, list ? 7 /* INTS */ : 2 /* INT */),
  ]);
}

function node({op, inputs, outputs, attributes = {}}) {
  return all([
    ...inputs.map((name) => bytes(1, name)),
    ...outputs.map((name) => bytes(2, name)),
    bytes(4 /* op_type */, op),
    ...Object.entries(attributes).map(([name, value]) => bytes(5, attribute(name, value))),
  ]);
}

function valueInfo(name, dims) {
  const shape = all(dims.map((d) => bytes(1 /* dim */, number(1 /* dim_value */, d))));
  const tensor = all([number(1 /* elem_type */, FLOAT), bytes(2 /* shape */, shape)]);
  return all([bytes(1, name), bytes(2 /* type */, bytes(1 /* tensor_type */, tensor))]);
}

/** A constant of the graph: `data` is a Float32Array. */
function initializer({name, dims, data}) {
  const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return all([...dims.map((d) => number(1, d)), number(2, FLOAT), bytes(8, name), bytes(9 /* raw_data */, raw)]);
}

/** {nodes, constants, inputs: {name: dims}, outputs: {name: dims}} as the bytes of a model. */
function model({nodes, constants = [], inputs, outputs}) {
  const graph = all([
    ...nodes.map((n) => bytes(1, node(n))),
    bytes(2, 'poolcast'),
    ...constants.map((c) => bytes(5, initializer(c))),
    ...Object.entries(inputs).map(([name, dims]) => bytes(11, valueInfo(name, dims))),
    ...Object.entries(outputs).map(([name, dims]) => bytes(12, valueInfo(name, dims))),
  ]);
  const opset = all([bytes(1, ''), number(2, 17)]);
  return all([number(1 /* ir_version */, 8), bytes(7, graph), bytes(8 /* opset_import */, opset)]);
}

module.exports = {model};
