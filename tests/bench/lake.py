"""The lake: bytes a sample, rows a second, memory, a run without changes, an erasure.

Run `python -m tests.bench.lake [--users N] [--days N] [--rows]`. Users have heart rate
by the minute, steps and temperatures as in `tests.bench.users.packing`; `--rows` leaves
them unpacked. Peak memory is that of the process above what it had before.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.bench.stage import backend_seconds, database
from tests.bench.users.packing import _FILL, CODES, DAY, START, ask

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--days", type=int, default=181)
    parser.add_argument("--rows", action="store_true")
    given = parser.parse_args()
    with database(), tempfile.TemporaryDirectory() as folder:
        run(given.users, given.days, folder, is_packed=not given.rows)


def fill(number: int, days: int, *, is_packed: bool) -> Any:
    from tests.bench.users import user_list
    from tests.factories.accounts import make_team, make_tenant
    from users.models import Feed, Origin, User
    from users.store.packed.packing import pack_days_of_user
    from users.store.partitions import ensure_sample_partitions

    tenant = make_tenant(team=make_team("Lake"), environment="production")
    user_list.fill(tenant, number)
    people = User.objects.for_tenant(tenant).order_by("pk")
    users = list(people.values_list("pk", flat=True))
    Feed(tenant=tenant, number=1, provider="oura", source_type="ring").save()
    for pk in users:
        Origin(tenant=tenant, user_id=pk, number=1, app_id="org.example.app").save()
    ensure_sample_partitions(START.date(), (START + days * DAY).date())
    for day in range(0, days, 30):
        until = START + min(days, day + 30) * DAY
        inputs = {"start": START + day * DAY, "end": until, "users": users}
        ask(_FILL.format(**CODES), inputs)
        if is_packed:
            for pk in users:
                pack_days_of_user(user_id=pk, before=until)
            ask("VACUUM users_sample")
    ask("VACUUM ANALYZE users_sample")
    ask("VACUUM ANALYZE users_packedday")
    return tenant


def run(number: int, days: int, folder: str, *, is_packed: bool) -> None:
    from django.conf import settings

    from exchange.models import LakeFile
    from exchange.operations.lake.exporting import export_lake
    from tests.factories.accounts import ACTOR
    from users.models import User
    from users.operations.users.users import delete_user

    tenant = fill(number, days, is_packed=is_packed)
    settings.LAKE_DIR = folder
    at = START + days * DAY + timedelta(days=40)
    server = ask("SELECT pg_backend_pid()")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def timed(what: Callable[[], Any]) -> tuple[Any, float, float]:
        wall, cpu = time.perf_counter(), time.process_time() + backend_seconds([server])
        done = what()
        used = time.process_time() + backend_seconds([server]) - cpu
        return done, time.perf_counter() - wall, used

    first, wall, cpu = timed(lambda: export_lake(at=at))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = sum(LakeFile.unscoped.values_list("size", flat=True))
    print(f"{first.rows:,} samples of {number} users in {first.written} files:")
    print(f"  {size / first.rows:.3f} bytes a sample")
    print(f"  {first.rows / wall:,.0f} samples/s, {first.rows / cpu:,.0f} of CPU")
    print(f"  memory {before / 1024:,.0f} MB before, {peak / 1024:,.0f} MB at most")
    again, wall, _ = timed(lambda: export_lake(at=at))
    print(f"without changes: {again.unchanged} files compared in {wall:.2f} s")
    user = User.objects.for_tenant(tenant).order_by("pk").first()
    assert user is not None
    user.tenant = tenant
    delete_user(user=user, actor=ACTOR)
    gone, wall, _ = timed(lambda: export_lake(at=at))
    print(f"a user leaves {gone.written} files in {wall:.1f} s")


if __name__ == "__main__":
    main()
