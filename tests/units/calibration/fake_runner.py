# SPDX-License-Identifier: Apache-2.0
"""A runner whose times follow formulas, and which misbehaves on request: fake_runner.py BEHAVIOUR [STATE_FILE]"""
import json
import os
import sys
import time

behaviour = sys.argv[1] if len(sys.argv) > 1 else "sound"
state = sys.argv[2] if len(sys.argv) > 2 else None


def starts():
    """How often this runner was started so far."""
    count = 0
    if state and os.path.exists(state):
        with open(state, encoding="utf-8") as file:
            count = int(file.read())
    if state:
        with open(state, "w", encoding="utf-8") as file:
            file.write(str(count + 1))
    return count


def answer(value):
    print(json.dumps(value), flush=True)


def nanoseconds(request):
    s = request["shape"]
    if request["operation"] == "prefill_attention":
        pairs = s["query"] * s["context"] + s["query"] ** 2 / 2
        return 2000 + 10 * s["query"] + pairs * 0.02
    if request["operation"] == "decode_attention":
        return 1500 + s["requests"] * (50 + 0.5 * s["context"])
    size = s.get("m") or s.get("rows") or s.get("tokens")
    return 1000 + 20 * size


earlier = starts()
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "describe":
        if behaviour == "mute":
            time.sleep(60)
        if behaviour == "never_again" and earlier > 0:
            sys.exit(4)
        if behaviour == "no_json":
            print("hello", flush=True)
            continue
        device = "fake device " + {"other_device": str(earlier), "fails_once": "sound"}.get(behaviour, behaviour)
        answer({"ok": True, "protocol": 2 if behaviour == "protocol" else 1, "device": device, "clocks": ["cpu"],
                "hardware": "one core" if behaviour.startswith("shares") else "",
                "runtime": "2.0" if behaviour == "newer" else "1.0",
                "peaks": {"flops_per_s": {"bf16": 1e18}, "bytes_per_s": 1e18},
                "kernels": [{"operation": name, "kernel": "formula", "dtypes": ["bf16", "fp32"], "digest": "f0"}
                            for name in ("gemm", "prefill_attention", "decode_attention", "rms_norm", "rotary",
                                         "kv_store", "residual_add", "softmax")]})
        continue
    if behaviour == "fails_once" and earlier > 1:  # two starts describe
        behaviour = "sound"
    bad = request["shape"].get("m") == 7 or behaviour in ("always_dies", "fails_once")
    if bad and behaviour in ("dies", "always_dies", "other_device", "never_again", "fails_once"):
        sys.exit(3)
    if bad and behaviour == "hangs":
        time.sleep(60)
    if bad and behaviour == "rubbish":
        print("Segmentation fault (core dumped)", flush=True)
        continue
    if bad and behaviour == "unsupported":
        answer({"ok": False, "error": {"code": "unsupported", "message": "m must not be 7"}})
        continue
    n = request["repetitions"]
    times = [nanoseconds(request) for _ in range(n)]
    time.sleep(sum(times) * 1e-9 + {"slow": 0.002, "killed": 0.005}.get(behaviour, 0))
    result = {"ok": True, "kernel": "formula", "digest": "f0", "wall_ns": times, "cpu_ns": times, "tolerance": 0.1}
    if request["check"]:
        result["error"] = 0.01
    if bad and behaviour == "nan":
        result["wall_ns"][0] = float("nan")
    if bad and behaviour == "nan_result":
        result["error"] = None
    if bad and behaviour == "slow_units":
        result["wall_ns"] = [t * 1e6 for t in times]
    if bad and behaviour == "fast_units":
        result["wall_ns"] = result["cpu_ns"] = [1e-9 for _ in times]
    if bad and behaviour == "wrong":
        result["error"] = 0.5
    if bad and behaviour == "unchecked":
        result.pop("error", None)
    if bad and behaviour == "negative":
        result["error"] = -0.01
    if bad and behaviour == "lax":
        result.update(error=1e9, tolerance=1e10)
    if bad and behaviour == "other_kernel":
        result["kernel"] = "another"
    if bad and behaviour == "long_message":
        result = {"ok": False, "error": {"code": "failed", "message": "\x1b[31m" + "m" * 3_000_000}}
    if bad and behaviour == "twice":
        answer(result)
    if bad and behaviour == "few":
        result["wall_ns"] = result["wall_ns"][1:]
    answer(result)
