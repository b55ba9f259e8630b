// SPDX-License-Identifier: Apache-2.0
// A poolcast runner (calibration/protocol.md) over ONNX Runtime's CPU execution provider, one thread, fp32.
//   npm install --ignore-scripts && node runner.js < requests
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');
const readline = require('readline');
const ort = require('onnxruntime-node');
const {operations, drawFrom} = require('./operations.js');

const TOLERANCE = 2e-4; // of fp32, as kernels/kernel.h allows it
const COMPARED = 4096; // outputs that are compared at most; every output must be finite
const ONE_THREAD = {intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential'};

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const version = require('onnxruntime-node/package.json').version;
const digest = ['runner.js', 'operations.js', 'onnx.js'].reduce(
    (hash, name) => hash.update(fs.readFileSync(path.join(__dirname, name))),
    crypto.createHash('sha256').update(version)).digest('hex');

async function prepare(name, shape) {
  const problem = operations[name](shape, drawFrom(1));
  const session = await ort.InferenceSession.create(problem.bytes, ONE_THREAD);
  const feeds = {};
  for (const [input, {data, dims}] of Object.entries(problem.inputs)) feeds[input] = new ort.Tensor('float32', data, dims);
  return {problem, run: () => session.run(feeds), release: () => session.release()};
}

/** Largest difference over the root mean square, as kernels/kernel.h has it. */
function errorOf(problem, output) {
  if (!output.every(Number.isFinite)) return Infinity;
  const step = Math.max(1, Math.floor(output.length / COMPARED));
  let worst = 0;
  let squares = 0;
  let count = 0;
  for (let i = 0; i < output.length; i += step, ++count) {
    const wanted = problem.reference(i);
    worst = Math.max(worst, Math.abs(output[i] - wanted));
    squares += wanted * wanted;
  }
  return worst / Math.sqrt(squares / count);
}

let evict;
function cool() {
  evict = evict || new Float64Array(1 << 25).fill(1);
  for (let i = 0; i < evict.length; i += 8) evict[i] += 1;
}

/**
 * Wall time of a run in nanoseconds. ONNX Runtime works on a thread of Node's pool, whose own CPU clock Node does not
 * tell: this runner has no CPU clock.
 */
async function timed(prepared) {
  const begin = process.hrtime.bigint();
  await prepared.run();
  return Math.max(1, Number(process.hrtime.bigint() - begin));
}

async function measuredPeaks() {
  const n = 1024; // there is no register-resident loop: the ceiling is the runtime's own product
  const prepared = await prepare('gemm', {m: n, n, k: n});
  let best = Infinity;
  for (let i = 0; i < 5; ++i) best = Math.min(best, await timed(prepared));
  await prepared.release();
  return {flops_per_s: {fp32: (2 * n ** 3) / (best * 1e-9)}};
}

async function describe(request) {
  return {
    ok: true,
    protocol: 1,
    device: `${os.cpus()[0].model.trim()}, 1 CPU`,
    driver: `${os.type()} ${os.release()}`,
    runtime: `onnxruntime-node ${version}, node ${process.version}`,
    clocks: [],
    peaks: request.peaks === false ? {} : await measuredPeaks(),
    kernels: Object.keys(operations).map((operation) => ({operation, kernel: 'onnxruntime', dtypes: ['fp32'], digest})),
  };
}

let last = {key: ''};
async function preparedFor(request) {
  const key = JSON.stringify([request.operation, request.shape]);
  if (last.key === key) return last.prepared;
  if (last.prepared) await last.prepared.release();
  last = {key: ''};
  last = {key, prepared: await prepare(request.operation, request.shape)};
  return last.prepared;
}

async function run(request) {
  if (!Object.hasOwn(operations, request.operation) || request.dtype !== 'fp32') {
    throw new Refused('unsupported', `no ${request.operation} in ${request.dtype} here`);
  }
  if (!['auto', 'onnxruntime', undefined].includes(request.kernel)) {
    throw new Refused('unsupported', `no kernel is called ${request.kernel}`);
  }
  const prepared = await preparedFor(request);
  const answer = {ok: true, kernel: 'onnxruntime', digest, tolerance: TOLERANCE, wall_ns: []};
  const output = (await prepared.run()).y.data; // warms, too; outputs are new memory in every run
  if (request.check !== false) {
    answer.error = errorOf(prepared.problem, output);
    if (!(answer.error <= TOLERANCE)) throw new Refused('wrong_result', `error ${answer.error}`);
  }
  for (let i = 0; i < (request.repetitions || 7); ++i) {
    if (request.cache === 'cold') cool();
    answer.wall_ns.push(await timed(prepared));
  }
  return answer;
}

async function answer(line) {
  try {
    const request = JSON.parse(line);
    if (request.do === 'describe') return await describe(request);
    if (request.do === 'run') return await run(request);
    throw new Refused('bad_request', 'describe or run');
  } catch (error) {
    const code = error.code && error instanceof Refused ? error.code : error instanceof SyntaxError ? 'bad_request' : 'failed';
    return {ok: false, error: {code, message: error.message}};
  }
}

async function main() {
  for await (const line of readline.createInterface({input: process.stdin})) {
    process.stdout.write(JSON.stringify(await answer(line)) + '\n');
  }
}

main();
