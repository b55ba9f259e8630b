#!/usr/bin/env bash
# recorded.sh ORACLE_CHECK FOLDER…: runs oracle_check on recorded cases of real schedulers, where they are at hand: in
# these folders below $POOLCAST_DATA, or in shared/data beside the checkout.
set -euo pipefail
check=$1
shift
data=${POOLCAST_DATA:-$(cd "$(dirname "$0")/../.." && pwd)/../shared/data}
cases=()
for folder in "$@"; do
  if [ ! -d "$data/$folder" ]; then
    echo "skipped: no recordings in $data/$folder"
    exit 77
  fi
  cases+=("$data/$folder"/*.json)
done
exec "$check" "${cases[@]}"
