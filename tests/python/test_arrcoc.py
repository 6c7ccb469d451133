"""The Python module against the program arrcoc, the header and itself.
ARRCOC_BINARY, ARRCOC_LIBRARY and ARRCOC_SOURCES name what was built and the sources."""
import gc
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import arrcoc
from arrcoc import _native
from arrcoc.qwen import RelevantImageProcessor

SOURCES = pathlib.Path(os.environ["ARRCOC_SOURCES"])
PICTURES = SOURCES / "examples/pictures"
RECEIPT, CHART = PICTURES / "receipt.jpg", PICTURES / "chart.jpg"
QUESTION = "What is the total?"


def cli(*arguments):
    return subprocess.run([os.environ["ARRCOC_BINARY"], *map(str, arguments)], check=True,
                          capture_output=True, text=True).stdout


def without_times(answer):
    return {key: value for key, value in answer.items() if key != "milliseconds"}


class SameAsTheProgram(unittest.TestCase):
    def test_maps_are_equal_bit_for_bit(self):
        for path, question, options in ((RECEIPT, QUESTION, {}), (CHART, "What is the value of Peru?", {}),
                                        (PICTURES / "street.jpg", "Which platform?", {"policy": "lexical"})):
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder) / "map.npy"
                cli("look", path, question, "--relevance", out, *[w for k, v in options.items()
                                                                 for w in (f"--{k}", v)])
                wanted = np.load(out)
            array = arrcoc.Picture(path).pixels()
            got = arrcoc.look(array, question, **options).map
            self.assertEqual((got.dtype, got.shape), (np.float32, wanted.shape))
            self.assertEqual(got.tobytes(), wanted.tobytes())
            self.assertGreater(np.ptp(got), 0.1)

    def test_answers_are_the_programs_json(self):
        wanted = json.loads(cli("ask", RECEIPT, QUESTION, "--json", "--budget", "180"))
        answer = arrcoc.ask(RECEIPT, QUESTION, budget=180)
        self.assertEqual(without_times(answer.json()), without_times(wanted))
        self.assertEqual((answer.text, str(answer)), ("33.10", "33.10"))
        self.assertAlmostEqual(answer.confidence, wanted["confidence"], places=3)
        np.testing.assert_allclose(answer.box, wanted["box"], atol=0.01)
        self.assertEqual((answer.token_count, answer.native_tokens),
                         (wanted["tokens"], wanted["native_tokens"]))
        boxes = [region["box"] for region in wanted["pictures"][0]["boxes"]]
        np.testing.assert_allclose([box for box, _ in answer.regions()], boxes, atol=0.01)

    def test_tokens_are_the_programs_leaves(self):
        wanted = json.loads(cli("look", RECEIPT, QUESTION, "--json", "--budget", "150"))
        tokens = arrcoc.tokens(RECEIPT, QUESTION, budget=150)
        self.assertEqual(len(tokens), len(wanted["leaves"]))
        self.assertEqual(tokens.level.tolist(), [leaf["level"] for leaf in wanted["leaves"]])
        scale = wanted["image"]["width"] / wanted.get("canvas", wanted["image"])["width"]
        np.testing.assert_allclose(tokens.boxes[:, 0], [leaf["x"] * scale for leaf in wanted["leaves"]],
                                   atol=0.01)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.array = arrcoc.Picture(RECEIPT).pixels()
        self.map = arrcoc.look(self.array, QUESTION).map

    def test_strided_arrays_are_read_where_they_lie(self):
        planar = np.ascontiguousarray(self.array.transpose(2, 0, 1)).transpose(1, 2, 0)
        padded = np.zeros((self.array.shape[0] + 3, self.array.shape[1] + 5, 4), np.uint8)
        padded[1:-2, 2:-3, :3] = self.array
        flipped = np.ascontiguousarray(self.array[::-1, ::-1, ::-1])[::-1, ::-1, ::-1]
        for same in (planar, padded[1:-2, 2:-3, :3], flipped):
            self.assertFalse(same.flags.c_contiguous)
            self.assertEqual(arrcoc.look(same, QUESTION).map.tobytes(), self.map.tobytes())

    def test_grey_is_three_equal_channels(self):
        grey = self.array[..., 1]
        self.assertEqual(arrcoc.Picture(grey).pixels().tobytes(), np.stack([grey] * 3, -1).tobytes())

    def test_the_map_owns_its_memory_and_is_what_asarray_gives(self):
        seen = arrcoc.look(self.array, QUESTION)
        self.assertTrue(seen.map.flags.owndata and seen.map.flags.writeable)
        self.assertEqual(np.asarray(seen).tobytes(), self.map.tobytes())
        self.assertEqual(np.asarray(seen, np.float64).dtype, np.float64)
        self.assertEqual(seen.__array__(copy=True).tobytes(), self.map.tobytes())  # as numpy 2 asks
        with self.assertRaises(ValueError):
            seen.__array__(copy=False)

    def test_patches_outlive_their_answer_and_cannot_be_written(self):
        patches = arrcoc.look(self.array, QUESTION).tokens().patches
        gc.collect()
        copy = patches.copy()
        arrcoc.look(CHART, QUESTION).tokens()
        np.testing.assert_array_equal(patches, copy)
        self.assertEqual(patches.shape[1:], (3, 16, 16))
        with self.assertRaises(ValueError):
            patches[0] = 0

    def test_what_is_no_picture_is_refused(self):
        for wrong, error in ((np.zeros((4, 4, 4), np.uint8), ValueError), (np.zeros(4, np.uint8), ValueError),
                             (np.zeros((4, 4, 3)), TypeError), (None, TypeError),
                             (np.zeros((0, 4, 3), np.uint8), arrcoc.Error)):
            with self.assertRaises(error):
                arrcoc.Picture(wrong)


    def test_an_array_that_c_cannot_count_is_refused(self):
        # No memory: every pixel is the same byte. ctypes would make a width of 1 of it.
        huge = np.broadcast_to(np.zeros((1, 1, 1), np.uint8), (1, 2**32 + 1, 3))
        with self.assertRaisesRegex(arrcoc.Error, "width"):
            arrcoc.Picture(huge)


