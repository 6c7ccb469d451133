"""Models, pictures and answers over the handles of the C library."""
from __future__ import annotations

import ctypes as c
import functools
import json
import os
import weakref
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._native import call, make, whole

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
BoxTuple = tuple[float, float, float, float]

_TOKEN = np.dtype([("box", np.float32, 4), ("level", np.int32), ("relevance", np.float32)])
_MOST_REGIONS = 64


class _Handle:
    """A handle of the library, freed with this object."""

    def __init__(self, pointer: int, free: str) -> None:
        self._pointer = pointer
        weakref.finalize(self, getattr(native.library(), free), pointer)


class _Memory:
    """Memory of the library as an array that may only be read; keeps its owner alive."""

    def __init__(self, owner: object, address: Optional[int], shape: tuple[int, ...], kind: str) -> None:
        self._owner = owner
        self.__array_interface__ = {"data": (address or 0, True), "shape": shape, "typestr": kind,
                                    "version": 3}


def _box(box: Any) -> BoxTuple:
    return (box.x0, box.y0, box.x1, box.y1)


def _encoded(text: Optional[str], what: str) -> Optional[bytes]:
    if text is None:
        return None
    if "\0" in text:
        raise native.Error("bad_argument", f"{what} has a zero byte in it")
    return text.encode(errors="surrogatepass")


def _path(path: Union[str, bytes, "os.PathLike[str]"], what: str) -> bytes:
    out = os.fsencode(path)
    if b"\0" in out:
        raise native.Error("bad_argument", f"{what} has a zero byte in it")
    return out


class Picture(_Handle):
    """Decoded pixels."""

    def __init__(self, source: "Source", *, page: int = 1, max_megapixels: float = 100,
                 apart: bool = False) -> None:
        if isinstance(source, (str, os.PathLike, bytes)):
            params = native.defaults(native.PictureParams, "arrcoc_picture_params_init")
            params.page, params.max_megapixels, params.apart = whole(page, "page"), max_megapixels, apart
            if isinstance(source, bytes):
                made = make("arrcoc_picture_from_bytes", source, len(source), c.byref(params))
            else:
                made = make("arrcoc_picture_from_file", _path(source, "the path"), c.byref(params))
        else:
            made = make("arrcoc_picture_from_pixels", c.byref(_pixels(source)))
        super().__init__(made, "arrcoc_picture_free")

    @property
    def width(self) -> int:
        return int(native.library().arrcoc_picture_width(self._pointer))

    @property
    def height(self) -> int:
        return int(native.library().arrcoc_picture_height(self._pointer))

    def pixels(self) -> Bytes:
        """uint8 [height, width, 3], a copy."""
        out = np.empty((self.height, self.width, 3), np.uint8)
        call("arrcoc_picture_copy_rgb", self._pointer, out.ctypes.data, out.nbytes)
        return out


Source = Union[str, "os.PathLike[str]", bytes, Picture, npt.ArrayLike]


def _pixels(source: Any) -> native.Pixels:
    array = np.asarray(source)
    if array.dtype != np.uint8:
        raise TypeError(f"a picture is an array of uint8, not of {array.dtype}")
    if array.ndim == 2:
        array = np.broadcast_to(array[..., None], (*array.shape, 3))
    if array.ndim != 3 or array.shape[2] != 3:
        raise ValueError(f"a picture is [height, width, 3] or [height, width], not {array.shape}")
    out = native.Pixels(array.ctypes.data, whole(array.shape[1], "the width"),
                        whole(array.shape[0], "the height"), *array.strides)
    out.array = array  # lives as long as it is looked at
    return out


def _picture(source: Source) -> Picture:
    return source if isinstance(source, Picture) else Picture(source)


class View(NamedTuple):
    """A rectangle of the picture as it is to be shown."""
    box: BoxTuple
    pixels: Bytes  # [height, width, 3]
    tokens: int


