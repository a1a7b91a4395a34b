"""Which files of the lake differ from what is stored.

Each run compares a mark of each month's rows with that of its file. So what is new,
late, changed, deleted, erased or past its retention is found alike, and no writer has
to know of the lake.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from accounts.models import Tenant
from exchange.models import LakeFile
from exchange.payloads.lake.places import choose_part_length
from exchange.payloads.lake.rows import Extract
from exchange.payloads.lake.schema import DATASETS, VERSION
from labs.queries.results.months import find_result_marks
from portal.lib.tenancy import acting_for
from users.queries import count_live_users
from users.queries.data.months import find_summary_marks
from users.store.months import find_sample_marks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portal.lib.database.months import MonthMark

# Ours: by then wearables have sent what they measured and packing has settled.
CLOSED_AFTER = timedelta(days=7)
_Month = tuple[int, str, date]


@dataclass(frozen=True, slots=True)
class Due:
    """What a run has to do: files to write with their marks, and files to remove."""

    write: list[tuple[Extract, str]]
    remove: list[LakeFile]
    unchanged: int


def find_closed_before(at: datetime) -> datetime:
    """Return the start of the first month (UTC) that is not closed yet."""
    ended = at.astimezone(UTC) - CLOSED_AFTER
    return ended.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def find_due_files(*, at: datetime) -> Due:
    """Compare all closed months with their files; inside `across_tenants`."""
    before = find_closed_before(at)
    marks: dict[_Month, dict[str, MonthMark]] = defaultdict(dict)
    found = {
        "samples": find_sample_marks(before=before),
        "summaries": find_summary_marks(before=before.date()),
        "results": find_result_marks(before=before),
    }
    for dataset in DATASETS:
        for each in found[dataset]:
            if each.number:
                marks[each.tenant_pk, dataset, each.month][each.prefix] = each
    files: dict[_Month, dict[str, LakeFile]] = defaultdict(dict)
    for file in LakeFile.unscoped.select_related("tenant__team"):
        files[file.tenant_id, file.dataset, file.month][file.part] = file
    tenants = Tenant.objects.select_related("team").in_bulk({key[0] for key in marks})
    lengths = {
        pk: _choose_length(tenant)
        for pk, tenant in tenants.items()
        if tenant.team.deleted_at is None
    }
    write: list[tuple[Extract, str]] = []
    remove: list[LakeFile] = []
    unchanged = 0
    for key in sorted(marks.keys() | files.keys()):
        tenant_pk, dataset, month = key
        stored, wanted = files.get(key, {}), {}
        if tenant_pk in lengths:
            # As the month was split when it was exported first.
            length = max(map(len, stored), default=lengths[tenant_pk])
            wanted = _join_marks(marks.get(key, {}), length)
        for part, mark in wanted.items():
            if part in stored and stored[part].mark == mark:
                unchanged += 1
                continue
            write.append((Extract(tenants[tenant_pk], dataset, month, part), mark))
        remove.extend(file for part, file in stored.items() if part not in wanted)
    return Due(write, remove, unchanged)


def _choose_length(tenant: Tenant) -> int:
    with acting_for(tenant):
        return choose_part_length(count_live_users(tenant=tenant))


def _join_marks(marks: Mapping[str, MonthMark], length: int) -> dict[str, str]:
    """Return the marks of a month's files, by the digits that they are split by."""
    joined: dict[str, tuple[int, int]] = {}
    for prefix, each in marks.items():
        number, mark = joined.get(prefix[:length], (0, 0))
        joined[prefix[:length]] = number + each.number, mark ^ each.mark
    return {
        part: f"{VERSION}-{number}-{mark % 2**64:016x}"
        for part, (number, mark) in sorted(joined.items())
    }
