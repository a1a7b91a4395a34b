"""Builds the page that answers OWASP ASVS 5.0.0, levels 1 and 2, line by line.

asvs.txt beside it has the answers. The standard is CC BY-SA 4.0: its numbers are cited,
its text is not; what a line asks stands in words of ours.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

# As a page shows them.
STATES = {
    "met": "met",
    "part": "in part",
    "not met": "**not met**",
    "none": "does not apply",
    "installation": "up to the installation",
}
# The last line of levels 1 and 2 in each section; below it none is of level 3.
_LAST_LINES = """
1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2
4.1:3 4.2:1 4.3:2 4.4:4 5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3
6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2
10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1
12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3
15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2
"""
ASVS_LINES = tuple(
    f"{section}.{number}"
    for section, last in (each.split(":") for each in _LAST_LINES.split())
    for number in range(1, int(last) + 1)
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What Assay says to some lines of the standard; `evidence` are paths."""

    chapter: str
    lines: tuple[str, ...]
    label: str
    asks: str
    state: str
    text: str
    evidence: tuple[str, ...]


def list_asvs_answers() -> list[Answer]:
    """Return the answers in the order of the standard."""
    found: list[Answer] = []
    chapter = ""
    for row in Path(__file__).with_name("asvs.txt").read_text().splitlines():
        if row.startswith("## "):
            chapter = row.removeprefix("## ")
        elif row and not row.startswith("#"):
            label, asks, state, text, evidence = (
                part.strip() for part in row.split("|")
            )
            found.append(
                Answer(
                    chapter,
                    tuple(_expand(label)),
                    label,
                    asks,
                    state,
                    text,
                    tuple(evidence.split()),
                )
            )
    return found


def build_asvs_reference(generated: str) -> str:
    """Return docs/reference/asvs.md."""
    answers = list_asvs_answers()
    counts = Counter(each.state for each in answers for _ in each.lines)
    lines = [
        *("# OWASP ASVS 5.0", "", generated, ""),
        "How Assay answers each of the"
        f" {counts.total()} lines of levels 1 and 2 of the OWASP Application Security"
        " Verification Standard 5.0.0: by a test, by a document, or by why it is not"
        " met. Nobody outside has verified it. The standard is by OWASP, under CC BY-SA"
        " 4.0; its numbers are cited, and what a line asks is in our own short words.",
        "",
        "| State | Lines |",
        "|---|---|",
        *(f"| {shown} | {counts[state]} |" for state, shown in STATES.items()),
        "",
        "*Does not apply* means that Assay has nothing of the kind. *Up to the"
        " installation* means that its operators decide.",
    ]
    chapter = ""
    for each in answers:
        if each.chapter != chapter:
            chapter = each.chapter
            lines += ["", f"## {chapter}", ""]
            lines += [
                "| Lines | Asks | State | How | Evidence |",
                "|---|---|---|---|---|",
            ]
        evidence = ", ".join(f"`{path}`" for path in each.evidence)
        lines.append(
            f"| {each.label} | {each.asks} | {STATES[each.state]} | {each.text} |"
            f" {evidence} |".replace("|  |", "| |")
        )
    return "\n".join(lines) + "\n"


def _expand(label: str) -> list[str]:
    """Return the lines of "1.4.1, 1.4.3-1.4.5"."""
    found = []
    for part in label.split(", "):
        first, _, last = part.partition("-")
        section, _, start = first.rpartition(".")
        end = last.rpartition(".")[2] or start
        found += [f"{section}.{number}" for number in range(int(start), int(end) + 1)]
    return found
