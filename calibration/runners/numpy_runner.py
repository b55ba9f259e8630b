#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A runner in Python with the standard library and numpy: what numpy gets out of a CPU, one thread, in fp32.

A model to copy: an operation is a class with `prepare` (inputs, from a seed), `run` (what is timed) and `reference`
(double precision). The protocol is described in calibration/protocol.md.   numpy_runner.py < requests
"""
import hashlib
import json
import os
import platform
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy starts its threads: the CPU clock is that of this thread

import numpy as np

TOLERANCE = 2e-4  # of fp32, as kernels/kernel.h allows it


class Gemm:
    def prepare(self, shape, draw):
        self.a, self.b = draw(shape["m"], shape["k"]), draw(shape["k"], shape["n"])
        self.out = np.empty((shape["m"], shape["n"]), np.float32)

    def run(self):
        np.matmul(self.a, self.b, out=self.out)

    def reference(self):
        return self.a.astype(np.float64) @ self.b.astype(np.float64)


class Rows:
    """An operation on each row of a matrix."""

    def prepare(self, shape, draw):
        self.x = draw(shape["rows"], shape["columns"])
        self.out = np.empty_like(self.x)


class Softmax(Rows):
    def formula(self, x, out=None):
        e = np.exp(x - x.max(axis=1, keepdims=True), out=out)
        return np.divide(e, e.sum(axis=1, keepdims=True), out=out)

    def run(self):
        self.formula(self.x, self.out)

    def reference(self):
        return self.formula(self.x.astype(np.float64))


class RmsNorm(Rows):
    def prepare(self, shape, draw):
        super().prepare(shape, draw)
        self.weight = draw(1, shape["columns"])

    def formula(self, x, weight, out=None):
        mean = np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1]
        return np.multiply(x / np.sqrt(mean + 1e-6), weight, out=out)

    def run(self):
        self.formula(self.x, self.weight, self.out)

    def reference(self):
        return self.formula(self.x.astype(np.float64), self.weight.astype(np.float64))


class SiluGate(Rows):
    def prepare(self, shape, draw):
        self.columns = shape["columns"]
        self.x = draw(shape["rows"], 2 * self.columns)
        self.out = np.empty((shape["rows"], self.columns), self.x.dtype)

    def formula(self, x, out=None):
        gate, up = x[:, : self.columns], x[:, self.columns :]
        return np.multiply(gate / (1 + np.exp(-gate)), up, out=out)

    def run(self):
        self.formula(self.x, self.out)

    def reference(self):
        return self.formula(self.x.astype(np.float64))


class ResidualAdd(Rows):
    def prepare(self, shape, draw):
        super().prepare(shape, draw)
        self.addend = draw(shape["rows"], shape["columns"])

    def run(self):
        np.add(self.x, self.addend, out=self.out)

    def reference(self):
        return self.x.astype(np.float64) + self.addend


class KvStore:
    """K and V of new tokens to their slots, blocks in random order, in a cache laid out as attention here reads it."""

    def prepare(self, shape, draw):
        tokens, heads, d, block = shape["tokens"], shape["kv_heads"], shape["head_dim"], shape["block"]
        self.new = draw(2, tokens, heads, d)
        whole = tokens // block
        order = np.append(np.argsort(draw(whole)), whole)  # a block that is not full lies last
        token = np.arange(tokens)
        self.slots = order[token // block] * block + token % block
        self.out = np.empty((2, heads, tokens, d), np.float32)

    def run(self):
        self.out[:, :, self.slots] = self.new.transpose(0, 2, 1, 3)

    def reference(self):
        wanted = np.empty(self.out.shape)
        for token, slot in enumerate(self.slots):
            wanted[:, :, slot] = self.new[:, token]
        return wanted


class DecodeAttention:
    """One query of each request over its own context, which lies in one piece instead of in blocks."""

    def prepare(self, shape, draw):
        r, c, d = shape["requests"], shape["context"], shape["head_dim"]
        self.kv_heads, group = shape["kv_heads"], shape["heads"] // shape["kv_heads"]
        self.q = draw(r * self.kv_heads, group, d)
        self.k, self.v = draw(r * self.kv_heads, c, d), draw(r * self.kv_heads, c, d)
        self.out = np.empty_like(self.q)

    def formula(self, q, k, v, out=None):
        scores = np.matmul(q, k.transpose(0, 2, 1)) / np.sqrt(q.shape[2]).astype(q.dtype)
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        return np.matmul(scores, v, out=out)

    def run(self):
        self.formula(self.q, self.k, self.v, self.out)

    def reference(self):
        return self.formula(*(x.astype(np.float64) for x in (self.q, self.k, self.v)))


class PrefillAttention:
    """A chunk of queries over the context before it and, causally, over itself; K and V in one piece."""

    def prepare(self, shape, draw):
        self.query, self.context, d = shape["query"], shape["context"], shape["head_dim"]
        kv_heads, group = shape["kv_heads"], shape["heads"] // shape["kv_heads"]
        self.q = draw(kv_heads, group, self.query, d)
        self.k, self.v = draw(kv_heads, 1, self.context + self.query, d), draw(kv_heads, 1, self.context + self.query, d)
        self.out = np.empty_like(self.q)

    def formula(self, q, k, v, out=None):
        scores = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(q.shape[3]).astype(q.dtype)
        later = np.triu(np.ones((self.query, self.query), bool), 1)
        scores[..., self.context :][..., later] = -np.inf
        scores = np.exp(scores - scores.max(axis=3, keepdims=True))
        scores /= scores.sum(axis=3, keepdims=True)
        return np.matmul(scores, v, out=out)

    def run(self):
        self.formula(self.q, self.k, self.v, self.out)

    def reference(self):
        return self.formula(*(x.astype(np.float64) for x in (self.q, self.k, self.v)))


class Rotary:
    """Turns the pair (i, i + head_dim/2) of each head by position * 10000^(-2i/head_dim)."""

    def prepare(self, shape, draw):
        tokens, half = shape["tokens"], shape["head_dim"] // 2
        self.x = draw(tokens, shape["heads"], 2 * half)
        angle = np.arange(tokens)[:, None, None] * 10000.0 ** (-np.arange(half) / half)
        self.turn = np.cos(angle), np.sin(angle)
        self.turn_fp32 = tuple(t.astype(np.float32) for t in self.turn)
        self.out = np.empty_like(self.x)

    def formula(self, x, turn, out):
        half, (cos, sin) = x.shape[2] // 2, turn
        out[..., :half] = x[..., :half] * cos - x[..., half:] * sin
        out[..., half:] = x[..., half:] * cos + x[..., :half] * sin
        return out

    def run(self):
        self.formula(self.x, self.turn_fp32, self.out)

    def reference(self):
        return self.formula(self.x.astype(np.float64), self.turn, np.empty(self.x.shape))


OPERATIONS = {
    "gemm": Gemm,
    "softmax": Softmax,
    "rms_norm": RmsNorm,
    "silu_gate": SiluGate,
    "residual_add": ResidualAdd,
    "rotary": Rotary,
    "kv_store": KvStore,
    "prefill_attention": PrefillAttention,
    "decode_attention": DecodeAttention,
}


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def draw_from(seed):
    random = np.random.default_rng(seed)
    return lambda *shape: random.random(shape, np.float32) * 2 - 1  # never zeros: they run faster


def own_digest():
    with open(__file__, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def fastest(work, repeats):
    best = None
    for _ in range(repeats):
        begin = time.thread_time_ns()
        work()
        took = max(1, time.thread_time_ns() - begin)
        best = took if best is None else min(best, took)
    return best * 1e-9


def measured_peaks():
    """numpy has no register-resident loop: the ceiling is its own product of a size that fits the caches."""
    draw, n = draw_from(1), 1024
    a, b, out = draw(n, n), draw(n, n), np.empty((n, n), np.float32)
    flops = 2 * n**3 / fastest(lambda: np.matmul(a, b, out=out), 5)
    big, copy = draw(1 << 26), np.empty(1 << 26, np.float32)
    copy[:] = 1  # touches its pages
    return {"flops_per_s": {"fp32": flops}, "bytes_per_s": 2 * big.nbytes / fastest(lambda: np.copyto(copy, big), 4)}


def describe(request, digest):
    return {
        "ok": True,
        "protocol": 1,
        "device": f"{cpu_name()}, 1 CPU",
        "hardware": "cpu",
        "driver": f"{platform.system()} {platform.release()}",
        "runtime": f"numpy {np.__version__}, Python {platform.python_version()}",
        "clocks": ["cpu"],
        "peaks": measured_peaks() if request.get("peaks", True) else {},
        "kernels": [{"operation": o, "kernel": "numpy", "dtypes": ["fp32"], "digest": digest} for o in OPERATIONS],
    }


class Runner:
    def __init__(self):
        self.digest = own_digest()
        self.last = None  # (operation, shape), prepared
        self.evict = None

    def prepared(self, name, shape):
        if self.last and self.last[0] == (name, shape):
            return self.last[1]
        self.last = None
        operation = OPERATIONS[name]()
        operation.prepare(shape, draw_from(1))
        self.last = ((name, shape), operation)
        return operation

    def cool(self):
        """Reads and writes more than any cache holds."""
        if self.evict is None:
            self.evict = np.ones(1 << 26, np.float32)
        self.evict += 1

    def run(self, request):
        name = request["operation"]
        if name not in OPERATIONS or request["dtype"] != "fp32":
            raise Refused("unsupported", f"numpy has no {name} in {request['dtype']}")
        if request.get("kernel", "auto") not in ("auto", "numpy"):
            raise Refused("unsupported", f"no kernel is called {request['kernel']}")
        operation = self.prepared(name, request["shape"])
        answer = {"ok": True, "kernel": "numpy", "digest": self.digest, "tolerance": TOLERANCE}
        if request.get("check", True):
            operation.out.fill(np.nan)
            operation.run()
            wanted = operation.reference()
            difference = np.abs(operation.out - wanted)
            if not np.isfinite(difference).all():
                raise Refused("wrong_result", "an output is not finite")
            answer["error"] = float(difference.max() / np.sqrt(np.mean(wanted**2)))
        operation.run()
        wall, cpu = [], []
        for _ in range(request.get("repetitions", 7)):
            if request.get("cache") == "cold":
                self.cool()
            begin, begin_cpu = time.perf_counter_ns(), time.thread_time_ns()
            operation.run()
            end_cpu, end = time.thread_time_ns(), time.perf_counter_ns()
            wall.append(max(1, end - begin))
            cpu.append(max(1, end_cpu - begin_cpu))
        return {**answer, "wall_ns": wall, "cpu_ns": cpu}

    def answer(self, line):
        try:
            request = json.loads(line)
            if request["do"] == "describe":
                return describe(request, self.digest)
            if request["do"] == "run":
                return self.run(request)
            raise Refused("bad_request", "describe or run")
        except Refused as refused:
            return {"ok": False, "error": {"code": refused.code, "message": str(refused)}}
        except MemoryError:
            return {"ok": False, "error": {"code": "memory", "message": "out of memory"}}
        except (ValueError, KeyError, TypeError) as error:
            return {"ok": False, "error": {"code": "bad_request", "message": repr(error)}}


def main():
    runner = Runner()
    for line in sys.stdin:
        print(json.dumps(runner.answer(line)), flush=True)


if __name__ == "__main__":
    main()
