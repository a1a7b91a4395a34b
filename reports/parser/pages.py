"""Pages as words with boxes, from any kind of file.

Values only: a text layer and a picture give the same, and everything after this
module works on those alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .report import Place, Point, Script


class Word(NamedTuple):
    """Text between blanks; the box in points from the top left of upright text.

    `sure` is how sure its reading is, 0 to 1: a text layer says what is printed.
    """

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool = False
    red: bool = False
    sure: float = 1.0

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class Page:
    """One page, number from 1, its size as shown, and its upright words.

    `turn` is how far, in quarter turns clockwise, the upright text must be turned to
    lie as the page is shown; 0 for nearly every page. `legible` is False where
    the page carries marks but no text that means anything. `to_shown`, where a
    picture had to be straightened, is the way back in place of `turn`: a homography
    of nine numbers, row by row. `pictured`: a picture covers most of it, under text
    that is hidden or little, so that the picture says what the page shows. `script` is
    the one in which it is written, where nothing could read that: it has no words then.
    """

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    turn: int = 0
    legible: bool = True
    to_shown: tuple[float, ...] = ()
    pictured: bool = False
    script: Script | None = None

    def shown(self, x: float, y: float) -> Point:
        """A place in the upright text as a place on the page as it is shown."""
        if self.to_shown:
            a, b, c, d, e, f, g, h, i = self.to_shown
            depth = g * x + h * y + i
            x, y = (a * x + b * y + c) / depth, (d * x + e * y + f) / depth
            return Point(round(x, 2), round(y, 2))
        match self.turn:
            case 1:
                x, y = self.width - y, x
            case 2:
                x, y = self.width - x, self.height - y
            case 3:
                x, y = y, self.height - x
        return Point(round(x, 2), round(y, 2))

    @property
    def whole(self) -> Place:
        """The page from edge to edge."""
        width, height = self.width, self.height
        corners = ((0.0, 0.0), (width, 0.0), (width, height), (0.0, height))
        return Place(self.number, tuple(Point(*corner) for corner in corners))

    def place_of(self, words: Sequence[Word]) -> Place | None:
        """The rectangle around words, corner by corner from the top left."""
        if not words:
            return None
        x0, top, x1, bottom = words[0][1:5]
        if len(words) > 1:
            x0, x1 = min([w[1] for w in words]), max([w[3] for w in words])
            top, bottom = min([w[2] for w in words]), max([w[4] for w in words])
        if not self.to_shown and not self.turn:
            # Nearly every page: what is shown is the upright text.
            x0, x1 = round(x0, 2), round(x1, 2)
            top, bottom = round(top, 2), round(bottom, 2)
            upper = Point(x0, top), Point(x1, top)
            return Place(self.number, (*upper, Point(x1, bottom), Point(x0, bottom)))
        corners = ((x0, top), (x1, top), (x1, bottom), (x0, bottom))
        return Place(self.number, tuple(self.shown(x, y) for x, y in corners))