class Errors(unittest.TestCase):
    def refused(self, code, words, call, *arguments, **options):
        with self.assertRaisesRegex(arrcoc.Error, words) as raised:
            call(*arguments, **options)
        self.assertEqual(raised.exception.code, code)

    def test_errors_have_a_code_and_one_line(self):
        picture = arrcoc.Picture(RECEIPT)
        self.refused("not_found", "nowhere.jpg", arrcoc.ask, "nowhere.jpg", QUESTION)
        self.refused("bad_image", "", arrcoc.Picture, b"\0\1no picture")
        self.refused("bad_argument", "", arrcoc.look, picture, "")
        self.refused("bad_argument", "zero byte", arrcoc.look, picture, "a\0b")
        self.refused("bad_argument", "UTF-8", arrcoc.look, picture, "\udcff")
        self.refused("bad_json", "colour", arrcoc.look, picture, QUESTION, colour="red")
        self.refused("not_found", "nobody", arrcoc.look, picture, QUESTION, policy="nobody")
        self.refused("too_large", "", arrcoc.Picture, RECEIPT, max_megapixels=0.01)
        self.refused("not_found", "nowhere", arrcoc.Model, "/nowhere")
        self.refused("bad_argument", "picture 3", arrcoc.look(picture, QUESTION).map_of, 3)

    def test_numbers_are_not_cut_to_32_bits(self):
        picture = arrcoc.Picture(RECEIPT)
        seen, one = arrcoc.look(picture, QUESTION), 2**32 + 1
        for of_picture in (seen.map_of, seen.tokens, seen.views, lambda at: seen.regions(picture=at)):
            self.refused("bad_argument", "picture", of_picture, 2**32)
        self.refused("bad_argument", "page", arrcoc.Picture, RECEIPT, page=one)
        self.refused("bad_argument", "passes", arrcoc.ask, picture, QUESTION, passes=one)
        self.refused("bad_argument", "threads", arrcoc.Model, threads=one)
        self.refused("bad_argument", "max_new_tokens", arrcoc.ask, picture, QUESTION, max_new_tokens=2**64 + 1)

    def test_a_path_ends_where_it_ends(self):
        self.refused("bad_argument", "zero byte", arrcoc.Picture, f"{RECEIPT}\0.png")
        self.refused("bad_argument", "zero byte", arrcoc.Model, f"{SOURCES / 'models/tiny'}\0x")
        self.refused("bad_argument", "", arrcoc.ask, [], QUESTION)

    def test_a_missing_library_is_said(self):
        outcome = subprocess.run([sys.executable, "-c", "import arrcoc; arrcoc.version()"], text=True,
                                 capture_output=True, env={**os.environ, "ARRCOC_LIBRARY": "/nowhere.so"})
        self.assertNotEqual(outcome.returncode, 0)
        self.assertIn("/nowhere.so", outcome.stderr.splitlines()[-1])


