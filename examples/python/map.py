"""map.py PICTURE QUESTION OUT.npy: the relevance map as a numpy array."""
import sys

import numpy as np

import arrcoc

if len(sys.argv) != 4:
    sys.exit("usage: map.py PICTURE QUESTION OUT.npy")
try:
    picture = arrcoc.Picture(sys.argv[1])
    seen = arrcoc.look(picture, sys.argv[2])
except arrcoc.Error as problem:
    sys.exit(f"map.py: {problem}")
np.save(sys.argv[3], seen.map)
row, column = np.unravel_index(np.argmax(seen.map), seen.map.shape)
print(f"{seen.token_count} of {seen.native_tokens} tokens; most relevant: "
      f"x {(column + 0.5) / seen.map.shape[1]:.2f}, y {(row + 0.5) / seen.map.shape[0]:.2f}")
for box, strength in seen.regions():
    print("region", [round(side) for side in box], f"{strength:.2f}")
