"""qwen_inputs.py PICTURE QUESTION: what Qwen's image processor of transformers makes of the relevant
views, beside the whole picture. Needs transformers and torch; downloads nothing."""
import sys

import arrcoc
from arrcoc.qwen import RelevantImageProcessor

try:
    from transformers import Qwen2VLImageProcessor
except ImportError:
    sys.exit("qwen_inputs.py: transformers is not installed")

if len(sys.argv) != 3:
    sys.exit("usage: qwen_inputs.py PICTURE QUESTION")
picture = arrcoc.Picture(sys.argv[1])
inner = Qwen2VLImageProcessor()
whole = inner(images=[picture.pixels()], return_tensors="np")
relevant = RelevantImageProcessor(inner, budget=128)(picture, sys.argv[2], return_tensors="np")
print("whole picture:", whole["image_grid_thw"].prod(axis=1).sum() // inner.merge_size**2, "tokens")
print("relevant:     ", relevant["image_grid_thw"].prod(axis=1).sum() // inner.merge_size**2, "tokens in",
      relevant["image_views"][0], "views")
