// SPDX-License-Identifier: Apache-2.0
// Writes ONNX models as protobuf bytes (onnx.proto3 of onnx/onnx, IR version 8, operator set 17): no library is needed
// for graphs of a few nodes. Field numbers stand beside the names that the schema gives them.
'use strict';

// TensorProto.DataType
const FLOAT = 1;
const INT32 = 6;
const INT64 = 7;

function typeOf(data) {
  return data instanceof Float32Array ? FLOAT : data instanceof Int32Array ? INT32 : INT64;
}

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
function float(field, value) {
  const four = Buffer.alloc(4);
  four.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), four]);
}
const all = (parts) => Buffer.concat(parts);

/** Attributes are integers, lists of integers, or floats as {float: 1}. */
function attribute(name, value) {
  const [content, type] = Array.isArray(value) ? [all(value.map((i) => number(8 /* ints */, i))), 7 /* INTS */]
      : typeof value === 'object' ? [float(2 /* f */, value.float), 1 /* FLOAT */]
                                  : [number(3 /* i */, value), 2 /* INT */];
  return all([bytes(1, name), content, number(20 /* type */, type)]);
}

/** Of the standard's operators, or of those that ONNX Runtime adds (`domain: 'com.microsoft'`). */
function node({op, inputs, outputs, attributes = {}, domain = ''}) {
  return all([
    ...inputs.map((name) => bytes(1, name)),
    ...outputs.map((name) => bytes(2, name)),
    bytes(4 /* op_type */, op),
    ...Object.entries(attributes).map(([name, value]) => bytes(5, attribute(name, value))),
    bytes(7, domain),
  ]);
}

function valueInfo(name, {data, dims}) {
  const shape = all(dims.map((d) => bytes(1 /* dim */, number(1 /* dim_value */, d))));
  const tensor = all([number(1 /* elem_type */, typeOf(data)), bytes(2 /* shape */, shape)]);
  return all([bytes(1, name), bytes(2 /* type */, bytes(1 /* tensor_type */, tensor))]);
}

function initializer(name, {data, dims}) {
  const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return all([...dims.map((d) => number(1, d)), number(2, typeOf(data)), bytes(8, name), bytes(9 /* raw_data */, raw)]);
}

/** Constants, inputs and outputs are {name: {data, dims}}, of outputs only the type of `data` counts. */
function model({nodes, constants = {}, inputs, outputs}) {
  const graph = all([
    ...nodes.map((n) => bytes(1, node(n))),
    bytes(2, 'poolcast'),
    ...Object.entries(constants).map(([name, tensor]) => bytes(5, initializer(name, tensor))),
    ...Object.entries(inputs).map(([name, tensor]) => bytes(11, valueInfo(name, tensor))),
    ...Object.entries(outputs).map(([name, tensor]) => bytes(12, valueInfo(name, tensor))),
  ]);
  const operators = (domain, version) => bytes(8 /* opset_import */, all([bytes(1, domain), number(2, version)]));
  return all([number(1 /* ir_version */, 8), bytes(7, graph), operators('', 17), operators('com.microsoft', 1)]);
}

module.exports = {model};
