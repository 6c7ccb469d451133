#!/usr/bin/env bash
# Builds the trainer on a machine with a GPU and PyTorch and starts it, detached.
#   tools/train_gpu.sh CONFIG [--name value ...]
# Environment: CARRIED  folder with headers that the machine lacks (nlohmann, stb), default carry
#              OUT      where weights are to go when training ends, default out/train
#              TRAINER  a program that is there already instead of build/cuda/arrcoc_train (a trial on the CPU)
#              WAIT=1   stay until training ends, showing its progress
#              MEANS    with WAIT=1, shares of the run in answerer/realizer ("0/0,0.2/0.4,1/1"): afterwards means of the
#                       first weights (--init) and the new ones are measured on what is held aside, also where the
#                       guard refused the new ones; answers in means.jsonl, figures in means.txt
#              SCENES   held-out scenes of that measurement, default 200
# Progress: out/train/log.txt. Weights are replaced atomically at every evaluation; where the
# guard refused the new ones, they lie in refused/ and are copied instead (weights/ are the old ones again).
set -euo pipefail
cd "$(dirname "$0")/.."
config=${1:-configs/tiny.json}
shift || true
carried=${CARRIED:-$PWD/carry}
work=$PWD/out/train
target=${OUT:-$work}
mkdir -p "$work" "$target"

if [ -z "${TRAINER:-}" ] && { [ ! -x build/cuda/arrcoc_train ] || [ -n "${REBUILD:-}" ]; }; then
  torch=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')
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
  cp "$work"/log.txt "$work"/metrics.jsonl "$work"/means.* "$target"/ 2>/dev/null || true
  local kind=weights
  [ ! -d "$work/refused" ] || kind=refused
  [ -d "$work/$kind" ] || return 0
  rm -rf "$target/new"
  cp -r "$work/$kind" "$target/new" && rm -rf "$target/weights" "$target/refused" && mv "$target/new" "$target/$kind"
}

trainer_program=${TRAINER:-build/cuda/arrcoc_train}
rm -rf "$work/refused" "$work"/means.*
setsid nohup "$trainer_program" --config "$config" --out "$work" "$@" \
  >"$work/log.txt" 2>&1 </dev/null &
trainer=$!
echo "trainer $trainer, log $work/log.txt"
[ -n "${WAIT:-}" ] || exit 0
tail -n +1 -f --pid="$trainer" "$work/log.txt" &
while kill -0 "$trainer" 2>/dev/null; do
  sleep 20
  copy
done
status=0
wait "$trainer" || status=$?
copy
if [ $status -eq 0 ] && [ -n "${MEANS:-}" ]; then
  new=$work/weights
  [ ! -d "$work/refused" ] || new=$work/refused
  "$trainer_program" --config "$config" "$@" --measure "$work/means.jsonl" --run "$new" --means "$MEANS" \
    --held_out "${SCENES:-200}" 2>&1 | tee "$work/means.txt" || status=$?
  copy
fi
exit $status
