#!/usr/bin/env bash
# tools/arm64_check.sh [FOLDER...]: does the core compile for ARM64? Every source of the rooms that need nothing but
# libtorch, JSON and ICU (or of the folders that are named) goes through Debian's g++-aarch64-linux-gnu as far as the
# object file. Headers of libraries are those of this machine: they are the same for every architecture. Nothing is
# linked or run, since Debian's cross toolchain brings no libtorch for ARM64; media, serve and cli are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
compiler=aarch64-linux-gnu-g++-12
command -v $compiler >/dev/null || { echo "arm64_check: install g++-aarch64-linux-gnu" >&2; exit 1; }
[ -f build/release/generated/arrcoc/version.h ] || { echo "arm64_check: configure build/release first" >&2; exit 1; }
if [ $# -eq 0 ]; then
  set -- src/base src/query src/picture src/look src/look/* src/allocate src/tokens src/ask src/film \
    src/models/weights src/models/tiny src/models/tokenizers src/models/hf
fi
# Not all of /usr/include: the C library there is not ARM64's.
headers=build/arm64/include
mkdir -p $headers
for library in ATen c10 caffe2 torch gflags glog nlohmann unicode; do ln -sfn /usr/include/$library $headers/$library; done
count=0 failed=0
for folder in "$@"; do
  for source in "$folder"/*.cpp; do
    [ -f "$source" ] || continue
    count=$((count + 1))
    $compiler -std=c++20 -O1 -fPIC -fopenmp -w -Isrc -I. -Iinclude -Ibuild/release/generated -isystem $headers \
      -isystem $headers/torch/csrc/api/include -D_GLIBCXX_USE_CXX11_ABI=1 -c "$source" -o build/arm64/last.o ||
      { failed=$((failed + 1)); echo "arm64_check: $source does not compile" >&2; }
  done
done
echo "$count sources, $failed failed"
[ $count -gt 0 ] && [ $failed -eq 0 ]
