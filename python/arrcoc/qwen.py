"""Qwen2-VL, Qwen2.5-VL and Qwen3-VL with transformers: only the pixels that a question needs.

    processor = AutoProcessor.from_pretrained(folder)
    relevant = RelevantImageProcessor(processor.image_processor, budget=256)
    views = relevant.views(picture, question)                # a glance and up to three rectangles
    chat = [{"role": "user", "content": relevant.content(views, question)}]
    text = processor.apply_chat_template(chat, add_generation_prompt=True)
    inputs = processor(text=[text], images=[view.pixels for view in views], do_resize=False,
                       return_tensors="pt")                  # as many image tokens as the budget

The model's weights, positions and prompt format stay as they are: every view is a picture of its
own, cut to whole tokens, so that `do_resize=False` spends exactly what was allocated.
"""
from __future__ import annotations

from typing import Any, Optional, Sequence, Union

from ._api import Model, Source, View, default_model


class RelevantImageProcessor:
    """An image processor of transformers' Qwen family, behind a choice of what it is given.

    inner: Qwen2VLImageProcessor or its fast form; anything with patch_size, merge_size and that
    call. budget: image tokens a picture; options: as Model.look takes them.
    """

    def __init__(self, inner: Any, *, budget: Union[int, str] = "auto", model: Optional[Model] = None,
                 **options: Any) -> None:
        self.inner, self.model, self.budget, self.options = inner, model, budget, options

    @property
    def token_pixels(self) -> int:
        """Pixels along one token of the language model: 28, or 32 for Qwen3-VL."""
        return int(self.inner.patch_size) * int(self.inner.merge_size)

    def views(self, picture: Source, question: str) -> list[View]:
        """What is to be shown of a picture, the whole of it first; at most `budget` tokens together."""
        model = self.model or default_model()
        options: dict[str, Any] = {"allocator": "zoom", "token_pixels": self.token_pixels,
                                   "least_side": 0, "most_side": 0, **self.options}
        return model.look(picture, question, budget=self.budget, **options).views()

    def content(self, views: Sequence[View], question: str) -> list[dict[str, Any]]:
        """The content of a chat message: the views, then the question."""
        return [*({"type": "image", "image": view.pixels} for view in views),
                {"type": "text", "text": question}]

    def __call__(self, images: Union[Source, list[Source]], question: str, **kwargs: Any) -> Any:
        """The inner processor's features (pixel_values, image_grid_thw) of all views, and
        `image_views`: how many of them each picture has."""
        pictures: list[Any] = images if isinstance(images, list) else [images]
        views = [self.views(picture, question) for picture in pictures]
        out = self.inner(images=[view.pixels for of_one in views for view in of_one],
                         **{"do_resize": False, **kwargs})
        out["image_views"] = [len(of_one) for of_one in views]
        return out
