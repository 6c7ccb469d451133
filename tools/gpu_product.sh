#!/usr/bin/env bash
# Builds ask, look, watch, eval and bench on a machine with a GPU, PyTorch and little else (no OpenCV, Tesseract,
# ICU, HTTP), and asks the questions of ./run demo.
#   tools/gpu_product.sh
# Environment: CARRIED  folder with headers that the machine lacks (nlohmann, stb, CLI), default carry
#              TORCH    prefix of libtorch's CMake files, default that of python3's torch
#              BUILD    default build/cuda;  PRESET default cuda;  JOBS default 16
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build/cuda}
mkdir -p "$build"
torch=${TORCH:-$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')}
generator=Ninja
command -v ninja >/dev/null || generator="Unix Makefiles"
cmake --preset "${PRESET:-cuda}" -B "$build" -G "$generator" -DCMAKE_PREFIX_PATH="$torch" \
  -DARRCOC_CARRIED="${CARRIED:-$PWD/carry}" >"$build/configure.txt" 2>&1 || { tail -30 "$build/configure.txt"; exit 1; }
cmake --build "$build" --target arrcoc_bin arrcoc_lab_bin -j "${JOBS:-16}" >"$build/build.txt" 2>&1 ||
  { grep -E -A5 "error|undefined" "$build/build.txt" | head -60; exit 1; }
pictures=examples/pictures
"$build/arrcoc" ask $pictures/receipt.jpg "What is the total?"
"$build/arrcoc" ask $pictures/receipt.jpg "What is the date?"
"$build/arrcoc" ask $pictures/chart.jpg "What is the value of South Africa?"
"$build/arrcoc" ask $pictures/street.jpg "Which platform is this?"
