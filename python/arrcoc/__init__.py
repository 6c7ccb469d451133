"""ARR-COC: only the visual tokens that a question needs.

    arrcoc.ask("receipt.jpg", "What is the total?").text   # '33.10'
    arrcoc.look(array, "What is the total?").map           # float32 [rows, cols]
    arrcoc.tokens(array, "What is the total?").patches     # uint8 [N, 3, 16, 16]

A picture is a file's path, the bytes of one, a Picture, or an array: uint8, [height, width, 3] RGB
or [height, width] grey, with any strides (it is read where it lies). Objects are immutable and may
be shared by threads; calls release the interpreter lock.
"""
from ._api import (Answer, Look, Model, Picture, Source, Tokens, View, ask, default_model, live_handles,
                   look, tokens, version)
from ._native import Error

__all__ = ["Answer", "Error", "Look", "Model", "Picture", "Source", "Tokens", "View", "ask",
           "default_model", "live_handles", "look", "tokens", "version"]
