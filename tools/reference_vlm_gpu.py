#!/usr/bin/env python3
"""Times the reference implementation (transformers) beside arrcoc_vlm_gpu.

The same configuration with random weights, bfloat16, sdpa attention, every visual token. The time
runs from pixel values on the GPU to the first token's id on the host (the column "from pixels" of
arrcoc_vlm_gpu): the leanest way in, logits for the last position only; and, as people call it,
through generate(max_new_tokens=1).

    python3 tools/reference_vlm_gpu.py --config configs/qwen3_vl_2b.json --sizes 1024,2048
"""

import argparse
import inspect
import json
import statistics
import time

import torch
import transformers


def build(path, device, dtype):
    with open(path, encoding="utf-8") as file:
        settings = json.load(file)
    config = transformers.Qwen3VLConfig(**settings)
    config._attn_implementation = "sdpa"
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            model = transformers.Qwen3VLForConditionalGeneration(config)
    finally:
        torch.set_default_dtype(before)
    return model.to(device=device, dtype=dtype).eval(), config


def inputs_of(model, config, side, device, dtype):
    vision = config.vision_config
    rows = side // vision.patch_size
    width = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
    tokens = (rows // vision.spatial_merge_size) ** 2
    words = [11, 12, 13, 14]
    question = list(range(20, 44))
    picture = [config.vision_start_token_id] + [config.image_token_id] * tokens
    ids = torch.tensor([words + picture + [config.vision_end_token_id] + question], device=device)
    out = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "pixel_values": torch.rand(rows * rows, width, device=device).to(dtype),
        "image_grid_thw": torch.tensor([[1, rows, rows]], device=device),
    }
    # Newer releases want to be told which places are pictures.
    if "mm_token_type_ids" in inspect.signature(model.forward).parameters:
        out["mm_token_type_ids"] = (ids == config.image_token_id).int()
    return out, tokens


def first_token(model, inputs):
    output = model(**inputs, use_cache=True, logits_to_keep=1)
    return output.logits[0, -1].argmax().item()


def generated(model, inputs):
    output = model.generate(**inputs, max_new_tokens=1, do_sample=False)
    return output[0, -1].item()


def median(work, repeats, cuda):
    times = []
    for i in range(3 + repeats):
        if cuda:
            torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        if i >= 3:
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def measure(model, config, side, args, dtype):
    inputs, tokens = inputs_of(model, config, side, args.device, dtype)
    cuda = args.device.startswith("cuda")
    row = {"size": side, "mode": "reference", "tokens": tokens}
    row["from_pixels_ms"] = median(lambda: first_token(model, inputs), args.repeats, cuda)
    if cuda:
        weights = sum(p.numel() * p.element_size() for p in model.parameters())
        torch.cuda.reset_peak_memory_stats()
        first_token(model, inputs)
        row["peak_bytes"] = torch.cuda.max_memory_allocated()
        row["peak_without_weights_bytes"] = row["peak_bytes"] - weights
    try:
        row["generate_ms"] = median(lambda: generated(model, inputs), args.repeats, cuda)
    except Exception as error:  # the leanest way in is the one that is compared
        row["generate_error"] = f"{type(error).__name__}: {error}"
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="configs/qwen3_vl_2b.json")
    parser.add_argument("--sizes", default="1024,2048")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", default="")
    args = parser.parse_args()
    dtype = torch.bfloat16 if args.device.startswith("cuda") else torch.float32
    report = {"torch": torch.__version__, "transformers": transformers.__version__, "rows": []}
    with torch.inference_mode():
        model, config = build(args.config, args.device, dtype)
        for side in map(int, args.sizes.split(",")):
            report["rows"].append(measure(model, config, side, args, dtype))
            print(json.dumps(report["rows"][-1]), flush=True)
    text = json.dumps(report)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text)


if __name__ == "__main__":
    main()
