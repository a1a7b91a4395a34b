"""A headless Chromium that fails a test on any script error or broken content policy.

The browser is the distribution's own; nothing is downloaded.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache
from django.db import connection
from django.test import Client
from playwright.sync_api import sync_playwright

# Playwright's synchronous face runs a loop in this thread, which Django takes for
# asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# The headless shell is the same engine at less than half of the processor time.
CHROMIUM = (
    shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
    or "/usr/bin/chromium"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Of so many pages one is judged in each look, and one by the rules of structure.
LOOKED_AT = 4
STRUCTURE_LOOKED_AT = 2
looks_at_all = False
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
# A form that comes back with its errors is a 422, which Chromium also logs.
INVALID_FORM = "the server responded with a status of 422"
OVERFLOW = """
document.documentElement.scrollWidth - document.documentElement.clientWidth
"""
# Colours are true two frames after the theme is switched, however short their change.
# More than two thirds of what axe takes goes into colours.
COLOURS = {"runOnly": ["color-contrast"]}
ALL_BUT_COLOURS = {"rules": {"color-contrast": {"enabled": False}}}
RUN_AXE = """async ([part, theme, rules]) => {
  document.documentElement.dataset.theme = theme;
  await new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)));
  const options = { resultTypes: ["violations"], ...rules };
  const judged = part && document.querySelector(part) ? part : document;
  const { violations } = await axe.run(judged, options);
  return violations.map(({ id, nodes }) => `${id} ${nodes[0].html}`);
}"""
TWO_FRAMES = """
() => new Promise(go => requestAnimationFrame(() => requestAnimationFrame(() => go())))
"""
WATCH_POLICY = """
addEventListener("securitypolicyviolation", (e) =>
  console.error(`policy: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`));
"""


def pytest_configure(config: pytest.Config) -> None:
    """Look at all pages where the command line asks for what takes long."""
    global looks_at_all
    marks = config.option.markexpr
    looks_at_all = "long" in marks and "not long" not in marks


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def tell(what: str, url: str) -> None:
    """Print a step of a visit, which pytest shows when the test fails."""
    if "/static/" not in url:
        sys.stdout.write(f"{time.monotonic():.2f} {what} {url}\n")


class Visit:
    """Opens pages of the running server; collects what the browser complains of."""

    def __init__(self, chromium: Any, address: str) -> None:
        self.chromium = chromium
        self.address = address
        self.complaints: list[str] = []
        self.expected = [INVALID_FORM]

    @contextmanager
    def page(
        self,
        *,
        member: Any = None,
        client: Client | None = None,
        theme: str = "light",
        size: dict[str, int] = WIDE,
        scripts: bool = True,
    ):
        """A page of nobody, of a member, or of a test client that is signed in."""
        context = self.chromium.new_context(
            base_url=self.address,
            color_scheme=theme,
            viewport=size,
            java_script_enabled=scripts,
            reduced_motion="reduce",  # nothing is looked at halfway
        )
        if member is not None:
            client = Client()
            client.force_login(member)
        if client is not None:
            session = client.cookies["sessionid"].value
            context.add_cookies(
                [{"name": "sessionid", "value": session, "url": self.address}]
            )
        context.add_init_script(WATCH_POLICY)
        page = context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda sent: tell("asked", sent.url))
        page.on("response", lambda reply: tell(str(reply.status), reply.url))
        page.on("framenavigated", lambda frame: tell("now at", frame.url))
        try:
            yield page
        finally:
            context.close()

    def _hear(self, message: Any) -> None:
        text = message.text
        if message.type == "error" and not any(e in text for e in self.expected):
            self.complaints.append(text)


@pytest.fixture
def visit(chromium, live_server):
    cache.clear()  # failed sign-ins are counted there, in a table no flush empties
    visit = Visit(chromium, live_server.url)
    yield visit
    assert visit.complaints == []


@pytest.fixture
def read_reports(run_jobs):
    """Call it to run the jobs, in a thread of their own: Playwright's loop has ours."""

    def work():
        try:
            run_jobs()
        finally:
            connection.close()

    def read():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()

    return read


def open_painted(page: Any, address: str) -> None:
    """Open a page whose keyboard is used at once."""
    page.goto(address)
    wait_until_painted(page)


def wait_until_painted(page: Any) -> None:
    """Wait until the page in view is parsed and drawn.

    Chromium drops keys that arrive before a page's first frame, and a script that runs
    while one page replaces another finds no document.
    """
    page.wait_for_load_state()
    page.evaluate(TWO_FRAMES)


def assert_sound(page: Any) -> None:
    """No accessibility violation, and nothing scrolls the page sideways."""
    found = Axe().run(page)
    assert [v["id"] for v in found.response["violations"]] == [], (
        found.generate_report()
    )
    assert page.evaluate(OVERFLOW) <= 0


def complaints(page: Any, part: str = "", *, whole: bool = False) -> list[str]:
    """What is wrong with the page, or with what is open over it.

    All rules judge it wide in light and small in dark; of what is around the page's own
    content, which is the same on hundreds of pages, only `whole` judges more than its
    structure. Without `check_all --long` every page is judged by how far it overflows,
    one in two by its structure and one in four by its colours: both come from the same
    few components.
    """
    if not is_looked_at(page.url, part, STRUCTURE_LOOKED_AT):
        return overflows(page)
    found = complaints_of_the_structure(page, part)
    if not is_looked_at(page.url, part, LOOKED_AT):
        return found
    own = part or ("" if whole else "main")
    found += faults(page, own, "light", COLOURS)
    page.set_viewport_size(PHONE)
    found += faults(page, own, "dark")
    page.set_viewport_size(WIDE)
    return found


def complaints_of_the_structure(
    page: Any, part: str = "", *, whole: bool = False
) -> list[str]:
    """What is wrong with it but for its colours, wide; how far it overflows, in both.

    It judges what is around the page's own content as well, `whole` or not.
    """
    begin_judging(page)
    return faults(page, part, "light", ALL_BUT_COLOURS) + overflows(page)


def overflows(page: Any) -> list[str]:
    """How far it overflows, small and wide."""
    wait_until_painted(page)
    found = []
    for size in (PHONE, WIDE):
        page.set_viewport_size(size)
        wider = page.evaluate(OVERFLOW)
        found += [f"{size['width']}: {wider} px too wide"] * (wider > 0)
    return found


def complaints_of_the_dark(
    page: Any, part: str = "", *, whole: bool = True
) -> list[str]:
    """Colours, wide in dark, of the page or of what is open over it.

    A small screen in dark is judged by `complaints`; it leaves out some columns.
    """
    begin_judging(page)
    judged = part or ("" if whole else "main")
    return faults(page, judged, "dark", COLOURS)


def is_looked_at(url: str, part: str, one_in: int) -> bool:
    """Whether a page is of the sample, which its address decides but for its ids."""
    kind = re.sub(r"[\w-]{20,}|\d+", "", urlsplit(url).path)
    return looks_at_all or crc32(f"{kind} {part}".encode()) % one_in == 0


def begin_judging(page: Any) -> None:
    wait_until_painted(page)
    page.evaluate(AXE_SCRIPT)


def faults(
    page: Any, part: str, theme: str, rules: dict[str, Any] | None = None
) -> list[str]:
    """What axe finds by all rules or some, in the page as it is now or a part of it."""
    width = page.viewport_size["width"]
    found = page.evaluate(RUN_AXE, [part, theme, rules or {}])
    return [f"{width} {theme}: {fault}" for fault in found]
