#!/bin/sh
# install.sh PYTHON PACKAGE WORK EXAMPLES: the package into a fresh virtual environment, without a network
# and without building what it needs; then the examples, from elsewhere, with nothing of the sources.
set -eu
python=$1 package=$2 work=$3 examples=$4
rm -rf "$work"
mkdir -p "$work"
cp -r "$package" "$work/package"  # pip builds where the sources lie
cd "$work"
"$python" -m venv --system-site-packages v
v/bin/pip install --quiet --no-index --no-build-isolation --no-deps ./package
case $(v/bin/python -c 'import arrcoc; print(arrcoc.__file__)') in
  "$work"/v/*) ;;
  *) echo "another arrcoc was imported" >&2; exit 1 ;;
esac
test -f v/lib/python3*/site-packages/arrcoc/py.typed

must_say() { grep -Eq "$1" said || { echo "wanted $1, got:" >&2; cat said >&2; exit 1; }; }
receipt=$examples/pictures/receipt.jpg
v/bin/python "$examples/python/ask.py" "$receipt" "What is the total?" "What is the date?" >said
must_say 'total\? 33\.10'
v/bin/python "$examples/python/map.py" "$receipt" "What is the total?" map.npy >said
must_say 'most relevant: x 0\.[0-9]+, y 0\.[0-9]+'
v/bin/python "$examples/python/tokens.py" "$receipt" "What is the total?" tokens.npz >said
must_say '^1[0-9]{2} tokens, levels \['
v/bin/python -c 'import numpy as n; m = n.load("map.npy"); t = n.load("tokens.npz"); assert m.ndim == 2 and len(t["patches"]) == len(t["boxes"])'
for example in ask map tokens; do
  if v/bin/python "$examples/python/$example.py" nowhere.jpg "What?" out.npy 2>said; then exit 1; fi
  must_say "^$example.py: .*nowhere.jpg"
done
if v/bin/python -c 'import transformers' 2>/dev/null; then
  v/bin/python "$examples/python/qwen_inputs.py" "$receipt" "What is the total?" >said
  must_say 'relevant: +[0-9]+ tokens in [1-4] views'
else
  if v/bin/python "$examples/python/qwen_inputs.py" "$receipt" "What?" 2>said; then exit 1; fi
  must_say 'transformers is not installed'
fi
v/bin/pip uninstall --quiet --yes arrcoc
if v/bin/python -c 'import arrcoc' 2>/dev/null; then echo "still there after uninstall" >&2; exit 1; fi