class Tokens:
    """The patches that a model would read, in raster order. Arrays are views of the library's memory."""

    def __init__(self, answer: "Look", picture: int) -> None:
        # The arrays hold the handle and not this object: numpy's arrays are no part of the garbage
        # collection, so that a circle through one is never freed.
        handle = _Handle(make("arrcoc_answer_tokens", answer._pointer, whole(picture, "picture")),
                         "arrcoc_tokens_free")
        library, pointer = native.library(), handle._pointer
        count = int(library.arrcoc_tokens_count(pointer))
        table = np.asarray(_Memory(handle, library.arrcoc_tokens_list(pointer), (count,),
                                   f"|V{_TOKEN.itemsize}")).view(_TOKEN)
        self.boxes: Floats = table["box"]  # [N, 4], pixels of the picture
        self.level: npt.NDArray[np.int32] = table["level"]
        self.relevance: Floats = table["relevance"]
        self.patches: Bytes = np.asarray(_Memory(handle, library.arrcoc_tokens_patches(pointer),
                                                 (count, 3, 16, 16), "|u1"))

    def __len__(self) -> int:
        return len(self.level)


class Look(_Handle):
    """Where the tokens of a question go."""

    def __init__(self, pointer: int) -> None:
        super().__init__(pointer, "arrcoc_answer_free")
        self._summary = native.Summary(size=c.sizeof(native.Summary))
        call("arrcoc_answer_summary", pointer, c.byref(self._summary))

    @property
    def token_count(self) -> int:
        return int(self._summary.tokens)

    @property
    def native_tokens(self) -> int:
        return int(self._summary.native_tokens)

    @property
    def map(self) -> Floats:
        return self.map_of(int(self._summary.picture))

    def map_of(self, picture: int) -> Floats:
        """The relevance map of one picture, float32 [rows, cols] in [0, 1]: an array of its own."""
        out = native.Map()
        call("arrcoc_answer_map", self._pointer, whole(picture, "picture"), c.byref(out))
        return np.array(_Memory(self, out.values, (out.rows, out.cols), "<f4"))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> npt.NDArray[Any]:
        if copy is False:  # numpy 2 asks
            raise ValueError("a map is always a copy")
        return self.map if dtype is None else self.map.astype(dtype)

    def regions(self, most: int = 4, picture: int = 0) -> list[tuple[BoxTuple, float]]:
        """Rectangles around what stands out, strongest first, with their strengths."""
        room, count = (native.Region * min(max(most, 0), _MOST_REGIONS))(), c.c_size_t()
        call("arrcoc_answer_regions", self._pointer, whole(picture, "picture"), room, len(room), c.byref(count))
        return [(_box(region.box), region.strength) for region in room[:count.value]]

    def tokens(self, picture: int = 0) -> Tokens:
        return Tokens(self, picture)

    def views(self, picture: int = 0) -> list[View]:
        """With allocator="zoom": a glance and rectangles, each with its pixels."""
        count, picture = c.c_size_t(), whole(picture, "picture")
        call("arrcoc_answer_views", self._pointer, picture, None, 0, c.byref(count))
        room = (native.View * count.value)()
        call("arrcoc_answer_views", self._pointer, picture, room, len(room), c.byref(count))
        out = []
        for i, view in enumerate(room):
            pixels = np.empty((view.height, view.width, 3), np.uint8)
            call("arrcoc_answer_view_rgb", self._pointer, picture, i, pixels.ctypes.data, pixels.nbytes)
            out.append(View(_box(view.box), pixels, view.tokens))
        return out

    def json(self, details: bool = False) -> Any:
        """What `arrcoc ask --json` prints, as a dict; with details leaves and maps too."""
        text = make("arrcoc_answer_json", self._pointer, int(details))
        try:
            return json.loads(c.string_at(text))
        finally:
            native.library().arrcoc_text_free(text)


class Answer(Look):
    """A Look that was read."""

    @property
    def text(self) -> str:
        return bytes(native.library().arrcoc_answer_text(self._pointer)).decode(errors="replace")

    @property
    def picture(self) -> int:
        """Whose answer it is, from 0."""
        return int(self._summary.picture)

    @property
    def confidence(self) -> float:
        return float(self._summary.confidence)

    @property
    def calibrated(self) -> bool:
        return bool(self._summary.calibrated)

    @property
    def unsure(self) -> bool:
        return bool(self._summary.unsure)

    @property
    def box(self) -> Optional[BoxTuple]:
        return _box(self._summary.box) if self._summary.has_box else None

    def __str__(self) -> str:
        return self.text


