#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the two pieces of CUDA syntax that C++ has no words for into calls of the emulation: launches with <<< >>> and
dynamic shared memory.   translate.py IN.cu OUT.cpp
"""
import re
import sys

LAUNCH = re.compile(r"([A-Za-z_]\w*(?:<(?:[^<>;]|<[^<>]*>)*>)?)\s*<<<(.*?)>>>\(([^;]*)\);", re.S)
SHARED = re.compile(r"extern __shared__ (?:__align__\(\d+\) )?([\w ]+?) (\w+)\[\];")


def top_level(text):
    """Splits at commas outside brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def launch(match):
    grid, block, shared = (top_level(match[2]) + ["0"])[:3]
    return (f"::poolcast::emulation::launch({grid}, {block}, static_cast<std::size_t>({shared}), "
            f"[&] {{ {match[1]}({match[3]}); }});")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    text = SHARED.sub(r"auto* \2 = reinterpret_cast<\1*>(::poolcast::emulation::shared_memory());", text)
    text = LAUNCH.sub(launch, text)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(f'#line 1 "{sys.argv[1]}"\n' + text)


if __name__ == "__main__":
    main()
