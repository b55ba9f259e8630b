#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the one-way doors between rooms (design: tools -> scenarios -> sim -> models; nothing includes tests/), that
a source includes its own header first, and that nothing simulated can read a clock.   check_includes.py ROOT
"""
import os
import re
import sys

MAY_INCLUDE = {
    "models": {"models"},
    "sim": {"sim", "models"},
    "kernels": {"kernels", "models"},
    "scenarios": {"scenarios", "sim", "models"},
    "calibration": {"calibration", "scenarios", "sim", "kernels", "models"},
    "tools": {"tools", "calibration", "scenarios", "sim", "kernels", "models"},
    "tests": {"tests", "tools", "calibration", "scenarios", "sim", "kernels", "models"},
}
# Libraries that a room may use besides the standard one, by the beginning of the include.
LIBRARIES = {
    "models": ("boost/graph/",),
    "sim": ("tbb/", "lua.hpp", "sys/mman.h"),
    "kernels": ("tbb/", "oneapi/dnnl/", "omp.h", "CL/", "cpuid.h", "immintrin.h", "emmintrin.h", "sched.h", "sys/", "unistd.h",
                "cuda", "cublas", "hip/", "dlfcn.h", "sanitizer/"),
    "scenarios": ("fmt/", "nlohmann/", "simdjson", "zlib", "openssl/", "hdf5", "yaml-cpp/", "fcntl.h", "sys/", "unistd.h"),
    "calibration": ("Eigen/", "fmt/", "nlohmann/", "zlib", "fcntl.h", "poll.h", "signal.h", "sys/", "unistd.h"),
    "tools": ("CLI/", "fmt/", "nlohmann/", "fcntl.h", "sys/", "unistd.h"),
}
# Heavy libraries stay inside sources: a public header that names them makes everyone compile them. A header that
# carries the library in its own name is a wrapper for sources.
NOT_IN_HEADERS = ("yaml-cpp/", "hdf5", "simdjson", "zlib", "openssl/", "nlohmann/json.hpp", "CLI/", "cuda", "cublas", "hip/", "lua")
# Simulated time comes from the simulation alone.
CLOCKS = ("chrono", "ctime", "time.h", "sys/time.h", "sys/times.h")
CLOCKLESS = ("models", "sim", "scenarios")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def files(root, endings):
    for room in MAY_INCLUDE:
        for folder, _, names in sorted(os.walk(os.path.join(root, room))):
            for name in sorted(names):
                if name.endswith(endings):
                    yield room, os.path.relpath(os.path.join(folder, name), root)


def includes(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == '"', match.group(2)


def is_standard(name):
    return "/" not in name and "." not in name


def heavy(name, path):
    return any(name.startswith(library) and library not in os.path.basename(path) for library in NOT_IN_HEADERS)


def faults_of(root, room, path):
    found = list(includes(root, path))
    for number, quoted, name in found:
        at = f"{path}:{number}: "
        if quoted:
            target = name.split("/")[0]
            if not os.path.exists(os.path.join(root, name)):
                yield at + f'"{name}" is no file; include from the root'
            elif target not in MAY_INCLUDE[room]:
                yield at + f"{room}/ may not include {target}/"
        elif room in CLOCKLESS and name in CLOCKS:
            yield at + f"{room}/ may not read a clock: <{name}>"
        elif room in LIBRARIES and not is_standard(name) and not name.startswith(LIBRARIES[room]):
            yield at + f"{room}/ may not use <{name}>"
        elif room != "tests" and path.endswith(".h") and heavy(name, path):
            yield at + f"<{name}> belongs into a source, not into a header"
    own = path[: -len(".cpp")] + ".h"
    if path.endswith(".cpp") and os.path.exists(os.path.join(root, own)) and room != "tests":
        if not found or found[0][2] != own:
            yield f"{path}:1: its own header must come first"
    if path.endswith(".h"):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            if "#pragma once" not in file.read():
                yield f"{path}:1: no #pragma once"


def main():
    root = os.path.abspath(sys.argv[1])
    checked = list(files(root, (".h", ".cpp")))
    faults = [fault for room, path in checked for fault in faults_of(root, room, path)]
    for fault in faults:
        print(fault)
    print(f"check_includes: {len(checked)} files checked, {len(faults)} faults")
    return 1 if faults or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
