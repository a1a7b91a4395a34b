"""No test lets health data or a secret into a log: a plugin tests/conftest.py names.

Each line is looked at as the server would write it. What tests plant in people's rows,
and secrets by their form, fail the test that let them out.
"""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from portal.lib.logs import LineFormatter, RouteFilter

PLANTED = re.compile(
    # Patients, users and their contacts, as factories and tests name them.
    r"\b(?:Ada|Lovelace|Rosa)\b|ada@|\+1555010|Sample Street|alices-user|mbr_\d"
    r"|canaryquince|canaryplum|1990-05-17"
    # Keys, signing secrets, tokens of users, what is encrypted, hashes of passwords.
    r"|\b(?:sk|mg|at)_[\w-]{20}|whsec_[\w+/]{20}|gAAAAA[\w-]{20}|\$argon2"
)


class LogWatch(logging.Handler):
    """Keeps the names of loggers whose lines hold what is planted, never the lines."""

    def __init__(self) -> None:
        super().__init__()
        self.addFilter(RouteFilter())
        self.setFormatter(LineFormatter())
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if found := PLANTED.search(self.format(record)):
            self.found.append(f"{record.name} logged {found[0][:12]}…")


watch = LogWatch()


def pytest_sessionstart() -> None:
    """Listen beside the server's own handler."""
    logging.getLogger().addHandler(watch)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: Any) -> None:
    """Fail the test whose lines said too much."""
    if watch.found:
        found, watch.found = watch.found, []
        pytest.fail(f"{item.nodeid}: {', '.join(sorted(set(found)))}", pytrace=False)
