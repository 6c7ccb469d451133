#!/usr/bin/env bash
# A model of Hugging Face's hub by its name: examples/shell/pull.sh OWNER/NAME[@REVISION] [PICTURE] [QUESTION]
# HF_ENDPOINT, HF_TOKEN and HF_HOME mean what they mean to huggingface_hub (docs/models.md).
set -euo pipefail
model=${1:?usage: pull.sh OWNER/NAME[@REVISION] [PICTURE] [QUESTION]}
picture=${2:-$(dirname "$0")/../pictures/receipt.jpg}
question=${3:-What is the total?}
arrcoc=${ARRCOC:-arrcoc}

folder=$("$arrcoc" models pull "$model") # what is in the cache is not fetched again
echo "in $folder"
"$arrcoc" models info "$model"
"$arrcoc" ask --offline --model "$model" "$picture" "$question"
