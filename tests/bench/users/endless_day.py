"""A day that does not end: wearers, jobs, a backup and vacuum, 60 times as fast.

Run `python -m tests.bench.users.endless_day [--wearers N] [--hours N] [--reads N]
[--speed N] [--folder PATH]`. Each wearer's phone sends an hour of heart rates by the
minute and, by day, of steps, at the wearer's own minute of the hour, every fourth hour
temperatures, and now and then an hour again, or a forgotten sample of a packed day.
Members and the team's system read meanwhile, `--reads` a simulated minute; each new
batch is an event that a receiver gets. Server
(2 workers), worker and deliverer are the real processes. Jobs whose hour matters run at
the simulated one: packing hourly (a 24th of the wearers each), daily totals every ten
minutes, retention and a backup at night, a second backup and an erasure at noon.

The simulated day is yesterday (UTC), with seven days of rows before it, which is what
packing leaves, and packed days in the month that retention deletes.

Must (performance.md; issue 35): queues flat, bloat under 20 %, and at the end each
sample that was acknowledged is stored once. A call's time counts from when it was due.
Bloat is pgstattuple's dead and free share of each table of over 2 MB, but for what its
fillfactor keeps free for updates. Autovacuum looks every second, which is its minute.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import queue
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portal.lib.embedded.programs import find_postgres_account, find_postgres_programs
from portal.lib.embedded.server import default_postgres_data_folder
from tests.bench.stage import (
    private_database,
    processes_below,
    resident_megabytes,
    served,
)
from tests.bench.users.billion import prepare
from tests.bench.users.endless_day_calls import (
    HOT_DAYS,
    RESOURCES,
    Calls,
    Day,
    plan,
    send,
)
from tests.bench.users.packing import _FILL, ask
from tests.bench.webhooks.delivery import serve_sink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.private_server import PrivateServer

OLD_PACKED_DAYS = 5
RETENTION_DAYS = 60
BLOAT_MUST = 20.0
SENDERS = 24
OPTIONS = (
    "shared_buffers=512MB",
    "max_wal_size=2GB",
    "autovacuum_naptime=1s",
    "work_mem=16MB",
)
_KEPT = """
    SELECT (SELECT count(*) FROM users_sample)
        + (SELECT coalesce(sum(count), 0) FROM users_packedday)
"""
_KEPT_OF_USER = """
    SELECT (SELECT count(*) FROM users_sample WHERE user_id = %(user)s)
        + (SELECT coalesce(sum(count), 0) FROM users_packedday WHERE user_id = %(user)s)
"""
_BLOAT = """
    SELECT relname, pg_relation_size(oid), dead_tuple_percent,
        greatest(free_percent - coalesce(kept.share, 0), 0) AS free
    FROM pg_class, LATERAL pgstattuple(oid::regclass)
    LEFT JOIN LATERAL (
        SELECT 100 - option_value::int AS share FROM pg_options_to_table(reloptions)
        WHERE option_name = 'fillfactor'
    ) AS kept ON true
    WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace
        AND pg_relation_size(oid) > 2 * 1024 * 1024
    ORDER BY dead_tuple_percent + greatest(free_percent - coalesce(kept.share, 0), 0)
        DESC
