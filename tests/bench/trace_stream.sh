#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shows that a long trace is streamed: time and peak memory of making, measuring, packing and replaying one.
# Usage: tests/bench/trace_stream.sh [ROWS] [PROGRAM]    (default 50,000,000 rows; takes about 4 GB of disk below $TMPDIR)
set -eu
rows=${1:-50000000}
program=${2:-$(dirname "$0")/../../build/release/tools/poolcast}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Runs a command and prints its wall time and peak resident memory.
measure() {
  what=$1
  shift
  python3 - "$what" "$@" <<'PYTHON'
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
seconds = time.monotonic() - begin
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{sys.argv[1]:<28} {seconds:8.1f} s {peak:8.0f} MiB peak", flush=True)
PYTHON
}

cat > "$folder/scenario.yaml" <<YAML
version: 1
workload:
  trace: {file: $folder/trace.csv}
models:
  - {name: m, shape: llama-3.1-8b}
pools:
  - name: p
    accelerator: h100-sxm
    replicas: 40
    engine: {kind: vllm, version: "0.19", args: {max_num_seqs: 256, max_num_batched_tokens: 8192}}
    price: none
YAML

echo "$rows rows"
measure "trace synth (csv)" "$program" trace synth "$folder/trace.csv" --requests "$rows" --rate 300/s \
  --prompt-tokens '{distribution: lognormal, mean: 1024, cv: 0.8, max: 16000}' \
  --output-tokens '{distribution: lognormal, mean: 256, cv: 0.7, max: 4000}'
measure "trace stats (csv)" "$program" trace stats "$folder/trace.csv"
measure "trace convert (csv to h5)" "$program" trace convert "$folder/trace.csv" "$folder/trace.h5"
measure "trace stats (h5)" "$program" trace stats "$folder/trace.h5"
measure "run" "$program" run "$folder/scenario.yaml"
