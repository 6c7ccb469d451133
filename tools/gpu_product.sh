#!/usr/bin/env bash
# Builds ask, look, watch, serve, eval, bench, models and arrcoc_vlm_gpu on a machine with a GPU, PyTorch and
# little else (no OpenCV, Tesseract, ICU, OpenSSL, SQLite); tools/gpu_check.py then checks and times them.
#   tools/gpu_product.sh
# Environment: CARRIED  folder with headers that the machine lacks (nlohmann, stb, CLI, httplib.h: docs/packages.md
#                       says where from), default carry
#              TORCH    prefix of libtorch's CMake files, default that of python3's torch
#              BUILD    default build/cuda;  PRESET default cuda;  JOBS default 16
#              TARGETS  default arrcoc_bin arrcoc_lab_bin arrcoc_vlm_gpu
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/cuda}
mkdir -p "$build"
torch=${TORCH:-$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')}
generator=Ninja
command -v ninja >/dev/null || generator="Unix Makefiles"
cmake --preset "${PRESET:-cuda}" -B "$build" -G "$generator" -DCMAKE_PREFIX_PATH="$torch" \
  -DARRCOC_CARRIED="${CARRIED:-$PWD/carry}" >"$build/configure.txt" 2>&1 || { tail -30 "$build/configure.txt"; exit 1; }
grep -E "CUDA graphs|Torch|oneDNN|left out" "$build/configure.txt" || true
# Whatever fails, the rest is built: one call then shows all faults.
keep=$([ "$generator" = Ninja ] && echo "-k 0" || echo "-k")
# shellcheck disable=SC2086
cmake --build "$build" --target ${TARGETS:-arrcoc_bin arrcoc_lab_bin arrcoc_vlm_gpu} -j "${JOBS:-16}" -- $keep \
  >"$build/build.txt" 2>&1 || { grep -E -A5 "error|undefined" "$build/build.txt" | head -80; exit 1; }
"$build/arrcoc" ask examples/pictures/receipt.jpg "What is the total?"