"""


def fill_history(day: Day, users: list[int], feed: int) -> None:
    """Seven days of rows, and packed days before them and of an old month."""
    from django.db import transaction
    from django.utils import timezone

    from users.store.packed.packing import pack_days_of_user
    from users.store.partitions import ensure_sample_partitions
    from users.wearables.timeseries import TIMESERIES

    series = [next(iter(TIMESERIES[slug].series)) for slug in RESOURCES]
    names = dict(zip(("heart", "steps", "temperature"), series, strict=True))
    fill = _FILL.format(feed=feed, origin=0, **names)
    expiring = (day.start - timedelta(days=RETENTION_DAYS + 33)).replace(day=20)
    ensure_sample_partitions(expiring.date(), timezone.now().date())
    hot = day.start - timedelta(days=HOT_DAYS)
    for first, until in (
        (expiring, expiring + timedelta(days=OLD_PACKED_DAYS)),
        (hot - timedelta(days=1), hot),
    ):
        for place in range(0, len(users), 100):
            some = users[place : place + 100]
            ask(fill, {"start": first, "end": until, "users": some})
            for user in some:
                pack_days_of_user(user_id=user, before=until)
    for place in range(0, len(users), 100):
        given = {"start": hot, "end": day.start, "users": users[place : place + 100]}
        with transaction.atomic():
            ask(fill, given)
    ask(
        "INSERT INTO users_arrival (tenant_id, user_id, provider, resource, at,"
        " received, created, updated, dropped)"
        " SELECT tenant_id, id, 'oura', 'heartrate', %s, 60, 60, 0, 0 FROM users_user",
        [day.start - timedelta(minutes=10)],
    )
    ask("VACUUM ANALYZE")


def keep_house(day: Day, tenant_pk: int, erased: str, said: Any) -> None:
    """Run the jobs whose hour matters, at the simulated time; in its own process."""
    try:
        _keep_house(day, tenant_pk, erased, said)
    finally:
        said.put(None)


def _keep_house(day: Day, tenant_pk: int, erased: str, said: Any) -> None:
    prepare()
    from django.db import transaction

    from accounts.models import Tenant
    from accounts.operations.teams.retention import apply_retention
    from portal.lib.tenancy import across_tenants
    from tests.factories.accounts import ACTOR
    from users.models import User
    from users.operations.data.daily_totals import enqueue_daily_totals
    from users.operations.packing import pack_closed_days
    from users.operations.users.users import erase_user

    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    for minute in range(0, day.hours * 60, 10):
        at = timedelta(minutes=minute)
        late = day.wait_until(at)
        now, start = day.start + at, time.monotonic()
        with across_tenants(why="jobs of all tenants"):
            if minute % 60 == 0:
                packed = pack_closed_days(now=now, turn=minute // 60 % 24)
                said.put(("packed", minute, packed.samples, late))
            if minute == 130:
                removed = apply_retention(at=now)
                said.put(("retention", minute, removed, time.monotonic() - start))
            if minute == 12 * 60:
                person = User.objects.for_tenant(tenant).filter(uuid=erased)
                kept = ask(_KEPT_OF_USER, {"user": person.get().pk})
                person.update(deleted_at=datetime.now(UTC))
                with transaction.atomic():
                    grace = timedelta(0)
                    erase_user(
                        tenant=tenant, actor=ACTOR, user_uuid=erased, grace=grace
                    )
                said.put(("erased", minute, kept, time.monotonic() - start))
            enqueue_daily_totals()


@contextmanager
def command(*arguments: str) -> Iterator[None]:
    """Run a command of manage.py beside the rest, ended at the end."""
    process = subprocess.Popen([sys.executable, "manage.py", *arguments])
    try:
        yield
    finally:
        process.terminate()
        process.wait(150)


def back_up(day: Day, folder: Path, made: list[str]) -> None:
    """Back up by the command at 03:00 and 15:00, with the server's own pg_dump."""
    programs = find_postgres_programs(
        default_postgres_data_folder(), find_postgres_account()
    )
    surroundings = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    for hour in (3, 15):
        if hour >= day.hours:
            return
        day.wait_until(timedelta(hours=hour))
        start, file = time.monotonic(), folder / f"backup-{hour}.tar"
        arguments = [sys.executable, "manage.py", "backup", str(file)]
        done = subprocess.run(
            arguments,
            env=surroundings,
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.monotonic() - start
        size = file.stat().st_size / 1e6 if file.exists() else 0
        made.append(
            f"backup at {hour:02}:00: {took:.0f} s, {size:.0f} MB,"
            f" {'done' if done.returncode == 0 else done.stderr[-200:]}"
        )
        file.unlink(missing_ok=True)


def look(day: Day, hour: int, pid: int) -> str:
    """One line about queues and sizes."""
    deliveries = ask("SELECT count(*) FROM webhooks_delivery WHERE status = 'pending'")
    oldest = ask(
        "SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::int"
        " FROM webhooks_delivery WHERE status = 'pending'"
    )
    jobs = ask(
        "SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        " AND coalesce(scheduled_at, now()) <= now()"
    )
    size = ask("SELECT pg_database_size(current_database())") / 1e9
    hot = ask(
        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
        " WHERE relkind = 'r' AND relname LIKE 'users_sample%'"
    )
    memory = resident_megabytes(processes_below(pid))
    return (
        f"{hour:4}:00 {deliveries:10} {oldest:9} {jobs:6} {size:8.2f}"
        f" {float(hot) / 1e9:8.2f} {memory:9.0f} {os.getloadavg()[0]:6.1f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wearers", type=int, default=2_000)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--reads", type=int, default=4, help="a simulated minute")
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"))  # noqa: S108 - what is made there nobody guesses
    given = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    given.folder.mkdir(parents=True, exist_ok=True)
    given.folder.chmod(0o755)  # PostgreSQL runs as another user
    with private_database(options=OPTIONS, folder=given.folder) as database:
        return run(database, given)


def run(database: PrivateServer, given: argparse.Namespace) -> int:
    from django.conf import settings
    from django.db import connection, transaction
    from django.test import Client
    from django.utils import timezone

    from accounts.operations.teams.retention import change_data_retention
    from tests.bench.users import user_list
    from tests.factories.accounts import (
        ACTOR,
        make_api_key,
        make_member,
        make_team,
        make_tenant,
    )
    from tests.factories.webhooks import make_endpoint
    from users.models import User
    from users.store.dictionaries import get_or_create_feed_number

    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    day = Day(today - timedelta(days=1), given.speed, given.hours)
    team = make_team("Endless")
    tenant = make_tenant(team=team, environment="production")
    change_data_retention(team=team, actor=ACTOR, days={"samples": RETENTION_DAYS})
    user_list.fill(tenant, given.wearers + 1)
    with transaction.atomic():
        feed = get_or_create_feed_number(
            tenant=tenant, provider="oura", source_type="ring"
        )
    made = User.objects.for_tenant(tenant).order_by("pk")
    *listed, (erased_key, erased) = made.values_list("pk", "uuid")
    keys = [key for key, _ in listed]
    began = time.monotonic()
    fill_history(day, [*keys, erased_key], feed)
    before = ask(_KEPT)
    print(f"{before:,} samples of the past in {time.monotonic() - began:.0f} s")
    people = [str(uuid) for _, uuid in listed]
    plans = plan(day, people, team.slug, given.reads)
    sent = sum(1 for call in plans if call.method == "POST")
    print(f"{len(plans):,} calls in {day.seconds:.0f} s, {sent:,} of them batches")
    client = Client(SERVER_NAME="localhost")
    client.force_login(make_member(team=team))
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    headers = {
        "x-service-api-key": make_api_key(tenant=tenant),
        "Content-Type": "application/json",
        "Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}",
        "Host": "localhost",
    }
    spawn, calls = multiprocessing.get_context("spawn"), Calls(day)
    with ExitStack() as stack:
        ours, theirs = spawn.Pipe(duplex=False)
        sink = spawn.Process(target=serve_sink, args=[theirs], daemon=True)
        sink.start()
        stack.callback(sink.kill)
        make_endpoint(tenant=tenant, url=f"http://127.0.0.1:{ours.recv()}/in")
        server = stack.enter_context(served(database.url(), workers=2))
        stack.enter_context(command("worker"))
        stack.enter_context(command("deliver_webhooks"))
        time.sleep(5)
        due: Any = queue.Queue()
        senders = [
            threading.Thread(target=send, args=[server.port, headers, due, calls])
            for _ in range(SENDERS)
        ]
        said: Any = spawn.Queue()
        day.began = time.monotonic()
        keeper = spawn.Process(
            target=keep_house, args=[day, tenant.pk, str(erased), said]
        )
        keeper.start()
        backups: list[str] = []
        backing = threading.Thread(target=back_up, args=[day, given.folder, backups])
        for thread in (*senders, backing):
            thread.start()
        print(
            f"{'time':>7} {'deliveries':>10} {'oldest s':>9} {'jobs':>6} {'GB':>8}"
            f" {'rows GB':>8} {'server MB':>9} {'load':>6}"
        )
        hour = 0
        for call in plans:
            while call.at >= day.due(timedelta(hours=hour)):
                print(look(day, hour, server.process.pid), flush=True)
                hour += 1
            left = day.began + call.at - time.monotonic()
            if left > 0:
                time.sleep(left)
            due.put(call)
        for _ in senders:
            due.put(None)
        for thread in (*senders, backing):
            thread.join()
        house = list(iter(said.get, None))
        keeper.join()
        patience = time.monotonic() + 60
        while time.monotonic() < patience and ask(
            "SELECT count(*) FROM webhooks_delivery WHERE status = 'pending'"
        ):
            time.sleep(0.5)
        print(look(day, hour, server.process.pid))
    connection.close()
    report_times(calls)
    return report_end(database, calls, house, backups, before)


def report_times(calls: Calls) -> None:
    print("\np50 and p99 in ms by sixths of the day, from when a call was due")
    for name in sorted({name for name, _ in calls.times}):
        cells = []
        for part in range(6):
            times = calls.times.get((name, part), [])
            if len(times) < 2:
                cells.append(f"{'-':>13}")
                continue
            p99 = statistics.quantiles(times, n=100, method="inclusive")[-1]
            cells.append(f"{statistics.median(times):6.0f} {p99:6.0f}")
        total = sum(len(calls.times.get((name, part), [])) for part in range(6))
        print(f"{name:22} {total:7}  {'  '.join(cells)}")
    for (name, status), number in sorted(calls.failed.items()):
        print(f"FAILED {name}: {number} answers with {status}")


def report_end(
    database: PrivateServer,
    calls: Calls,
    house: list[tuple[str, int, int, float]],
    backups: list[str],
    before: int,
) -> int:
    """Say what jobs did, what is bloated and whether anything is lost or doubled."""
    packed = [each for each in house if each[0] == "packed"]
    print(
        f"\npacked {sum(number for _, _, number, _ in packed):,} samples in"
        f" {len(packed)} turns, at most {max(late for *_, late in packed):.1f} s late"
    )
    removed = 0
    for name, minute, number, took in house:
        if name != "packed":
            at = f"{minute // 60:02}:{minute % 60:02}"
            print(f"{name} at {at}: {number:,}, {took:.1f} s")
            removed += number
    print(*backups, sep="\n")
    with database.connect("postgres") as opened:
        opened.execute("CREATE EXTENSION pgstattuple")
        bloat: list[Any] = opened.execute(_BLOAT).fetchall()
    for name, size, dead, free in bloat[:10]:
        print(
            f"bloat {dead + free:5.1f} % of {size / 1e6:8.1f} MB,"
            f" {dead:.1f} dead, {free:.1f} free  {name}"
        )
    after, wanted = ask(_KEPT), before + calls.created - removed
    print(
        f"{before:,} samples before, {calls.created:,} acknowledged as new,"
        f" {removed:,} deleted: {after:,} stored, {after - wanted:+,}"
    )
    over = [name for name, _, dead, free in bloat if dead + free > BLOAT_MUST]
    print(f"must: nothing failed, 0 lost or doubled, bloat at most {BLOAT_MUST:.0f} %")
    return int(bool(calls.failed or over or after != wanted))


if __name__ == "__main__":
    sys.exit(main())
