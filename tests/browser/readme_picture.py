"""Takes README's picture from a running demo: a parsed report, 1440 px wide, light.

Run `uv run manage.py demo`, then `uv run python -m tests.browser.readme_picture`.
"""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, FLAGS

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "report.png"
SIZE = {"width": 1440, "height": 1000}


def take_picture() -> None:
    """Sign in as demo says, open its newest report and write the picture."""
    notes = json.loads((ROOT / "var" / "demo.json").read_text())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(base_url=notes["address"], viewport=SIZE)
        page.goto("/")
        page.fill("input[name=login]", notes["email"])
        page.fill("input[name=password]", notes["password"])
        page.keyboard.press("Enter")
        page.wait_for_url("**/t/demo/**")
        page.goto("/t/demo/sandbox/reports/")
        page.click("table a.rowlink")
        page.wait_for_selector("text=Completed")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    take_picture()
