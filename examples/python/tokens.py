"""tokens.py PICTURE QUESTION OUT.npz: the patches that a model would read, with their places."""
import sys

import numpy as np

import arrcoc

if len(sys.argv) != 4:
    sys.exit("usage: tokens.py PICTURE QUESTION OUT.npz")
try:
    tokens = arrcoc.tokens(sys.argv[1], sys.argv[2], budget=180)
except arrcoc.Error as problem:
    sys.exit(f"tokens.py: {problem}")
np.savez(sys.argv[3], patches=tokens.patches, boxes=tokens.boxes, level=tokens.level,
         relevance=tokens.relevance)
print(f"{len(tokens)} tokens, levels {np.unique(tokens.level).tolist()}")
