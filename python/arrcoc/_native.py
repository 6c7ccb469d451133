"""libarrcoc_c by ctypes: structs and functions as include/arrcoc/c.h declares them."""
from __future__ import annotations

import ctypes as c
import functools
import operator
import os
import pathlib
from typing import Any

_SONAME = "libarrcoc_c.so.0"


class Error(Exception):
    """What the library refused, in one line; `code` is "bad_argument", "not_found", ..."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def whole(value: Any, what: str, bits: int = 32) -> int:
    """A number as C takes it; ctypes would cut off what does not fit."""
    number = operator.index(value)
    if not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise Error("bad_argument", f"{what} is {number}, more than C can count")
    return number


class Box(c.Structure):
    _fields_ = [(name, c.c_float) for name in ("x0", "y0", "x1", "y1")]


class LoadParams(c.Structure):
    _fields_ = [("size", c.c_size_t), ("model", c.c_char_p), ("threads", c.c_int),
                ("mode", c.c_char_p), ("device", c.c_char_p), ("dtype", c.c_char_p),
                ("kernels", c.c_char_p)]


class PictureParams(c.Structure):
    _fields_ = [("size", c.c_size_t), ("max_megapixels", c.c_double), ("page", c.c_int),
                ("pdf_dpi", c.c_double), ("apart", c.c_int)]


class Pixels(c.Structure):
    _fields_ = [("data", c.c_void_p), ("width", c.c_int), ("height", c.c_int),
                ("row_stride", c.c_ssize_t), ("pixel_stride", c.c_ssize_t),
                ("channel_stride", c.c_ssize_t)]


class AskParams(c.Structure):
    _fields_ = [("size", c.c_size_t), ("policy", c.c_char_p), ("budget", c.c_char_p),
                ("options", c.c_char_p), ("passes", c.c_int), ("threshold", c.c_double),
                ("max_new_tokens", c.c_int64)]


class Summary(c.Structure):
    _fields_ = [("size", c.c_size_t), ("pictures", c.c_int), ("picture", c.c_int),
                ("tokens", c.c_int64), ("native_tokens", c.c_int64), ("read", c.c_int),
                ("confidence", c.c_double), ("calibrated", c.c_int), ("unsure", c.c_int),
                ("has_box", c.c_int), ("box", Box)]


class Map(c.Structure):
    _fields_ = [("rows", c.c_int), ("cols", c.c_int), ("cell_width", c.c_float),
                ("cell_height", c.c_float), ("values", c.c_void_p)]


class Region(c.Structure):
    _fields_ = [("box", Box), ("strength", c.c_float)]


class View(c.Structure):
    _fields_ = [("box", Box), ("width", c.c_int), ("height", c.c_int), ("tokens", c.c_int)]


class Token(c.Structure):
    _fields_ = [("box", Box), ("level", c.c_int), ("relevance", c.c_float)]


_handle, _out, _text, _size = c.c_void_p, c.POINTER(c.c_void_p), c.c_char_p, c.c_size_t
_counted = c.POINTER(c.c_size_t)

# Result and arguments of every function; c_int is an arrcoc_status unless said otherwise.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "arrcoc_version": (_text, []),
    "arrcoc_status_name": (_text, [c.c_int]),
    "arrcoc_last_error": (_text, []),
    "arrcoc_live_handles": (c.c_int64, []),
    "arrcoc_load_params_init": (c.c_int, [c.POINTER(LoadParams), _size]),
    "arrcoc_model_load": (c.c_int, [c.POINTER(LoadParams), _out]),
    "arrcoc_model_name": (_text, [_handle]),
    "arrcoc_model_free": (None, [_handle]),
    "arrcoc_picture_params_init": (c.c_int, [c.POINTER(PictureParams), _size]),
    "arrcoc_picture_from_file": (c.c_int, [_text, c.POINTER(PictureParams), _out]),
    "arrcoc_picture_from_bytes": (c.c_int, [_text, _size, c.POINTER(PictureParams), _out]),
    "arrcoc_picture_from_pixels": (c.c_int, [c.POINTER(Pixels), _out]),
    "arrcoc_picture_width": (c.c_int, [_handle]),  # pixels
    "arrcoc_picture_height": (c.c_int, [_handle]),  # pixels
    "arrcoc_picture_copy_rgb": (c.c_int, [_handle, c.c_void_p, _size]),
    "arrcoc_picture_free": (None, [_handle]),
    "arrcoc_ask_params_init": (c.c_int, [c.POINTER(AskParams), _size]),
    "arrcoc_ask": (c.c_int, [_handle, _handle, _text, c.POINTER(AskParams), _out]),
    "arrcoc_ask_several": (c.c_int, [_handle, _out, _size, _text, c.POINTER(AskParams), _out]),
    "arrcoc_look": (c.c_int, [_handle, _handle, _text, c.POINTER(AskParams), _out]),
    "arrcoc_answer_free": (None, [_handle]),
    "arrcoc_answer_summary": (c.c_int, [_handle, c.POINTER(Summary)]),
    "arrcoc_answer_text": (_text, [_handle]),
    "arrcoc_answer_json": (c.c_int, [_handle, c.c_int, _out]),
    "arrcoc_text_free": (None, [_handle]),
    "arrcoc_answer_map": (c.c_int, [_handle, c.c_int, c.POINTER(Map)]),
    "arrcoc_answer_regions": (c.c_int, [_handle, c.c_int, c.POINTER(Region), _size, _counted]),
    "arrcoc_answer_views": (c.c_int, [_handle, c.c_int, c.POINTER(View), _size, _counted]),
    "arrcoc_answer_view_rgb": (c.c_int, [_handle, c.c_int, c.c_int, c.c_void_p, _size]),
    "arrcoc_answer_tokens": (c.c_int, [_handle, c.c_int, _out]),
    "arrcoc_tokens_count": (_size, [_handle]),
    "arrcoc_tokens_list": (c.c_void_p, [_handle]),
    "arrcoc_tokens_patches": (c.c_void_p, [_handle]),
    "arrcoc_tokens_free": (None, [_handle]),
}


def _open() -> c.CDLL:
    named = os.environ.get("ARRCOC_LIBRARY")
    if named:
        return c.CDLL(named)
    lib = pathlib.Path(__file__).resolve().parents[3]  # PREFIX/lib of PREFIX/lib/python3/*-packages
    beside = [path for folder in (lib, *lib.glob("*-linux-gnu")) for path in [folder / _SONAME]
              if path.exists()]
    try:
        return c.CDLL(str(beside[0]) if beside else _SONAME)
    except OSError as problem:
        raise Error("not_found", f"{problem}: install libarrcoc or name it in ARRCOC_LIBRARY") from None


@functools.lru_cache(maxsize=None)
def library() -> c.CDLL:
    """The library, loaded when it is first needed."""
    # Idle OpenMP threads that spin for long take cores from others; read when libgomp is loaded.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "4000")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    out = _open()
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(out, name)
        function.restype, function.argtypes = result, arguments
    return out


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns a status; raises Error unless that is 0."""
    status = getattr(library(), name)(*arguments)
    if status != 0:
        raise Error(library().arrcoc_status_name(status).decode(),
                    library().arrcoc_last_error().decode(errors="replace"))


def make(name: str, *arguments: Any) -> int:
    """The same for functions whose last argument is a handle to be given out."""
    out = c.c_void_p()
    call(name, *arguments, c.byref(out))
    assert out.value is not None
    return out.value


def defaults(kind: type[Any], init: str) -> Any:
    out = kind()
    call(init, c.byref(out), c.sizeof(out))
    return out
