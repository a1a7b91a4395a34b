"""The statuses and moves of an order, read out of the contract itself."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

CONTRACT = (Path(settings.BASE_DIR) / "docs/contract.md").read_text()
REQUISITION = ("requisition_created", "requisition_bypassed")
METHODS = ("walk_in_test", "at_home_phlebotomy", "testkit", "on_site_collection")
REGISTRABLE = "testkit (registrable)"
_NAME = re.compile(r"[a-z_]+")


def _section(title: str) -> str:
    start = CONTRACT.index(f"### {title} ")
    return re.split(r"\n##+ ", CONTRACT[start:])[0]


def _table(title: str, header: str) -> list[list[str]]:
    """The rows of the table whose header begins so."""
    lines = _section(title).splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith(f"| {header} |"))
    rows = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def _names(cell: str) -> list[str]:
    """The names in a cell, without what stands in brackets; `req` is two."""
    found = _NAME.findall(re.sub(r"\([^)]*\)", "", cell))
    return [one for name in found for one in (REQUISITION if name == "req" else [name])]


def read_tops() -> dict[tuple[str, str], str]:
    """6.11: the top-level status above a method's low-level one."""
    tops = (
        *("received", "collecting_sample", "sample_with_lab"),
        *("completed", "failed", "cancelled"),
    )
    return {
        (method, low): top
        for method, *cells in _table("6.11", "method")
        for top, cell in zip(tops, cells, strict=True)
        for low in _names(cell)
    }


def read_moves() -> dict[str, dict[str, set[str]]]:
    """6.12: by method, and for kits to register, what may follow a status."""
    tops = read_tops()
    lows = {
        method: {low for of, low in tops if of == method.split(" ")[0]}
        for method in (*METHODS, REGISTRABLE)
    }
    moves = {method: {low: set() for low in known} for method, known in lows.items()}
    for of, from_, to in _table("6.12", "Method"):
        if to.startswith("terminal"):
            continue
        for method in _methods(of):
            if method == REGISTRABLE and of == "all" and from_ == "ordered":
                continue  # it has a first step of its own
            for low in _names(from_):
                if low in lows[method]:
                    moves[method][low] |= set(_names(to)) & lows[method]
    # One row says both: a bound kit goes back, the other is registered first.
    moves["testkit"]["with_customer"] -= {"registered", "or"}
    moves[REGISTRABLE]["with_customer"] -= {"transit_lab", "or"}
    return moves


def _methods(cell: str) -> tuple[str, ...]:
    match cell:
        case "all":
            return (*METHODS, REGISTRABLE)
        case "testkit":  # the way is the same for both kinds of kits
            return ("testkit", REGISTRABLE)
        case "testkit (registered at order)":
            return ("testkit",)
        case _:
            return (cell,)


def read_cancellable() -> dict[str, set[str]]:
    """6.12: what may still be cancelled, by method."""
    line = next(one for one in _section("6.12").splitlines() if "Cancellable" in one)
    parts = re.findall(r"(\w+): ([^.]+)\.", line.replace("Cancellable [C]: ", ""))
    found: dict[str, set[str]] = {}
    before: set[str] = set()
    for method, text in parts:
        if method in METHODS:
            named = set(_names(text)) - {"those", "plus"}
            found[method] = named | (before if text.startswith("those") else set())
            before = found[method]
    return found


def read_terminal() -> set[str]:
    """6.12: what nothing follows, but for corrections."""
    line = next(
        one for one in _section("6.12").splitlines() if one.startswith("Terminal")
    )
    return set(_names(line.split(":")[1].split(";")[0]))


def read_appointment_moves() -> dict[str, set[str]]:
    """6.18: what may follow an appointment's status."""
    lines = _section("6.18").splitlines()
    line = next(one for one in lines if one.startswith("Transitions"))
    text = line.split(":", 1)[1].split(". ")[0]
    moves: dict[str, set[str]] = {"completed": set(), "cancelled": set()}
    for part in text.split(";"):
        old, following = part.split("->")
        moves[old.strip()] = set(_names(following))
    return moves


def read_job_moves() -> dict[str, set[str]]:
    """7.3: what may follow the status of a parsing job."""
    return {
        status: set(_names(next_)) & {row[0] for row in _table("7.3", "status")}
        for status, _, next_, _ in _table("7.3", "status")
    }


def read_ladder() -> tuple[int, ...]:
    """8.5: the seconds from a failed attempt to the next one."""
    text = re.search(r"at once, then after ([^(]+)\(", _section("8.5"))
    assert text is not None
    seconds = {"s": 1, "min": 60, "h": 3600}
    return tuple(
        int(number) * seconds[unit]
        for number, unit in re.findall(r"(\d+) (s|min|h)\b", text[1])
    )
