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
const {operations} = require('./operations.js');
const {drawFrom, wholeGraph, timedGraph, emptyGraph} = require('./problem.js');

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
const digest = ['runner.js', 'operations.js', 'attention.js', 'problem.js', 'onnx.js'].reduce(
    (hash, name) => hash.update(fs.readFileSync(path.join(__dirname, name))),
    crypto.createHash('sha256').update(version)).digest('hex');

const TYPES = new Map([[Float32Array, 'float32'], [BigInt64Array, 'int64']]);

async function open(graph, inputs) {
  const session = await ort.InferenceSession.create(graph, ONE_THREAD);
  const feeds = {};
  for (const [name, {data, dims}] of Object.entries(inputs)) {
    feeds[name] = new ort.Tensor(TYPES.get(data.constructor), data, dims);
  }
  return {run: () => session.run(feeds), release: () => session.release()};
}

async function prepare(name, shape) {
  const problem = operations[name](shape, drawFrom(1));
  const work = await open(timedGraph(problem), problem.inputs);
  return {problem, work, empty: await open(emptyGraph(problem), problem.inputs), beside: {}};
}

async function release(prepared) {
  await prepared.work.release();
  await prepared.empty.release();
}

/** Runs the whole graph once; outputs are new memory. */
async function check({problem}) {
  const session = await open(wholeGraph(problem), problem.inputs);
  const output = (await session.run()).y.data;
  await session.release();
  return errorOf(problem, output);
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
 * Nanoseconds of a run, by the wall and by the CPU's clock. That is the process's, in microseconds: ONNX Runtime works
 * on Node's own thread here, and no other has much to do.
 */
async function timed(session) {
  const cpu = process.cpuUsage();
  const begin = process.hrtime.bigint();
  await session.run();
  const wall = Number(process.hrtime.bigint() - begin);
  const {user, system} = process.cpuUsage(cpu);
  return {wall, cpu: 1000 * (user + system)};
}

/** The first runs of a session and of Node's own code are slow. */
async function warm(session) {
  const begin = process.hrtime.bigint();
  for (let i = 0; i < 30 && process.hrtime.bigint() - begin < 50e6; ++i) await session.run();
}

/** What a run costs beside its nodes, at the least: those of a model are all in one run. */
async function besideNodes(prepared, cold) {
  if (prepared.beside[cold]) return prepared.beside[cold];
  await warm(prepared.empty);
  const runs = [];
  for (let i = 0; i < 9; ++i) {
    if (cold) cool();
    runs.push(await timed(prepared.empty));
  }
  const least = (clock) => Math.min(...runs.map((time) => time[clock]));
  return (prepared.beside[cold] = {wall: least('wall'), cpu: least('cpu')});
}

/** Of the nodes alone: a step of the CPU's clock at least. */
async function samples(prepared, repetitions, cold) {
  const beside = await besideNodes(prepared, cold);
  await warm(prepared.work);
  const times = {wall_ns: [], cpu_ns: []};
  for (let i = 0; i < repetitions; ++i) {
    if (cold) cool();
    const {wall, cpu} = await timed(prepared.work);
    times.wall_ns.push(Math.max(1000, wall - beside.wall));
    times.cpu_ns.push(Math.max(1000, cpu - beside.cpu));
  }
  return times;
}

/** There is no register-resident loop: the ceiling is the runtime's own product of whichever size is fastest. */
async function measuredPeaks() {
  let fastest = 0;
  for (const n of [256, 512, 1024]) {
    const prepared = await prepare('gemm', {m: n, n, k: n});
    const least = Math.min(...(await samples(prepared, 7, false)).cpu_ns);
    fastest = Math.max(fastest, (2 * n ** 3) / (least * 1e-9));
    await release(prepared);
  }
  return {flops_per_s: {fp32: fastest}};
}

async function describe(request) {
  return {
    ok: true,
    protocol: 1,
    device: `${os.cpus()[0].model.trim()}, 1 CPU`,
    hardware: 'cpu',
    driver: `${os.type()} ${os.release()}`,
    runtime: `onnxruntime-node ${version}, node ${process.version}`,
    clocks: ['cpu'],
    peaks: request.peaks === false ? {} : await measuredPeaks(),
    kernels: Object.keys(operations).map((operation) => ({operation, kernel: 'onnxruntime', dtypes: ['fp32'], digest})),
  };
}

let last = {key: ''};
async function preparedFor(request) {
  const key = JSON.stringify([request.operation, request.shape]);
  if (last.key === key) return last.prepared;
  if (last.prepared) await release(last.prepared);
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
  const answer = {ok: true, kernel: 'onnxruntime', digest, tolerance: TOLERANCE};
  if (request.check !== false) {
    answer.error = await check(prepared);
    if (!(answer.error <= TOLERANCE)) throw new Refused('wrong_result', `error ${answer.error}`);
  }
  return {...answer, ...(await samples(prepared, request.repetitions || 7, request.cache === 'cold'))};
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