class Library(unittest.TestCase):
    def test_every_function_of_the_header_is_bound_and_no_other(self):
        header = (SOURCES / "include/arrcoc/c.h").read_text()
        declared = re.findall(r"^(?:const )?\w+\*? (arrcoc_\w+)\(", header, re.M)
        self.assertEqual(sorted(declared), sorted(_native.FUNCTIONS))

    def test_versions_agree(self):
        text = (SOURCES / "python/pyproject.toml").read_text()
        self.assertIn(f'version = "{arrcoc.version()}"', text)

    def test_a_model_by_name_is_the_one_in_the_hubs_cache(self):
        commit = "c0ffee" + "0" * 34
        with tempfile.TemporaryDirectory() as home, mock.patch.dict(os.environ, {"HF_HUB_CACHE": home}):
            at = pathlib.Path(home) / "models--acme--tiny"
            for folder in ("refs", f"snapshots/{commit}"):
                (at / folder).mkdir(parents=True)
            (at / "refs/main").write_text(commit)
            for file in (SOURCES / "models/tiny").iterdir():
                (at / "snapshots" / commit / file.name).symlink_to(file)
            for name in ("acme/tiny", f"acme/tiny@{commit}"):
                self.assertEqual(arrcoc.Model(name).ask(RECEIPT, QUESTION).text, "33.10")
            with self.assertRaisesRegex(arrcoc.Error, "arrcoc models pull acme/other"):
                arrcoc.Model("acme/other")

    def test_threads_share_a_model(self):
        wanted, got = arrcoc.look(RECEIPT, QUESTION).map.tobytes(), []
        threads = [threading.Thread(target=lambda: got.append(arrcoc.look(RECEIPT, QUESTION).map.tobytes()))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [wanted] * 4)

    def test_several_pictures_are_one_question(self):
        answer = arrcoc.ask([arrcoc.Picture(PICTURES / "street.jpg"), arrcoc.Picture(RECEIPT)], QUESTION)
        self.assertEqual((answer.picture, answer.text), (1, "33.10"))
        self.assertEqual(answer.map.shape, answer.map_of(1).shape)

    def test_a_thousand_calls_leak_nothing(self):
        array = np.ascontiguousarray(arrcoc.Picture(RECEIPT).pixels()[:256, :256])

        def calls(count):
            for _ in range(count):
                seen = arrcoc.look(array, QUESTION, policy="realized", frame=256, least_side=256)
                seen.tokens().patches.sum()
                seen.json(details=True)
            del seen
            gc.collect()
            pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
            return int(pages) * os.sysconf("SC_PAGESIZE")

        calls(100)
        before, handles = calls(100), arrcoc.live_handles()
        after = calls(1000)
        self.assertEqual(arrcoc.live_handles(), handles)
        # A lost picture alone would be 190 MB, a lost map or list of tokens 1 to 30.
        self.assertLess(after - before, 4 << 20)


class QwenViews(unittest.TestCase):
    class Settings:
        """What the wrapper reads of an image processor."""
        patch_size, merge_size = 16, 2

    def test_views_are_whole_tokens_within_the_budget(self):
        relevant = RelevantImageProcessor(self.Settings(), budget=96)
        views = relevant.views(RECEIPT, QUESTION)
        picture = arrcoc.Picture(RECEIPT)
        self.assertEqual(views[0].box, (0, 0, picture.width, picture.height))
        self.assertGreater(len(views), 1)
        for view in views:
            height, width = view.pixels.shape[:2]
            self.assertEqual((height % 32, width % 32, view.tokens), (0, 0, height * width // 1024))
        self.assertLessEqual(sum(view.tokens for view in views), 96)
        content = relevant.content(views, QUESTION)
        self.assertEqual([part["type"] for part in content], ["image"] * len(views) + ["text"])

    @unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
    def test_the_inner_processor_spends_what_was_allocated(self):
        from transformers import Qwen2VLImageProcessor
        inner = Qwen2VLImageProcessor()
        relevant = RelevantImageProcessor(inner, budget=128)
        out = relevant([RECEIPT, CHART], QUESTION, return_tensors="np")
        views = [relevant.views(path, QUESTION) for path in (RECEIPT, CHART)]
        self.assertEqual(out["image_views"], [len(of_one) for of_one in views])
        patches = [int(n) for n in out["image_grid_thw"].prod(axis=1)]
        self.assertEqual([n // inner.merge_size**2 for n in patches],
                         [view.tokens for of_one in views for view in of_one])
        self.assertEqual(out["pixel_values"].shape[0], sum(patches))
        self.assertLessEqual(sum(patches), 2 * 128 * inner.merge_size**2)
        alone = inner(images=[views[1][0].pixels], do_resize=False, return_tensors="np")["pixel_values"]
        start = sum(patches[:len(views[0])])
        np.testing.assert_array_equal(out["pixel_values"][start:start + len(alone)], alone)


if __name__ == "__main__":
    unittest.main()
