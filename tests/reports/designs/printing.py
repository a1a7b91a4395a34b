"""Prints designs with Chromium as text PDFs, screenshots and worn pictures of PDFs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import orjson
from playwright.sync_api import Browser, sync_playwright

from reports.management.scorecard.truth import (
    KINDS,
    TRUTH_SUFFIX,
    InvalidTruth,
    TrueReport,
    read_folder,
)
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.reports.corpus.pictures import take_picture

_TRUTH = re.compile(
    r"<script[^>]*\bid=.?truth\b[^>]*>(?P<truth>.*?)</script>", re.DOTALL
)
# Screenshots are taken at the width of the design's own viewport meta element, with
# the points to a pixel of its initial-scale, as phones have two or three.
_WIDTH = re.compile(r"name=.?viewport\b[^>]*\bwidth=(?P<width>\d+)")
_SCALE = re.compile(r"name=.?viewport\b[^>]*\binitial-scale=(?P<scale>\d)")
_USUAL_WIDTH = 900


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def print_designs(
    paths: Sequence[Path], folder: Path, *, kind: str = "text", seed: int = 0
) -> list[TrueReport]:
    """Each design as a report of the kind, its truth beside it, in the order of names.

    A scan or photo is a picture of the printed PDF; a screenshot is the browser's own.

    Raises: BadTruth.
    """
    if kind not in KINDS:
        raise ValueError(kind)
    folder.mkdir(parents=True, exist_ok=True)
    with _browser() as browser:
        for path in paths:
            _print(browser, path, folder, kind)
    reports = read_folder(folder)
    if kind in ("scan", "photo"):
        reports = [_worn(report, folder, kind, seed) for report in reports]
    return reports


def _print(browser: Browser, path: Path, folder: Path, kind: str) -> None:
    html = path.read_text()
    truth = _TRUTH.search(html)
    if truth is None:
        raise InvalidTruth(f"{path.name}: no script element with the id truth")
    width, scale = _WIDTH.search(html), _SCALE.search(html)
    page = browser.new_page(
        java_script_enabled=False,
        viewport={
            "width": int(width["width"]) if width else _USUAL_WIDTH,
            "height": 700,
        },
        device_scale_factor=int(scale["scale"]) if scale else 1,
    )
    page.goto(path.resolve().as_uri())
    if kind == "screenshot":
        page.screenshot(path=folder / f"{path.stem}.png", full_page=True)
    else:
        page.pdf(
            path=folder / f"{path.stem}.pdf",
            prefer_css_page_size=True,
            print_background=True,
            format="A4",
        )
    page.close()
    fields = {"layout": path.stem, **orjson.loads(truth["truth"])}
    fields["kind"] = "screenshot" if kind == "screenshot" else "text"
    _write_truth(folder / path.stem, fields)


def _worn(report: TrueReport, folder: Path, kind: str, seed: int) -> TrueReport:
    """The printed PDF replaced by a picture of it."""
    stem = folder / report.layout
    worn = take_picture(report, folder / kind, kind=kind, seed=seed)
    moved = worn.path.replace(folder / worn.path.name)
    (folder / kind).rmdir()
    if moved != report.path:
        report.path.unlink()
    data = orjson.loads(Path(f"{stem}{TRUTH_SUFFIX}").read_bytes())
    _write_truth(stem, {**data, "kind": kind, "files": [moved.name]})
    return replace(worn, path=moved)


def _write_truth(stem: Path, fields: dict[str, object]) -> None:
    Path(f"{stem}{TRUTH_SUFFIX}").write_bytes(
        orjson.dumps(fields, option=orjson.OPT_INDENT_2)
    )
