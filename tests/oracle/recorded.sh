#!/usr/bin/env bash
# Runs oracle_check on the recordings of the real schedulers, where they are at hand: below $POOLCAST_DATA, or in
# shared/data beside the checkout.
set -euo pipefail
data=${POOLCAST_DATA:-$(cd "$(dirname "$0")/../.." && pwd)/../shared/data}
if [ ! -d "$data/oracle_vllm/cases" ]; then
  echo "skipped: no recordings in $data/oracle_vllm/cases"
  exit 77
fi
exec "$1" "$data"/oracle_vllm/cases/*.json