def _ask_params(policy: Optional[str], budget: Union[int, str, None], passes: int,
                threshold: Optional[float], max_new_tokens: int, options: dict[str, Any]) -> Any:
    out = native.defaults(native.AskParams, "arrcoc_ask_params_init")
    out.policy = _encoded(policy, "policy")
    out.budget = _encoded(None if budget is None else str(budget), "budget")
    out.options = json.dumps(options).encode() if options else None
    out.passes = whole(passes, "passes")
    out.max_new_tokens = whole(max_new_tokens, "max_new_tokens", 64)
    if threshold is not None:
        out.threshold = threshold
    return out


class Model(_Handle):
    """The bundled model, or a folder: other weights of it, or a Hugging Face checkpoint. Or its name,
    OWNER/NAME[@REVISION], where it is in the hub's cache: nothing is fetched here."""

    def __init__(self, folder: Union[str, "os.PathLike[str]", None] = None, *, threads: int = 0,
                 mode: str = "auto", device: str = "cpu", dtype: Optional[str] = None,
                 kernels: str = "auto") -> None:
        params = native.defaults(native.LoadParams, "arrcoc_load_params_init")
        params.model = None if folder is None else _path(folder, "the folder")
        params.threads, params.mode = whole(threads, "threads"), _encoded(mode, "mode")
        params.device, params.dtype = _encoded(device, "device"), _encoded(dtype, "dtype")
        params.kernels = _encoded(kernels, "kernels")
        super().__init__(make("arrcoc_model_load", c.byref(params)), "arrcoc_model_free")

    @property
    def name(self) -> str:
        return bytes(native.library().arrcoc_model_name(self._pointer)).decode()

    def ask(self, source: Union[Source, Sequence[Picture]], question: str, *, policy: Optional[str] = None,
            budget: Union[int, str, None] = None, passes: int = 0, threshold: Optional[float] = None,
            max_new_tokens: int = 0, **options: Any) -> Answer:
        """The answer. Several pictures are given as a list of Picture; options as `arrcoc look
        --config` names them."""
        params = _ask_params(policy, budget, passes, threshold, max_new_tokens, options)
        several = isinstance(source, (list, tuple)) and all(isinstance(one, Picture) for one in source)
        pictures: list[Picture] = list(source) if several else [_picture(source)]  # type: ignore
        handles = (c.c_void_p * len(pictures))(*[one._pointer for one in pictures])
        return Answer(make("arrcoc_ask_several", self._pointer, handles, len(pictures),
                           _encoded(question, "question"), c.byref(params)))

    def look(self, source: Source, question: str, *, policy: Optional[str] = None,
             budget: Union[int, str, None] = None, **options: Any) -> Look:
        """Where the tokens would go, without reading."""
        params = _ask_params(policy, budget, 0, None, 0, options)
        picture = _picture(source)  # must live until the call is over
        return Look(make("arrcoc_look", self._pointer, picture._pointer,
                         _encoded(question, "question"), c.byref(params)))

    def tokens(self, source: Source, question: str, **options: Any) -> Tokens:
        """The patches of look()."""
        return self.look(source, question, **options).tokens()


@functools.lru_cache(maxsize=None)
def default_model() -> Model:
    """The bundled model, loaded once."""
    return Model()


def ask(source: Union[Source, Sequence[Picture]], question: str, **options: Any) -> Answer:
    """Model.ask of the bundled model."""
    return default_model().ask(source, question, **options)


def look(source: Source, question: str, **options: Any) -> Look:
    """Model.look of the bundled model."""
    return default_model().look(source, question, **options)


def tokens(source: Source, question: str, **options: Any) -> Tokens:
    """Model.tokens of the bundled model."""
    return default_model().tokens(source, question, **options)


def version() -> str:
    return bytes(native.library().arrcoc_version()).decode()


def live_handles() -> int:
    """Handles of the library that this process holds."""
    return int(native.library().arrcoc_live_handles())
