#!/usr/bin/env python3
"""Writes tests/data/counts.json: tokens of pictures as other people's code counts them.

    tools/counts_reference.py --transformers DIR --vllm DIR --llama-cpp DIR > tests/data/counts.json

Each DIR is a checkout or a bare mirror of that repository (read with git show HEAD:...). The
functions that count are taken out of their files and run as they are; what they need of numpy or
of the class around them is a stand-in. llama.cpp's is compiled (g++). Rows: width, height, tokens.
A token is whatever stands in the prompt instead of the picture, as vLLM's usage counts it.
"""
import argparse
import ast
import functools
import json
import math
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace


class Repository:
    def __init__(self, name, url, folder):
        self.name, self.url, self.folder = name, url, folder
        self.commit = self.git("rev-parse", "HEAD").strip()

    def git(self, *words):
        return subprocess.run(["git", "-C", self.folder, *words], check=True, capture_output=True, text=True).stdout

    def file(self, path):
        return self.git("show", "HEAD:" + path)

    def take(self, path, *names, **given):
        """The named functions, methods (Class.method) and constants of a file, in one namespace."""
        space = {"math": math, "lru_cache": functools.lru_cache, **given}
        found = {}
        for node in ast.parse(self.file(path)).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node
            elif isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.FunctionDef):
                        found[node.name + "." + part.name] = part
        flags = __import__("__future__").annotations.compiler_flag
        for name in names:
            node = found[name]
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = [d for d in node.decorator_list if "lru_cache" in ast.dump(d)]
            code = compile(ast.Module([node], []), path, "exec", flags, True)
            exec(code, space)
        return SimpleNamespace(**{n.split(".")[-1]: space[n.split(".")[-1]] for n in names})


