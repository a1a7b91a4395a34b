"""How much of a process one team may use at once, so that its worst day is its own.

Each process counts for itself. Source: Ours: while one team does its worst, another's
slowest calls (p99) should take at most twice as long; `python -m tests.bench.neighbors`
measures it. Places alone do not do it: portal.server.pacing bounds time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Where a view writes the team of its caller, in the WSGI environment.
TEAM = "portal.team"
# A list there of what the thread of a request does once that is answered.
AFTER_ANSWER = "portal.after_answer"


class Budget(NamedTuple):
    """A kind of request that is heavy, and what one team may have of it in a process.

    `at_once` are at work, up to `held` with those that wait for their turn; one more is
    answered 503 `busy`, with Retry-After.
    """

    kind: str
    paths: re.Pattern[str]
    at_once: int
    held: int
    retry_after_s: int


_OF_A_USER = "/t/[^/]+/[^/]+/users/[^/]+"
# Requests of web processes. The first that fits counts; others are light.
HEAVY_REQUESTS = (
    Budget("explorer", re.compile(rf"{_OF_A_USER}/explorer/$"), 1, 16, 2),
    Budget(
        "exports",
        re.compile(rf"/t/.*/file/$|{_OF_A_USER}/exports/|/v2/link/bulk_export"),
        *(1, 8, 5),
    ),
    Budget(
        "imports",
        re.compile(
            rf"{_OF_A_USER}/imports/|/t/[^/]+/[^/]+/(users|orders)/import/"
            r"|/connect/.*/(file|imports)/|/v2/link/bulk_import|/v3/order/import"
        ),
        *(1, 8, 5),
    ),
    Budget("fhir", re.compile("/fhir/R4(/|$)"), 1, 32, 2),
    Budget("reports", re.compile(r"/lab_report/v1/parser/|/t/.*/upload/$"), 1, 32, 5),
)
# Queues of jobs that may take minutes: one place fewer than for all jobs of a team.
HEAVY_QUEUES = ("imports", "parsing")
# Queues of long jobs of no team, of which a worker runs one at a time: what more it has
# to do is for other workers.
LONE_QUEUES = ("packing",)


def find_budget(path: str) -> Budget | None:
    """Return the budget that a request's path counts with, None of a light one."""
    for budget in HEAVY_REQUESTS:
        if budget.paths.match(path):
            return budget
    return None


def find_share(places: int) -> int:
    """Return how many of a process's places one team may take.

    A third of them, rounded down, and at least one is left to other teams, but of a
    single place.
    """
    return places if places == 1 else places - max(1, places // 3)


def find_shares_by_queue(places: int) -> dict[str, int]:
    """Return how many of a worker's places a queue's jobs may take, by queue.

    In a heavy queue those of one team, in a lone one all.
    """
    heavy = max(1, find_share(places) - 1)
    return dict.fromkeys(HEAVY_QUEUES, heavy) | dict.fromkeys(LONE_QUEUES, 1)
