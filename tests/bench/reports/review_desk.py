"""How long the review desk takes to open, to save a row, and for thirty rows by keys.

Run `python -m tests.bench.reports.review_desk [--rounds N]`. Prints the desk of a
report of ten pages and a hundred rows, by the server and, where a chromium is on the
path, until its first row has the focus (must: 1,000 ms); an edit saved among 30 and
among 100 rows (must: 150 ms); and thirty rows with three errors, mended and confirmed
by keyboard alone (must: 90 s). No key waits for thought: the last is the machine's part
of a review. Pages are drawn before, as the worker does; that, and serving one, has no
limit.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.page_times import milliseconds
from tests.bench.stage import SERVED_SECRET_KEY, database, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

OPEN_MUST_MS = 1000.0
SAVE_MUST_MS = 150.0
REVIEW_MUST_S = 90.0
PAGES = 10
ROWS_OF_A_PAGE = 10
ROW_STEP = 40
WIDTH, HEIGHT = 595.28, 841.89
MENDED = (
    ("Potassium", "e", "4.2"),
    ("Hemoglobin", "u", "g/L"),
    ("Lymphocytes", "e", "30"),
)
FIELDS = {"e": "value", "u": "units"}


@dataclass(frozen=True, slots=True)
class Bench:
    """Who reviews, and where their queue is."""

    tenant: Any
    actor: Any
    client: Any
    queue: str

    def desk(self, review: Any) -> str:
        """The address of a review's desk."""
        return f"{self.queue}{review.id}/"


def make_bench() -> Bench:
    """A clinician of a team, signed in."""
    from django.test import Client

    from accounts.states import Role
    from portal.lib.actor import Actor, ActorKind
    from tests.factories.accounts import make_member, make_team, make_tenant

    team = make_team("Bench Health")
    tenant = make_tenant(team=team)
    member = make_member(team=team, roles=(Role.CLINICIAN,))
    client = Client(SERVER_NAME="localhost")
    client.force_login(member)
    actor = Actor(ActorKind.MEMBER, str(member.pk), member.email)
    place = f"/t/{team.slug}/{tenant.environment}/reviews/"
    return Bench(tenant, actor, client, place)


