"""ask.py PICTURE QUESTION...: answers; the picture is seen once."""
import sys

import arrcoc

if len(sys.argv) < 3:
    sys.exit("usage: ask.py PICTURE QUESTION...")
try:
    picture = arrcoc.Picture(sys.argv[1])
    for question in sys.argv[2:]:
        answer = arrcoc.ask(picture, question)
        print(f"{question} {answer}{' (unsure)' if answer.unsure else ''}, "
              f"{answer.confidence:.0%} sure, {answer.token_count} of {answer.native_tokens} tokens")
except arrcoc.Error as problem:
    sys.exit(f"ask.py: {problem}")
