"""A billion samples on one machine: bytes, memory, reads, packing, erasure.

Run `python -m tests.bench.users.billion [--samples N] [--users N] [--processes N]
[--folder PATH] [--rounds N]`. The folder holds a PostgreSQL of its own, gone at the
end: some 3 bytes a sample, and 1 GB for each 6 million hot ones. Closed days are
written by the store's own `save_packed_days`, without being rows first; seven hot days
of each user are rows beside them, and count apart. A further user has five years.
Values as in tests.bench.users.packing; what is read back at random is compared with
what was drawn.

Must (performance.md section 1, for 1 billion of 2 000 users): 3 bytes a sample, under
4 GB of disk and of memory, a day 6 ms, a week 30 ms, a month's sums 20 ms at p95, a
million samples packed a second and core, a user of five years erased in 2 s.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tests.bench.stage import private_database, processes_below
from tests.bench.users.packing import (
    _FILL,
    _SIZE,
    CODES,
    DAY,
    HEART,
    START,
    STEPS,
    TEMPERATURE,
    Clock,
    ask,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from users.store.packed.codec import DayColumns
    from users.store.packed.days import DayKey

SAMPLES_A_DAY = 1973  # 1 440 beats less 8 %, 900 steps less 60 %, 288 temperatures
HOT_DAYS, FIVE_YEARS = 7, 1826
# Days of one transaction; so many are drawn again to be compared.
CHUNK = 30
HOT_USERS = 20
PACKED_USERS, COMPARED_CHUNKS = 100, 40
OPTIONS = (
    "shared_buffers=1GB",
    "max_wal_size=4GB",
    "synchronous_commit=off",
    "checkpoint_timeout=15min",
    "maintenance_work_mem=256MB",
    "work_mem=64MB",
)


class Task(NamedTuple):
    """Days of a user to be written, packed or as rows."""

    users: tuple[int, ...]
    first: date
    days: int
    is_packed: bool


def draw(user: int, first: date, days: int) -> Iterator[tuple[DayKey, DayColumns]]:
    """Yield packed days of a user; the same whenever they are drawn."""
    from users.store.packed.codec import DayColumns, convert_to_microseconds
    from users.store.packed.days import DayKey

    source = np.random.default_rng([user, first.toordinal()])
    for number in range(days):
        day = first + timedelta(days=number)
        start = convert_to_microseconds(day)
        beats = np.flatnonzero(source.random(1440) > 0.08)
        walked = 420 + np.flatnonzero(source.random(900) > 0.6)
        measured = np.arange(0, 1440, 5)
        turn = start / 1e6
        for series, minutes, duration, values in (
            (
                HEART,
                beats,
                0,
                np.rint(
                    70
                    + 25 * np.sin((turn + beats * 60) / 5000 + user)
                    + 4 * source.random(len(beats))
                ),
            ),
            (STEPS, walked, 60, np.rint(120 * source.random(len(walked)))),
            (
                TEMPERATURE,
                measured,
                0,
                np.round(
                    36.5
                    + 0.4 * np.sin((turn + measured * 60) / 14000)
                    + source.random(len(measured)) / 10,
                    1,
                ),
            ),
        ):
            size = len(minutes)
            yield (
                DayKey(series, 1, day),
                DayColumns(
                    minutes.astype(np.int64) * 60_000_000 + start,
                    values.astype(np.float64),
                    np.full(size, 3600, np.int32),
                    np.full(size, duration, np.int32),
                    np.full(size, 1, np.int32),
                ),
            )


def prepare() -> None:
    """Set a process of the pool up, by what this one left in the environment."""
    import django

    django.setup()
    from tests.fence import open_connections

    open_connections()


def write(task: Task) -> int:
    """Write a task; return the number of samples."""
    from django.db import transaction

    from users.store.packed.days import save_packed_days

    if not task.is_packed:
        start = START + timedelta(days=(task.first - START.date()).days)
        fill = _FILL.format(**CODES)
        until = start + task.days * DAY
        ask(fill, {"start": start, "end": until, "users": list(task.users)})
        return 0
    (user,) = task.users
    days = dict(draw(user, task.first, task.days))
    with transaction.atomic():
        save_packed_days(user_id=user, days=days)
    return sum(len(day.ts) for day in days.values())


def split(users: tuple[int, ...], first: date, days: int) -> Iterator[Task]:
    """Closed days of users as tasks."""
    for user in users:
        for past in range(0, days, CHUNK):
            start = first + timedelta(days=past)
            yield Task((user,), start, min(CHUNK, days - past), is_packed=True)


class Memory:
    """The most that this process, its pool and the database held together."""

    def __init__(self) -> None:
        self.most = 0.0

    def look(self) -> None:
        total = 0
        for pid in {*processes_below(os.getpid())}:
            try:
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            except OSError:
                continue
            total += sum(int(n.split()[1]) for n in lines if n.startswith("Pss:"))
        self.most = max(self.most, total / 2**20)


def compare(users: tuple[int, ...], first: date, days: int) -> int:
    """Compare chunks of days with what was drawn; return the number of samples."""
    from users.store.packed.days import fetch_packed_days

    source = random.Random(1)  # noqa: S311 - the same in each run
    tasks = source.choices(list(split(users, first, days)), k=COMPARED_CHUNKS)
    number = 0
    for task in tasks:
        (user,) = task.users
        drawn = dict(draw(user, task.first, task.days))
        stored = fetch_packed_days(user_id=user, keys=drawn)
        for key, day in drawn.items():
            found = stored[key]
            assert found is not None
            assert found.equals(day), (user, key)
            number += len(day.ts)
    return number


def erase(tenant: Any, user: int) -> float:
    """Erase a user as the job does; return the seconds."""
    from django.db import transaction
    from django.utils import timezone

    from tests.factories.accounts import ACTOR
    from users.models import User
    from users.operations.users.users import erase_user

    person = User.objects.for_tenant(tenant).get(pk=user)
    began = timezone.now()
    User.objects.for_tenant(tenant).filter(pk=user).update(deleted_at=began)
    start = time.perf_counter()
    with transaction.atomic():
        is_erased = erase_user(
            tenant=tenant, actor=ACTOR, user_uuid=person.uuid, grace=timedelta(0)
        )
    assert is_erased
    assert not ask("SELECT count(*) FROM users_packedday WHERE user_id = %s", [user])
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20_000_000)
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"))  # noqa: S108 - what is made there nobody guesses
    parser.add_argument("--rounds", type=int, default=300)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    given.folder.chmod(0o755)  # PostgreSQL runs as another user
    hot = given.users * HOT_DAYS * SAMPLES_A_DAY
    needed = 3 * given.samples + 300 * hot + 8 * 2**30
    free = shutil.disk_usage(given.folder).free
    if free < needed:
        parser.error(f"{needed / 2**30:.0f} GB needed, {free / 2**30:.0f} free")
    with private_database(options=OPTIONS, folder=given.folder):
        run(given)


def run(given: argparse.Namespace) -> None:
    from django.db import connection

    from tests.bench.users import user_list
    from tests.factories.accounts import make_team, make_tenant
    from users.models import User
    from users.store.partitions import ensure_sample_partitions

    days = max(CHUNK, round(given.samples / given.users / SAMPLES_A_DAY))
    hot = START + days * DAY
    tenant = make_tenant(team=make_team("Billion"), environment="production")
    user_list.fill(tenant, given.users + 1)
    people = User.objects.for_tenant(tenant).order_by("pk")
    *listed, veteran = people.values_list("pk", flat=True)
    users = tuple(listed)
    ensure_sample_partitions(START.date(), (hot + HOT_DAYS * DAY).date())
    tasks = [
        *split(users, START.date(), days),
        *split((veteran,), (hot - FIVE_YEARS * DAY).date(), FIVE_YEARS),
        *(
            Task(users[place : place + HOT_USERS], hot.date(), HOT_DAYS, False)
            for place in range(0, len(users), HOT_USERS)
        ),
    ]
    memory = Memory()
    began = time.perf_counter()
    # Forked processes would share the connection.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.processes, spawn, prepare) as pool:
        closed = 0
        for place, number in enumerate(pool.map(write, tasks, chunksize=4)):
            closed += number
            if place % max(1, len(tasks) // 20) == 0:
                memory.look()
                done = time.perf_counter() - began
                print(f"  {done:6.0f} s, {closed:,} samples packed", flush=True)
    print(f"written in {time.perf_counter() - began:.0f} s")
    for table in ("users_packedday", "users_sample"):
        ask(f"VACUUM ANALYZE {table}")
    report_sizes(closed, users, days)
    memory.look()
    print(f"compared with what was drawn: {compare(users, START.date(), days):,}")
    clock = Clock()
    print("packed:")
    reads(list(users), days, given.rounds, clock)
    print("rows:")
    reads(list(users), HOT_DAYS, given.rounds, clock, hot)
    memory.look()
    pack(users, hot, clock)
    seconds = erase(tenant, veteran)
    print(f"erased a user of five years in {seconds:.2f} s (must 2)")
    memory.look()
    print(f"memory of all processes at most {memory.most:.2f} GB (must 4)")
    connection.close()


def report_sizes(closed: int, users: tuple[int, ...], days: int) -> None:
    stored, packed_days = ask(
        "SELECT ARRAY[sum(count), count(*)]::bigint[] FROM users_packedday"
    )
    assert stored == closed
    size, rows = ask(_SIZE, ["users_packedday"]), ask(_SIZE, ["users_sample%"])
    hot = ask("SELECT count(*) FROM users_sample")
    print(
        f"{closed:,} samples of {len(users) + 1} users in {packed_days:,} packed days"
    )
    print(
        f"  {size / closed:.2f} bytes a sample (must 3), {size / 1e9:.2f} GB (must 4)"
    )
    print(f"{hot:,} hot samples as rows of {HOT_DAYS} days")
    print(f"  {rows / hot:.1f} bytes a sample, {rows / 1e9:.2f} GB", flush=True)


def pack(users: tuple[int, ...], hot: Any, clock: Clock) -> None:
    """Look for rows to pack, of which there are none, then pack hot days."""
    from users.store.packed.candidates import find_users_to_pack
    from users.store.packed.packing import pack_days_of_user

    _, before = clock.now()
    nobody = list(find_users_to_pack(early=hot, late=hot, quiet_since=hot))
    _, after = clock.now()
    assert nobody == []
    each = (after - before) * 1000 / len(users)
    print(f"a look whether a user has rows to pack: {each:.2f} cpu ms, once a day")
    chosen = users[:PACKED_USERS]
    start, before = clock.now()
    moved = sum(
        pack_days_of_user(user_id=user, before=hot + HOT_DAYS * DAY).samples
        for user in chosen
    )
    end, after = clock.now()
    print(f"packed {moved:,} hot samples of {len(chosen)} users:")
    print(
        f"  {moved / (end - start):,.0f} samples/s,"
        f" {moved / (after - before):,.0f} a second of CPU (must 1,000,000)"
    )


if __name__ == "__main__":
    main()
