"""The OCR engine: finds lines in an image, and reads single lines.

Wraps rapidocr's detector and recogniser with the models of its own package, the line
direction classifier left out: it turns short units upside down. Loaded once in a
process, when first used; never touches the network. Pictures are arrays of height,
width and blue, green, red. Knows nothing of pages, and must not.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy as np
import rapidocr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Quad = NDArray[np.float32]

LINE_HEIGHT = 48  # the height of every line the recogniser reads, in pixels
_STEP = 8  # pixels of width for each answer of the recogniser
_NARROWEST = 160
_WIDEST = 3200


class Sign(NamedTuple):
    """One sign of a line: its middle as a share of the width, and its confidence."""

    text: str
    at: float
    sure: float


class Reading(NamedTuple):
    """A line as read, blanks among the signs; `sure` is the mean of its signs."""

    signs: tuple[Sign, ...]
    sure: float

    @property
    def text(self) -> str:
        return "".join(sign.text for sign in self.signs)


@dataclass(frozen=True)
class Engine:
    """Detector and recogniser, loaded."""

    detector: Any
    recogniser: Any

    def find_lines(self, picture: Picture) -> NDArray[np.float32]:
        """Quadrilaterals around pieces of lines, in pixels: n of 4 corners of x, y.

        Corners run clockwise from the top left; pieces come from top to bottom.
        """
        found = self.detector(picture)
        if found.boxes is None:
            return np.zeros((0, 4, 2), np.float32)
        boxes: NDArray[np.float32] = np.asarray(found.boxes, np.float32)
        return boxes

    def read_lines(self, lines: Sequence[Picture]) -> list[Reading]:
        """What each picture of one line, LINE_HEIGHT high, says."""
        return [self._read_line(line) for line in lines]

    def _read_line(self, line: Picture) -> Reading:
        # One by one: in a batch the padding, and with it the reading of a short line,
        # would hang on its neighbours, and it is no quicker.
        width = line.shape[1]
        padded = max(_NARROWEST, _STEP * math.ceil(width / _STEP))
        block = np.zeros((1, 3, LINE_HEIGHT, padded), np.float32)
        block[0, :, :, :width] = line.astype(np.float32).transpose(2, 0, 1) / 127.5 - 1
        return self._decode(self.recogniser.session(block)[0], padded / width)

    def _decode(self, chances: NDArray[np.float32], stretch: float) -> Reading:
        """Collapse repeated answers and blanks, keeping where each sign stands."""
        best = chances.argmax(axis=1)
        signs = _collapse(best, chances, self._alphabet, stretch)
        if any(_is_foreign(sign.text) for sign in signs):
            sure = [sign.sure for sign in signs if _is_foreign(sign.text)]
            if sum(sure) < 0.9 * len(sure):
                best = self._plain[chances[:, self._plain].argmax(axis=1)]
                signs = _collapse(best, chances, self._alphabet, stretch)
        if not signs:
            return Reading((), 0.0)
        return Reading(signs, sum(sign.sure for sign in signs) / len(signs))

    @cached_property
    def _alphabet(self) -> list[str]:
        found: list[str] = self.recogniser.postprocess_op.character
        return found

    @cached_property
    def _plain(self) -> NDArray[np.int64]:
        """Indices of the blank and of the signs that reports in Latin script use."""
        chosen = [n for n, text in enumerate(self._alphabet) if not _is_foreign(text)]
        return np.array([0, *(n for n in chosen if n)], np.int64)


def _collapse(
    best: NDArray[np.int64],
    chances: NDArray[np.float32],
    alphabet: Sequence[str],
    stretch: float,
) -> tuple[Sign, ...]:
    signs = []
    steps = len(best)
    start = 0
    while start < steps:
        index = int(best[start])
        end = start + 1
        while end < steps and best[end] == index:
            end += 1
        if index:
            at = (start + end) / 2 / steps * stretch
            sure = float(chances[start:end, index].max())
            signs.append(Sign(alphabet[index], min(at, 1.0), sure))
        start = end
    return tuple(signs)


@lru_cache(maxsize=32768)
def _is_foreign(text: str) -> bool:
    """Whether a sign is of no script that a report in Latin letters uses."""
    if text.isascii():
        return False
    name = unicodedata.name(text[0], "")
    if text[0].isalpha():
        return not name.startswith(("LATIN", "GREEK", "MICRO"))
    return name.startswith(("CJK", "FULLWIDTH", "IDEOGRAPHIC")) or ord(text[0]) > 0xFFFF


def load_ocr_engine(*, threads: int = 1) -> Engine:
    """Return the OCR engine of this process."""
    if _substitute is not None:
        return _substitute(lambda: _load(threads))
    return _load(threads)


@lru_cache(maxsize=1)
def _load(threads: int) -> Engine:
    folder = Path(rapidocr.__file__).parent / "models"
    # Paths, not names: a model that is not there must fail, not be fetched.
    engine: Any = rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,
            "Det.model_path": str(_model(folder, "det")),
            "Rec.model_path": str(_model(folder, "rec")),
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    return Engine(engine._load_det_model(), engine._load_rec_model())


def _model(folder: Path, task: str) -> Path:
    found = sorted(folder.glob(f"*_{task}_*.onnx"))
    if not found:
        raise FileNotFoundError(f"no model to {task} text")
    return found[-1]


_substitute: Callable[[Callable[[], Engine]], Engine] | None = None


@contextmanager
def replace_ocr_engine(
    substitute: Callable[[Callable[[], Engine]], Engine],
) -> Iterator[None]:
    """Replace what `load_ocr_engine` returns; `substitute` gets the real loader.

    For benches that keep answers, and for tests.
    """
    global _substitute
    before, _substitute = _substitute, substitute
    try:
        yield
    finally:
        _substitute = before


def crop_line_image(picture: Picture, quad: Quad) -> Picture:
    """Return the line in a quadrilateral, leveled and LINE_HEIGHT high."""
    top = np.linalg.norm(quad[1] - quad[0])
    bottom = np.linalg.norm(quad[2] - quad[3])
    left = np.linalg.norm(quad[3] - quad[0])
    right = np.linalg.norm(quad[2] - quad[1])
    height = max(float(left), float(right), 1.0)
    width = round(LINE_HEIGHT * max(float(top), float(bottom)) / height)
    width = min(max(width, 8), _WIDEST)
    corners = np.array(
        [[0, 0], [width, 0], [width, LINE_HEIGHT], [0, LINE_HEIGHT]], np.float32
    )
    lay = cv2.getPerspectiveTransform(quad.astype(np.float32), corners)
    cut = cv2.warpPerspective(
        picture,
        lay,
        (width, LINE_HEIGHT),
        flags=cv2.INTER_CUBIC,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return np.asarray(cut, np.uint8)
