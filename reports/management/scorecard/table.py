"""The scorecard as lines of text: marks by layout and kind, calibration, faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.management.scorecard.calibration import (
    build_reliability_bins,
    expected_error,
)
from reports.management.scorecard.marking import CLAIMS, PARTS, Marks, add_marks
from reports.management.scorecard.scoring import Scored, marks_by_layout

_WIDTH = 34


def format_kind_lines(
    title: str, scored: Sequence[Scored], *, errors: bool
) -> Iterator[str]:
    """Return one kind of file as lines: a layout each, worst first, and the sum."""
    lab = [one for one in scored if one.report.is_lab_report]
    other = [one for one in scored if not one.report.is_lab_report]
    if lab:
        yield _heads(title)
        by_layout = marks_by_layout(lab)
        worst_first = sorted(by_layout.items(), key=lambda item: item[1].rate("strict"))
        for layout, marks in worst_first:
            yield _line(layout, marks)
            yield from (f"      {fault}" for fault in marks.faults if errors)
        total = add_marks(list(by_layout.values()))
        yield _line("ALL", total)
        yield (
            f"{total.invented} rows invented, {total.misread} values misread, "
            f"{total.wrong_codes} wrong codes matched without review"
        )
        for one in lab:
            if one.refusal is not None:
                yield f"refused: {one.report.layout} ({one.refusal})"
    if other:
        found = sum(one.marks.invented for one in other)
        yield f"{title}, {len(other)} not a lab report: {found} rows invented"
        for one in other:
            if one.marks.invented:
                yield f"      {one.report.layout}: {one.marks.invented}"
                yield from (f"      {fault}" for fault in one.marks.faults if errors)


def format_calibration_lines(marks: Marks) -> Iterator[str]:
    """Return stated against true confidence, and the expected error, as lines."""
    for part in CLAIMS:
        claims = [claim for claim in marks.claims if claim.part == part]
        if not claims:
            continue
        yield f"confidence of {part}: expected error {expected_error(claims):.3f}"
        for found in build_reliability_bins(claims):
            yield (
                f"  {found.low:.2f} to {found.high:.2f}  {found.claims:>6} claims"
                f"  stated {found.stated:.3f}  right {found.right:.3f}"
            )


def _heads(title: str) -> str:
    heads = "".join(f"{part[:7]:>8}" for part in PARTS)
    return f"{title:<{_WIDTH}}{heads}{'rows':>6}"


def _line(name: str, marks: Marks) -> str:
    cells = "".join(
        f"{100 * marks.rate(part):>8.1f}" if marks.parts[part].asked else f"{'-':>8}"
        for part in PARTS
    )
    return f"{name:<{_WIDTH}}{cells}{marks.parts['recall'].asked:>6}"
