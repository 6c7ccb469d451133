#!/usr/bin/env bash
# Builds the trainer on a machine with a GPU and PyTorch and starts it, detached.
#   tools/train_gpu.sh CONFIG [--name value ...]
# Environment: CARRIED  folder with headers that the machine lacks (nlohmann, stb), default carry
#              OUT      where weights are to go when training ends, default out/train
#              WAIT=1   stay until training ends, showing its progress
# Progress: out/train/log.txt. Weights are replaced atomically at every evaluation.
set -euo pipefail
cd "$(dirname "$0")/.."
config=${1:-configs/tiny.json}
shift || true
carried=${CARRIED:-$PWD/carry}
work=$PWD/out/train
target=${OUT:-$work}
mkdir -p "$work" "$target"

torch=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')
if [ ! -x build/cuda/arrcoc_train ] || [ -n "${REBUILD:-}" ]; then
  generator=Ninja
  command -v ninja >/dev/null || generator="Unix Makefiles"
  cmake --preset cuda -G "$generator" -DCMAKE_PREFIX_PATH="$torch" -DTORCH_CUDA_ARCH_LIST=9.0 \
    -DARRCOC_CARRIED="$carried" >"$work/configure.txt" 2>&1 || { tail -30 "$work/configure.txt"; exit 1; }
  cmake --build build/cuda --target arrcoc_train -j 16 >"$work/build.txt" 2>&1 ||
    { grep -E -A5 "error|undefined" "$work/build.txt" | head -60; exit 1; }
fi

# What a killed machine leaves behind must be usable: copies follow every new set of weights.
copy() {
  [ "$target" = "$work" ] && return 0
  mkdir -p "$target/weights"
  cp "$work"/log.txt "$work"/metrics.jsonl "$target"/ 2>/dev/null || true
  [ -d "$work/weights" ] || return 0
  rm -rf "$target/weights.new"
  cp -r "$work/weights" "$target/weights.new" && rm -rf "$target/weights" &&
    mv "$target/weights.new" "$target/weights"
}

setsid nohup build/cuda/arrcoc_train --config "$config" --out "$work" "$@" \
  >"$work/log.txt" 2>&1 </dev/null &
trainer=$!
echo "trainer $trainer, log $work/log.txt"
[ -n "${WAIT:-}" ] || exit 0
tail -n +1 -f --pid="$trainer" "$work/log.txt" &
while kill -0 "$trainer" 2>/dev/null; do
  sleep 20
  copy
done
wait "$trainer"
status=$?
copy
exit $status