def sizes(unit, count=260, seed=17):
    """Widths and heights: extremes, edges of cells and tiles, halves, and anything."""
    rng = random.Random(seed * 1000 + unit)
    out = [(1, 1), (1, 2), (2, 1), (3, 5), (8000, 6000), (6000, 8000), (8000, 40), (40, 8000), (4000, 20),
           (200, 1), (1, 200), (1024, 1024), (1024, 768), (1920, 1080), (1080, 1920), (1280, 720), (640, 480),
           (3024, 4032), (384, 384), (385, 384), (448, 448), (512, 512), (513, 512), (768, 768), (769, 1), (896, 448)]
    for cells in (1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 48, 64, 127, 128):
        side = cells * unit
        out += [(side, side), (side - 1, side), (side + 1, side), (side, 2 * side), (side + unit // 2, side),
                (side, side + unit // 2), (side + unit // 2 + 1, side + unit // 2 - 1)]
    while len(out) < count:
        scale = 2 ** rng.uniform(0, 13)
        ratio = 2 ** rng.uniform(-3, 3) if rng.random() < 0.8 else 2 ** rng.uniform(-7.6, 7.6)
        out.append((min(8000, max(1, round(scale * ratio ** 0.5))), min(8000, max(1, round(scale / ratio ** 0.5)))))
    return [s for s in dict.fromkeys(out) if min(s) > 0]


def rows(unit, tokens):
    """Sizes that the code refuses are left out."""
    out = []
    for width, height in sizes(unit):
        try:
            out.append([width, height, int(tokens(width, height))])
        except ValueError:
            pass
    return out


MODELS = "src/transformers/models/"


def qwen(hf):
    path = MODELS + "qwen2_vl/image_processing_pil_qwen2_vl.py"
    code = hf.take(path, "smart_resize")

    def entry(family, patch, least, most, **more):
        def tokens(width, height):
            h, w = code.smart_resize(height, width, patch * 2, least, most)
            return (h // patch) * (w // patch) // 4
        return {"family": family, "source": path, "rows": rows(patch * 2, tokens), **more}
    yield entry("qwen2-vl", 14, 56 * 56, 28 * 28 * 16384)
    yield entry("qwen3-vl", 16, 65536, 16777216)
    yield entry("qwen3.5", 16, 65536, 16777216)
    yield entry("qwen2-vl", 14, 256 * 784, 1280 * 784,
                processor={"min_pixels": 256 * 784, "max_pixels": 1280 * 784, "patch_size": 14, "merge_size": 2})
    yield entry("qwen3-vl", 16, 4096, 262144, limits={"min_pixels": 4096, "max_pixels": 262144})
    yield entry("unknown", 16, 65536, 1 << 20, processor={
        "image_processor": {"image_processor_type": "Qwen2VLImageProcessorFast", "patch_size": 16, "merge_size": 2,
                            "size": {"shortest_edge": 65536, "longest_edge": 1 << 20}},
        "processor_class": "Qwen3VLProcessor"})


def gemma(hf, vllm):
    path = MODELS + "gemma4/image_processing_pil_gemma4.py"
    code = hf.take(path, "get_aspect_ratio_preserving_size")
    there = vllm.take("vllm/model_executor/models/gemma4_mm.py", "Gemma4ProcessingInfo._compute_num_soft_tokens")

    def tokens(width, height, most):
        h, w = code.get_aspect_ratio_preserving_size(height, width, 16, most * 9, 3)
        count = (h // 16) * (w // 16) // 9
        vision = SimpleNamespace(patch_size=16, pooling_kernel_size=3, default_output_length=most)
        fake = SimpleNamespace(get_hf_config=lambda: SimpleNamespace(vision_config=vision))
        if there._compute_num_soft_tokens(fake, width, height, most) != count:
            print(f"gemma4 {width}x{height} {most}: vLLM and transformers differ", file=sys.stderr)
        return count + 2  # <boi>, <eoi>: vLLM's get_image_repl
    for most in (280, 70, 140, 560, 1120):
        more = {} if most == 280 else {"processor": {"max_soft_tokens": most, "patch_size": 16, "pooling_kernel_size": 3}}
        yield {"family": "gemma4", "source": path, **more, "rows": rows(48, lambda w, h: tokens(w, h, most))}
    # "\n\n<start_of_image>" 256 times "<image_soft_token>" "<end_of_image>\n\n": each of these one token.
    yield {"family": "gemma3", "source": MODELS + "gemma3/processing_gemma3.py",
           "rows": [[w, h, 260] for w, h in ((1, 1), (896, 896), (8000, 6000), (40, 8000))]}


def llava(hf):
    best = hf.take("src/transformers/image_processing_utils.py", "select_best_resolution").select_best_resolution
    yield {"family": "llava-1.5", "source": MODELS + "llava/processing_llava.py",
           "rows": [[w, h, 576] for w, h in ((1, 1), (336, 336), (8000, 6000))]}
    path = MODELS + "llava_next/processing_llava_next.py"
    code = hf.take(path, "LlavaNextProcessor._get_number_of_features", "LlavaNextProcessor._get_unpadded_features",
                   select_best_resolution=best)

    def next_entry(points, **more):
        fake = SimpleNamespace(image_processor=SimpleNamespace(image_grid_pinpoints=points), patch_size=14,
                               num_additional_image_tokens=1)
        fake._get_unpadded_features = functools.partial(code._get_unpadded_features, fake)
        return {"family": "llava-next", "source": path, **more,
                "rows": rows(336, lambda w, h: code._get_number_of_features(fake, h, w, 336, 336) - 1)}
    yield next_entry([[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]])
    many = [[336 * i, 336 * j] for i in range(1, 4) for j in range(1, 5)]
    yield next_entry(many, processor={"image_grid_pinpoints": many, "size": {"shortest_edge": 336}})
    path = MODELS + "llava_onevision/processing_llava_onevision.py"
    over = hf.take(path, "LlavaOnevisionProcessor._get_number_of_features",
                   "LlavaOnevisionProcessor._get_unpadded_features", select_best_resolution=best)
    points = [[384 * i, 384 * j] for i in range(1, 7) for j in range(1, 7)]
    for most in (9, 4):
        fake = SimpleNamespace(image_processor=SimpleNamespace(image_grid_pinpoints=points), num_image_tokens=729,
                               vision_aspect_ratio=f"anyres_max_{most}")
        fake._get_unpadded_features = functools.partial(over._get_unpadded_features, fake)
        more = {} if most == 9 else {"processor": {"vision_aspect_ratio": "anyres_max_4"}}
        yield {"family": "llava-onevision", "source": path, **more,
               "rows": rows(384, lambda w, h: over._get_number_of_features(fake, h, w, 384, 384))}


def internvl(hf, vllm):
    path = MODELS + "got_ocr2/image_processing_pil_got_ocr2.py"
    code = hf.take(path, "get_all_supported_aspect_ratios", "get_optimal_tiled_canvas",
                   "GotOcr2ImageProcessorPil.get_number_of_image_patches")
    there = vllm.take("vllm/transformers_utils/processors/internvl.py", "find_closest_aspect_ratio",
                      "get_internvl_target_ratios", "calculate_internvl_targets")

    def entry(most, **more):
        fake = SimpleNamespace(min_patches=1, max_patches=most, size={"height": 448, "width": 448}, crop_to_patches=False)
        ratios = there.get_internvl_target_ratios(1, most)

        def tokens(width, height):
            tiles = code.get_number_of_image_patches(fake, height, width, {"crop_to_patches": True})
            other, _, _ = there.calculate_internvl_targets(orig_width=width, orig_height=height, target_ratios=ratios,
                                                           image_size=448, use_thumbnail=True)
            if other != tiles:
                print(f"internvl {width}x{height}: vLLM {other}, transformers {tiles}", file=sys.stderr)
            return 2 + 256 * tiles  # processing_internvl.py: "Add 2 for BOI and EOI tokens"
        return {"family": "internvl", "source": path, **more, "rows": rows(448, tokens)}
    yield entry(12)
    yield entry(6, processor={"size": {"height": 448, "width": 448}, "min_patches": 1, "max_patches": 6})


def placeholders(text):
    """Tokens of a prompt that is nothing but special tokens and line breaks; "\\n\\n" is one."""
    return len(re.findall(r"<[^<>]+>|\[[A-Z_]+\]|\n\n|\n", text))


def ovis(hf):
    path = MODELS + "ovis2/image_processing_pil_ovis2.py"
    code = hf.take(path, "get_all_supported_aspect_ratios", "compute_patch_covering_area", "split_image_into_grid",
                   "get_min_tile_covering_grid")
    text = hf.take(MODELS + "ovis2/processing_ovis2.py", "Ovis2Processor.replace_image_token")

    def entry(side, most, **more):
        def tokens(width, height):
            cols, lines = code.get_min_tile_covering_grid((height, width), target_patch_size=side, max_image_tiles=most)
            grid = SimpleNamespace(tolist=lambda: [lines, cols])
            return placeholders(text.replace_image_token(SimpleNamespace(image_seq_length=256), {"grids": [grid]}, 0))
        return {"family": "ovis2", "source": path, **more, "rows": rows(side, tokens)}
    yield entry(448, 9)
    yield entry(448, 12, processor={"crop_to_patches": True, "max_patches": 12, "size": {"height": 448, "width": 448}})


def pixtral(hf):
    path = MODELS + "pixtral/image_processing_pil_pixtral.py"
    code = hf.take(path, "_num_image_tokens", "get_resize_output_image_size", get_image_size=lambda size, _: size)
    text = hf.take(MODELS + "pixtral/processing_pixtral.py", "PixtralProcessor.replace_image_token")

    def entry(family, patch, merge, edge, **more):
        fake = SimpleNamespace(patch_size=patch, spatial_merge_size=merge, image_token="[IMG]",
                               image_break_token="[IMG_BREAK]", image_end_token="[IMG_END]")

        def tokens(width, height):
            size = code.get_resize_output_image_size((height, width), (edge, edge), (patch * merge, patch * merge))
            if min(size) == 0:
                raise ValueError("nothing is left")
            return placeholders(text.replace_image_token(fake, {"image_sizes": [size]}, 0))
        return {"family": family, "source": path, **more, "rows": rows(patch * merge, tokens)}
    yield entry("pixtral", 16, 1, 1024)
    yield entry("mistral3", 14, 2, 1540)
    yield entry("pixtral", 14, 2, 700, processor={"patch_size": 14, "spatial_merge_size": 2, "image_processor": {
        "size": {"longest_edge": 700}, "patch_size": {"height": 14, "width": 14}}})


def idefics(hf):
    path = MODELS + "idefics3/image_processing_pil_idefics3.py"
    code = hf.take(path, "MAX_IMAGE_SIZE", "_resize_output_size_rescale_to_max_len",
                   "_resize_output_size_scale_below_upper_bound", "Idefics3ImageProcessorPil.get_number_of_image_patches")
    text = hf.take(MODELS + "idefics3/processing_idefics3.py", "Idefics3Processor.replace_image_token")

    def entry(family, tile, length, edge, split=True, **more):
        fake = SimpleNamespace(do_image_splitting=split, max_image_size={"longest_edge": tile}, size={"longest_edge": edge})
        words = SimpleNamespace(image_seq_len=length, fake_image_token="<fake>", image_token="<image>",
                                global_image_tag="<global-img>")

        def tokens(width, height):
            _, lines, cols = code.get_number_of_image_patches(fake, height, width)
            return placeholders(text.replace_image_token(words, {"rows": [[lines]], "cols": [[cols]]}, 0))
        return {"family": family, "source": path, **more, "rows": rows(tile, tokens)}
    yield entry("idefics3", 364, 169, 4 * 364)
    yield entry("smolvlm", 384, 81, 4 * 384)
    yield entry("smolvlm-small", 512, 64, 4 * 512)
    yield entry("smolvlm", 384, 81, 768, processor={"size": {"longest_edge": 768}, "max_image_size": {"longest_edge": 384}})
    yield entry("idefics3", 364, 169, 8 * 364, processor={"size": {"longest_edge": 8 * 364}})
    yield entry("smolvlm", 384, 81, 1536, False, processor={"do_image_splitting": False, "image_seq_len": 81})


def deepseek(vllm):
    tiles = "vllm/transformers_utils/processors/deepseek_ocr.py"
    crops = vllm.take(tiles, "BASE_SIZE", "IMAGE_SIZE", "CROP_MODE", "MIN_CROPS", "MAX_CROPS", "find_closest_aspect_ratio",
                      "calculate_aspect_ratios", "count_tiles")
    path = "vllm/model_executor/models/deepseek_ocr.py"
    one = vllm.take(path, "DeepseekOCRProcessingInfo.get_num_image_tokens", count_tiles=crops.count_tiles,
                    IMAGE_SIZE=crops.IMAGE_SIZE, BASE_SIZE=crops.BASE_SIZE)
    yield {"family": "deepseek-ocr", "source": path,
           "rows": rows(640, lambda w, h: one.get_num_image_tokens(None, image_width=w, image_height=h))}
    path = "vllm/model_executor/models/deepseek_ocr2.py"
    two = vllm.take(path, "IMAGE_SIZE", "DeepseekOCR2ProcessingInfo.get_num_image_tokens", count_tiles=crops.count_tiles,
                    BASE_SIZE=crops.BASE_SIZE, CROP_MODE=crops.CROP_MODE)
    yield {"family": "deepseek-ocr-2", "source": path,
           "rows": rows(768, lambda w, h: two.get_num_image_tokens(None, image_width=w, image_height=h))}


def llama_cpp(repository):
    path = "tools/mtmd/mtmd-image.cpp"
    text = repository.file(path)
    begin = text.index("struct calc_size_opt {")
    end = text.index("// draw src image into dst image", begin)
    program = """
#include <algorithm>
#include <cmath>
#include <cstdio>
#define GGML_ASSERT(x)
struct clip_image_size { int width, height; };
struct img_tool {
""" + text[begin:end] + """};
int main(int, char** argv) {
  int align = atoi(argv[1]), least = atoi(argv[2]), most = atoi(argv[3]), w, h;
  while (scanf("%d %d", &w, &h) == 2) {
    auto s = img_tool::calc_size_preserved_ratio({w, h}, {align, least * align * align, most * align * align, 0});
    printf("%d %d\\n", s.width / align, s.height / align);
  }
}"""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder) / "size.cpp", Path(folder) / "size"
        source.write_text("#include <cstdlib>\n" + program)
        subprocess.run(["g++", "-std=c++17", "-O2", "-o", binary, source], check=True)

        def entry(family, unit, least, most, tokens, **limits):
            pairs = sizes(unit)
            lines = subprocess.run([binary, str(unit), str(limits.get("min_tokens", least)),
                                    str(limits.get("max_tokens", most))], check=True, capture_output=True, text=True,
                                   input="".join(f"{w} {h}\n" for w, h in pairs)).stdout.split("\n")
            out = [[w, h, tokens(*map(int, line.split()))] for (w, h), line in zip(pairs, lines)]
            return {"family": family, "source": path, "llama_cpp": True, "limits": limits, "rows": out}

        def area(cols, lines):
            return cols * lines
        for family, unit in (("qwen2-vl", 28), ("qwen3-vl", 32), ("qwen3.5", 32)):
            yield entry(family, unit, 8, 4096, area)  # clip.cpp: set_limit_image_tokens(8, 4096)
            yield entry(family, unit, 8, 4096, area, min_tokens=1024)
        yield entry("qwen3-vl", 32, 8, 4096, area, min_tokens=100, max_tokens=700)
        yield entry("pixtral", 16, 8, 1024, lambda c, r: c * r + r - 1 + 1)  # clip_n_output_tokens and [IMG_END]
        yield entry("mistral3", 28, 8, 1024, lambda c, r: c * r + r - 1 + 1)
        yield entry("gemma4", 48, 40, 280, lambda c, r: c * r + 2)  # mtmd.cpp: img_beg, img_end
        yield entry("gemma4", 48, 40, 280, lambda c, r: c * r + 2, max_tokens=70)


def documents():
    """Examples of the documents of paid APIs, and their formula by hand where they give none (Claude)."""
    openai = "https://developers.openai.com/api/docs/guides/images-vision"
    anthropic = "https://platform.claude.com/docs/en/build-with-claude/vision"
    google = "https://ai.google.dev/gemini-api/docs/image-understanding"
    yield {"family": "gpt-4o", "source": openai, "rows": [[1024, 1024, 765], [2048, 4096, 1105]]}
    yield {"family": "gpt-4o", "source": openai, "detail": "low", "rows": [[4096, 8192, 85]]}
    yield {"family": "gpt-5", "source": openai, "rows": [[1024, 1024, 630]]}
    yield {"family": "gpt-mini", "source": openai, "rows": [[1024, 1024, 1659], [1800, 2400, 2353]]}  # 1024, 1452 patches
    yield {"family": "claude", "source": anthropic, "rows": [[200, 200, 64], [1000, 1000, 1296], [1092, 1092, 1521],
                                                             [1920, 1080, 1560]]}
    yield {"family": "claude-high", "source": anthropic, "rows": [[1000, 1000, 1296], [1920, 1080, 2691]]}
    yield {"family": "gemini", "source": google, "rows": [[384, 384, 258], [960, 540, 1548]]}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--transformers", "--vllm", "--llama-cpp"):
        arguments.add_argument(name, required=True, metavar="DIR")
    given = arguments.parse_args()
    hf = Repository("transformers", "https://github.com/huggingface/transformers", given.transformers)
    vllm = Repository("vllm", "https://github.com/vllm-project/vllm", given.vllm)
    cpp = Repository("llama.cpp", "https://github.com/ggml-org/llama.cpp", given.llama_cpp)
    entries = []
    for repository, made in ((hf, qwen(hf)), (hf, gemma(hf, vllm)), (hf, llava(hf)), (hf, internvl(hf, vllm)), (hf, ovis(hf)),
                             (hf, pixtral(hf)), (hf, idefics(hf)), (vllm, deepseek(vllm)), (cpp, llama_cpp(cpp)),
                             (None, documents())):
        for entry in made:
            entries.append({"repository": repository.name if repository else "document", **entry})
    about = {r.name: {"url": r.url, "commit": r.commit} for r in (hf, vllm, cpp)}
    print('{"made_by": "tools/counts_reference.py", "repositories": ' + json.dumps(about) + ', "counts": [')
    print(",\n".join(json.dumps(e, separators=(",", ":")) for e in entries))
    print("]}")
    print(sum(len(e["rows"]) for e in entries), "rows", file=sys.stderr)


if __name__ == "__main__":
    main()
