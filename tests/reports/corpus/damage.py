"""What paper, copier and camera do to a page picture, one plain function each.

Pictures in and out are Pillow images; chance comes from the generator handed in, so
that a seed gives the same pixels again. Which damage a kind of file suffers is
decided in `pictures`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

Dice = np.random.Generator
Pixels = NDArray[np.float32]


def paper_tinted(picture: Image.Image, dice: Dice) -> Image.Image:
    """White turned into the off-white of real paper."""
    red = dice.uniform(0.94, 1)
    green = red - dice.uniform(0, 0.02)
    blue = green - dice.uniform(0, 0.06)
    return _image(_pixels(picture) * np.array([red, green, blue], np.float32))


def faint(picture: Image.Image, dice: Dice, *, black: float) -> Image.Image:
    """Toner that no longer covers: black is lifted unevenly to the given level."""
    pixels = _pixels(picture)
    cover = black * _clouds(picture.size, dice, low=0.7, high=1.2)
    return _image(cover[..., None] + pixels * (1 - cover[..., None] / 255))


def noisy(picture: Image.Image, dice: Dice, *, sigma: float) -> Image.Image:
    """Grain of the sensor, the same in all colours."""
    pixels = _pixels(picture)
    grain = dice.normal(0, sigma, pixels.shape[:2]).astype(np.float32)
    return _image(pixels + grain[..., None])


def speckled(picture: Image.Image, dice: Dice, *, per_mille: float) -> Image.Image:
    """Dust: dark and white dots of a pixel or two."""
    marked = picture.copy()
    draw = ImageDraw.Draw(marked)
    width, height = marked.size
    for _ in range(int(width * height * per_mille / 1000 / 60)):
        x, y = dice.integers(0, width), dice.integers(0, height)
        shade = (60, 60, 60) if dice.random() < 0.7 else (255, 255, 255)
        size = int(dice.integers(0, 2))
        draw.rectangle((x, y, x + size, y + size), fill=shade)
    return marked


def skewed(picture: Image.Image, *, degrees: float) -> Image.Image:
    """Turned a little, as a sheet laid askew on the glass; the corners are white."""
    return picture.rotate(
        degrees, resample=Image.Resampling.BICUBIC, fillcolor=(255, 255, 255)
    )


def copier_edges(picture: Image.Image, dice: Dice) -> Image.Image:
    """The dark border and the punch holes that a copier leaves."""
    marked = picture.copy()
    draw = ImageDraw.Draw(marked)
    width, height = marked.size
    edge = int(dice.uniform(0.003, 0.012) * width)
    if dice.random() < 0.5:
        draw.rectangle((0, 0, edge, height), fill=(45, 45, 45))
    else:
        draw.rectangle((0, height - edge, width, height), fill=(45, 45, 45))
    if dice.random() < 0.5:
        radius = int(width * 0.011)
        for part in (0.36, 0.64):
            x, y = int(width * 0.02), int(height * part)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), (70,) * 3)
    return marked


def stamped(picture: Image.Image, dice: Dice) -> Image.Image:
    """A round office stamp, pale and turned, on the lower half of the page."""
    side = int(picture.width * 0.2)
    ink = (40, 60, 170) if dice.random() < 0.6 else (170, 40, 60)
    stamp = Image.new("RGB", (side, side), "white")
    draw = ImageDraw.Draw(stamp)
    draw.ellipse((6, 6, side - 6, side - 6), outline=ink, width=max(2, side // 60))
    inner = side // 6
    draw.ellipse((inner, inner, side - inner, side - inner), outline=ink, width=2)
    font = ImageFont.load_default(side // 10)
    draw.text((side / 2, side / 2), "RECEIVED", fill=ink, font=font, anchor="mm")
    stamp = stamp.rotate(
        dice.uniform(-35, 35),
        resample=Image.Resampling.BICUBIC,
        fillcolor=(255, 255, 255),
    )
    pale = _image(255 - (255 - _pixels(stamp)) * dice.uniform(0.35, 0.75))
    sheet = Image.new("RGB", picture.size, "white")
    x = int(dice.uniform(0.55, 0.78) * picture.width)
    y = int(dice.uniform(0.6, 0.85) * picture.height)
    sheet.paste(pale, (x, y))
    return ImageChops.multiply(picture, sheet)


def pen_marked(picture: Image.Image, dice: Dice) -> Image.Image:
    """Ticks in the margin, a ring around something and a signature at the foot."""
    sheet = Image.new("RGB", picture.size, "white")
    draw = ImageDraw.Draw(sheet)
    width, height = picture.size
    ink = (30, 40, 150) if dice.random() < 0.7 else (20, 20, 20)
    stroke = max(2, width // 700)
    for _ in range(int(dice.integers(1, 5))):
        x, y = dice.uniform(0.015, 0.05) * width, dice.uniform(0.25, 0.8) * height
        size = width * 0.012
        points = [(x, y), (x + size * 0.5, y + size * 0.7), (x + size * 1.6, y - size)]
        draw.line(points, fill=ink, width=stroke, joint="curve")
    if dice.random() < 0.5:
        x, y = dice.uniform(0.35, 0.6) * width, dice.uniform(0.3, 0.7) * height
        draw.ellipse(
            (x, y, x + width * 0.09, y + height * 0.022), outline=ink, width=stroke
        )
    x0, y0 = dice.uniform(0.55, 0.7) * width, dice.uniform(0.9, 0.95) * height
    turns = np.linspace(0, dice.uniform(14, 24), 90)
    sway = dice.uniform(0.6, 1.6, 90)
    wave = [
        (x0 + t * width * 0.008, y0 + math.sin(t * 1.7) * height * 0.008 * s)
        for t, s in zip(turns, sway, strict=True)
    ]
    draw.line(wave, fill=ink, width=stroke, joint="curve")
    return ImageChops.multiply(picture, sheet)


def rule_lined(picture: Image.Image, dice: Dice) -> Image.Image:
    """Streaks that a dirty feeder draws down the page, and a fold across it."""
    marked = picture.copy()
    draw = ImageDraw.Draw(marked)
    width, height = marked.size
    for _ in range(int(dice.integers(1, 3))):
        x = int(dice.uniform(0.05, 0.95) * width)
        draw.line((x, 0, x, height), fill=(150, 150, 150), width=1)
    y = int(height * dice.uniform(0.45, 0.55))
    draw.line((0, y, width, y + 2), fill=(190, 190, 190), width=2)
    return marked


def blurred(picture: Image.Image, *, radius: float) -> Image.Image:
    return picture.filter(ImageFilter.GaussianBlur(radius))


def shaded(picture: Image.Image, dice: Dice, *, depth: float) -> Image.Image:
    """Uneven light and one soft-edged shadow, as of a hand or a phone."""
    width, height = picture.size
    light = _clouds(picture.size, dice, low=1 - depth, high=1.05)
    shadow = Image.new("L", (64, 64), 255)
    draw = ImageDraw.Draw(shadow)
    corner = dice.integers(0, 2) * 63
    reach = dice.uniform(0.3, 0.8) * 63
    draw.polygon(
        [(corner, 63), (corner, 63 - reach), (abs(corner - reach), 63)],
        fill=int(255 * (1 - depth)),
    )
    soft = shadow.filter(ImageFilter.GaussianBlur(3)).resize(
        (width, height), Image.Resampling.BICUBIC
    )
    cast = np.asarray(soft, np.float32) / 255
    warm = np.array([1, dice.uniform(0.95, 1), dice.uniform(0.86, 1)], np.float32)
    return _image(_pixels(picture) * (light * cast)[..., None] * warm)


def curled(picture: Image.Image, dice: Dice, *, bow: float) -> Image.Image:
    """Lines bent in a wave, as on paper that does not lie flat; bow in pixels."""
    width, height = picture.size
    steps = 24
    phase = dice.uniform(0, math.pi)

    def lift(x: float) -> float:
        return bow * math.sin(phase + math.pi * x / width)

    mesh = []
    for n in range(steps):
        x0, x1 = width * n // steps, width * (n + 1) // steps
        a, b = lift(x0), lift(x1)
        mesh.append(
            ((x0, 0, x1, height), (x0, a, x0, height + a, x1, height + b, x1, b))
        )
    return picture.transform(
        picture.size, Image.Transform.MESH, mesh, resample=Image.Resampling.BICUBIC
    )


def on_a_desk(
    picture: Image.Image, dice: Dice, *, tilt: float, degrees: float
) -> Image.Image:
    """Seen askew and at an angle on a coloured desk; tilt as share of the width."""
    width, height = picture.size
    margin = int(width * dice.uniform(0.03, 0.09))
    size = (width + 2 * margin, height + 2 * margin)
    desk = _desk(size, dice)
    reach = tilt * width
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    turn, middle = math.radians(degrees), complex(width / 2, height / 2)
    seen = []
    for x, y in corners:
        inward = complex(1 if x == 0 else -1, 1 if y == 0 else -1) * reach
        moved = complex(x, y) - middle
        moved *= complex(math.cos(turn), math.sin(turn))
        moved += middle + complex(margin, margin)
        seen.append(
            (
                moved.real + dice.uniform(-0.6, 1) * inward.real,
                moved.imag + dice.uniform(-0.6, 1) * inward.imag,
            )
        )
    warp = _perspective(seen, [(float(x), float(y)) for x, y in corners])
    page = picture.transform(
        size, Image.Transform.PERSPECTIVE, warp, resample=Image.Resampling.BICUBIC
    )
    where = Image.new("L", picture.size, 255).transform(
        size, Image.Transform.PERSPECTIVE, warp
    )
    desk.paste(page, (0, 0), where)
    return desk


def _desk(size: tuple[int, int], dice: Dice) -> Image.Image:
    colour = dice.choice([(112, 84, 60), (60, 62, 66), (170, 160, 150), (40, 70, 90)])
    grain = _clouds(size, dice, low=0.75, high=1.1)
    stripes = 1 + 0.06 * np.sin(np.arange(size[1]) / dice.uniform(5, 30))
    cloth = grain * stripes[:, None].astype(np.float32)
    return _image(cloth[..., None] * colour.astype(np.float32))


def _perspective(
    seen: list[tuple[float, float]], flat: list[tuple[float, float]]
) -> tuple[float, ...]:
    """The eight numbers that take a point of the photo to one of the page."""
    left, right = [], []
    for (x, y), (u, v) in zip(seen, flat, strict=True):
        left += [
            [x, y, 1, 0, 0, 0, -u * x, -u * y],
            [0, 0, 0, x, y, 1, -v * x, -v * y],
        ]
        right += [u, v]
    return tuple(np.linalg.solve(np.array(left), np.array(right)))


def _clouds(size: tuple[int, int], dice: Dice, *, low: float, high: float) -> Pixels:
    """A smooth random field over the page."""
    coarse = Image.fromarray(dice.integers(0, 256, (5, 4)).astype(np.uint8))
    field = np.asarray(coarse.resize(size, Image.Resampling.BICUBIC), np.float32)
    return (low + field / 255 * (high - low)).astype(np.float32)


def _pixels(picture: Image.Image) -> Pixels:
    return np.asarray(picture, np.float32)


def _image(pixels: Pixels) -> Image.Image:
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