def drawn_report(rows: int) -> tuple[bytes, Any]:
    """A file of so many markers, ten a page, and what a parser says of it.

    Every fourth row has a doubt, and every row its ink.
    """
    from reportlab.pdfgen.canvas import Canvas

    from reports.parser.report import (
        Note,
        NoteCode,
        PageSize,
        Place,
        Point,
        Provenance,
        RowState,
    )
    from tests.factories.reports import make_parsed, make_parsed_result

    written = BytesIO()
    canvas = Canvas(written, pagesize=(WIDTH, HEIGHT), invariant=1)
    results = []
    for row in range(rows):
        page, line = divmod(row, ROWS_OF_A_PAGE)
        top = 100 + ROW_STEP * line
        for left, text in ((60, f"Marker {row}"), (250, "105"), (330, "mg/dL")):
            canvas.drawString(left, HEIGHT - top - 10, text)
        box = (
            Point(250, top),
            Point(280, top),
            Point(280, top + 12),
            Point(250, top + 12),
        )
        results.append(
            make_parsed_result(
                test_name=f"Marker {row}",
                provenance=Provenance(value=Place(page + 1, box)),
            )
        )
        if line == ROWS_OF_A_PAGE - 1:
            canvas.showPage()
    canvas.save()
    pages = -(-rows // ROWS_OF_A_PAGE)
    report = make_parsed(
        results=tuple(results),
        pages=pages,
        notes=tuple(
            Note(NoteCode.UNIT_MISSING, RowState.LOOK, (row,))
            for row in range(0, rows, 4)
        ),
        page_sizes=tuple(PageSize(n + 1, WIDTH, HEIGHT) for n in range(pages)),
    )
    return written.getvalue(), report


def stage_report(bench: Bench, content: bytes, report: Any) -> Any:
    """The report on the desk of its reviewer."""
    from tests.factories.reports import make_review
    from tests.factories.users import make_user

    return make_review(
        user=make_user(tenant=bench.tenant),
        report=report,
        content=content,
        pages=report.pages,
        claimed_by=bench.actor,
    )


def stage_errors(bench: Bench) -> Any:
    """The thirty markers with three errors, as they are truly read."""
    from reports.parser.parsing import parse_report
    from tests.reports.seeded_panel import draw_panel

    content = draw_panel()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "report.pdf"
        path.write_bytes(content)
        return stage_report(bench, content, parse_report(path))


def time_saves(bench: Bench, review: Any, rounds: int) -> float:
    """The median of an edit of one row among all, in ms, after one to warm up."""
    from tests.reports.desk import rows_of

    times = []
    for value in range(rounds + 1):
        row = rows_of(review)[1]
        names = ("test_name", "units", "reference_range", "flag")
        typed = {name: row.values[name] or "" for name in names}
        start = time.perf_counter()
        answer = bench.client.post(
            f"{bench.desk(review)}rows/1/edit/",
            {**typed, "value": str(100 + value), "version": row.version},
            headers={"HX-Request": "true"},
        )
        times.append((time.perf_counter() - start) * 1000)
        assert answer.status_code == 200, answer.status_code
    return statistics.median(times[1:])


def time_opening(page: Page, url: str, rounds: int) -> list[float]:
    """From asking for the desk until its first row has the focus, in ms."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        page.goto(url, wait_until="commit")
        page.locator(".desk[data-keys] .bm.is-on .bm__name:focus").wait_for()
        times.append((time.perf_counter() - start) * 1000)
    return times[1:]


def time_review(page: Page, url: str) -> float:
    """Thirty rows from opening the desk until nothing is left to do, in seconds."""
    start = time.perf_counter()
    page.goto(url)
    page.locator(".desk[data-keys] .bm.is-on .bm__name:focus").wait_for()
    rows = page.locator(".bm").count()
    for name, key, text in MENDED:
        _to_top(page, rows)
        while page.locator(".bm.is-on .bm__name b").inner_text() != name:
            page.keyboard.press("j")
        page.keyboard.press(key)
        page.locator(f'.bm.is-on [name="{FIELDS[key]}"]:focus').wait_for()
        page.keyboard.press("Control+a")
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        page.locator(".bm--edited.is-on .bm__name:focus").wait_for()
    while page.locator(".bm:not([data-decided])").count():
        _to_top(page, rows)
        for _ in range(rows):
            row = page.locator(".bm.is-on").get_attribute("id")
            page.keyboard.press("Enter")
            page.locator(f"#{row}[data-decided]").wait_for()
    page.locator("[data-left]", has_text="All rows are decided").wait_for()
    return time.perf_counter() - start


def _to_top(page: Page, rows: int) -> None:
    for _ in range(rows):
        page.keyboard.press("k")


def in_browser(
    bench: Bench, database_url: str, measure: Callable[[Page, str], None]
) -> None:
    """Let a browser, signed in as the reviewer, measure at a served address."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, FLAGS, WIDE

    session = bench.client.cookies["sessionid"].value
    with served(database_url) as server:
        place = f"http://127.0.0.1:{server.port}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            context = browser.new_context(viewport=WIDE)
            context.add_cookies([{"name": "sessionid", "value": session, "url": place}])
            measure(context.new_page(), place)
            browser.close()


def judged(said: str, found: float, unit: str, most: float) -> bool:
    """Print a figure beside its limit; whether it keeps it."""
    print(f"{said}: {found:.1f} {unit}, must be at most {most:.0f}", flush=True)
    return found <= most


def figures(database_url: str, rounds: int) -> Iterator[bool]:
    """Each figure, printed; whether it keeps its limit."""
    from reports.operations.reading.page_images import render_pages_of_report_in_review

    bench = make_bench()
    wide = stage_report(bench, *drawn_report(PAGES * ROWS_OF_A_PAGE))
    errors = stage_errors(bench)
    start = time.perf_counter()
    render_pages_of_report_in_review(tenant_pk=bench.tenant.pk, job_id=wide.job_id)
    print(f"{PAGES} pages drawn, beforehand: {time.perf_counter() - start:.1f} s")
    picture = bench.queue.replace("reviews/", f"reports/{wide.job_id}/pages/1/")
    kept = milliseconds(bench.client, picture, rounds)
    assert kept is not None
    print(f"a page that is kept, {kept[2] / 1024:.0f} KiB: {kept[0]:.1f} ms")
    opened = milliseconds(bench.client, bench.desk(wide), rounds)
    assert opened is not None
    text = (
        f"desk of {PAGES} pages and 100 rows, {opened[2] / 1024:.0f} KiB, by the server"
    )
    yield judged(text, opened[0], "ms", OPEN_MUST_MS)
    if shutil.which("chromium-headless-shell") or shutil.which("chromium"):
        browsed: dict[str, float] = {}

        def measure(page: Page, place: str) -> None:
            times = time_opening(page, f"{place}{bench.desk(wide)}", rounds)
            browsed["open"] = statistics.median(times)
            browsed["review"] = time_review(page, f"{place}{bench.desk(errors)}")

        in_browser(bench, database_url, measure)
        text = "the same until its first row has the focus"
        yield judged(text, browsed["open"], "ms", OPEN_MUST_MS)
        text = "thirty rows reviewed by keyboard"
        yield judged(text, browsed["review"], "s", REVIEW_MUST_S)
    narrow = stage_report(bench, *drawn_report(30))
    for review, rows in ((narrow, 30), (wide, 100)):
        found = time_saves(bench, review, rounds)
        yield judged(f"a row saved among {rows}", found, "ms", SAVE_MUST_MS)


def main() -> int:
    """Print the figures; 1 where one is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as uploads:
        os.environ["UPLOADS_DIR"] = uploads
        with database() as url:
            from django.conf import settings

            settings.SECRET_KEY = SERVED_SECRET_KEY  # one session for both
            logging.disable(logging.WARNING)
            kept = list(figures(url, rounds))
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main())
