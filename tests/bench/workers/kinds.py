"""The kinds of work: what fills each queue, who does it, and what must be true after.

A kind is filled for several teams. `done` counts what was done so far, in its unit;
`check` compares everything that was done since the beginning with what was put in, and
raises AssertionError where something is missing or was done twice.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tests.bench.users.packing import _FILL, CODES, START, ask
from tests.bench.workers.receiver import PATH, SLOW_PATH, receiving

if TYPE_CHECKING:
    from argparse import Namespace
    from contextlib import ExitStack

    from accounts.models import Tenant

TEAMS = 6
# Bytes of a message's data.
_TEXT = 800
_IMPORT_DAYS = 3
_PACKED_DAYS = 40
_SERIES = 3


class Kind:
    """One kind of work; a subclass says what it is.

    `command` starts a process as in production, `fill` is how much is put in for a run
    of so many processes, and `once_begun` what starts the work when they are ready.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    command: ClassVar[tuple[str, ...]] = ("worker",)
    ready: ClassVar[str] = "SELECT count(*) FROM procrastinate_workers"
    # Put in for a run: this, and this more for each process.
    size: ClassVar[tuple[int, int]]

    def __init__(self, stack: ExitStack, given: Namespace) -> None:
        from tests.factories.accounts import make_team, make_tenant

        self.put = 0
        self.tenants: list[Tenant] = [
            make_tenant(team=make_team(f"{self.name} {number}"))
            for number in range(TEAMS)
        ]

    def fill(self, number: int) -> None:
        """Put in so many units, in equal parts for each team."""
        raise NotImplementedError

    def begin(self) -> None:
        """Start what does not start by itself."""

    def done(self) -> int:
        raise NotImplementedError

    def left(self) -> int:
        """What waits yet of the team that has least."""
        raise NotImplementedError

    def waiting_elsewhere(self) -> float | None:
        """Seconds so far that others were waited for; None where there are none."""
        return None

    def check(self) -> str:
        """Compare what was done with what was put in; say what agrees."""
        raise NotImplementedError


class Deliveries(Kind):
    """Events for an endpoint of each team and one that answers after seconds."""

    name, unit = "deliveries", "deliveries"
    command = ("deliver_webhooks",)
    ready = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name ="
        " 'assay deliver_webhooks'"
    )
    size = (18_000, 12_000)

    def __init__(self, stack: ExitStack, given: Namespace) -> None:
        from tests.factories.webhooks import make_endpoint

        super().__init__(stack, given)
        self._receiver = stack.enter_context(
            receiving((given.answers[0] / 1000, given.answers[1] / 1000))
        )
        self._base = base = f"http://127.0.0.1:{self._receiver.port}"
        for tenant in self.tenants:
            make_endpoint(tenant=tenant, url=base + PATH)
        make_endpoint(tenant=self.tenants[0], url=base + SLOW_PATH)

    def fill(self, number: int) -> None:
        from uuid import uuid4

        from accounts.webhooks.operations import UserRef, emit_events

        kind, data = "lab_report.parsing_job.created", {"text": "x" * _TEXT}
        for tenant in self.tenants:
            user = UserRef(user_uuid=uuid4(), client_user_id="bench")
            emit_events(
                tenant=tenant, user=user, messages=[(kind, data)] * (number // TEAMS)
            )
        ask("VACUUM ANALYZE webhooks_delivery")
        ask("VACUUM ANALYZE webhooks_event")

    def done(self) -> int:
        return int(ask("SELECT count(*) FROM webhooks_attempt"))

    def left(self) -> int:
        return int(
            ask(
                "SELECT min(waiting) FROM (SELECT count(*) FILTER (WHERE status ="
                " 'pending') AS waiting FROM webhooks_delivery GROUP BY endpoint_id) d"
            )
        )

    def waiting_elsewhere(self) -> float:
        return self._receiver.received().open_s

    def check(self) -> str:
        from accounts.webhooks.models import Attempt, Delivery, Event
        from portal.lib.tenancy import across_tenants

        received = self._receiver.received().messages
        with across_tenants(why="the bench checks all"):
            rows = Delivery._base_manager.all()
            sent = rows.filter(status="delivered")
            names = sent.values_list("endpoint__url", "event__message_id")
            delivered = [(url.removeprefix(self._base), name) for url, name in names]
            waiting = rows.filter(status="pending")
            assert not waiting.exclude(lease=None).exists(), "a lease was left"
            assert Attempt._base_manager.count() == len(delivered), (
                "attempts do not agree"
            )
            first = Event._base_manager.filter(tenant=self.tenants[0])
            number = Event._base_manager.count() + first.count()
            still = waiting.count()
        assert received == Counter(delivered), "not what the log says was received"
        assert set(received.values()) == {1}, "a message was sent twice"
        assert len(delivered) + still == number, "a delivery is lost"
        return (
            f"{received.total():,} POSTs arrived, each of another delivery, as the"
            f" log says; the other {number - len(delivered):,} wait"
        )


class Parsing(Kind):
    """Reports of a page."""

    name, unit = "parsing", "reports"
    size = (18, 42)

    def fill(self, number: int) -> None:
        from reports.operations.jobs.parsing import enqueue_parsing
        from tests.factories.reports import make_parsing_job, make_pdf
        from tests.factories.users import make_user

        content = make_pdf()
        for tenant in self.tenants:
            for _ in range(number // TEAMS):
                # Of one user the second would be held as the same report again.
                user = make_user(tenant=tenant)
                enqueue_parsing(make_parsing_job(user=user, content=content))
                self.put += 1

    def done(self) -> int:
        return int(
            ask("SELECT count(*) FROM reports_parsingjob WHERE finished_at IS NOT NULL")
        )

    def left(self) -> int:
        return _least_waiting()

    def check(self) -> str:
        from portal.lib.tenancy import across_tenants
        from reports.models import ParsingJob, ReportResult
        from tests.factories.reports import ROWS

        with across_tenants(why="the bench checks all"):
            found = Counter(ParsingJob._base_manager.values_list("status", flat=True))
            assert set(found) <= {"completed", "upload_pending"}, found
            assert found.total() == self.put, "a report is missing"
            rows = ReportResult._base_manager.count()
        assert rows == found["completed"] * len(ROWS), "rows were lost or doubled"
        sent = ask(
            "SELECT count(*) FROM webhooks_event"
            " WHERE event_type = 'lab_report.parsing_job.updated'"
        )
        return (
            f"{found['completed']} reports with {rows} rows, {sent} events of their"
            f" status; {found['upload_pending']} wait"
        )


class Imports(Kind):
    """Exports of Apple Health, each of a user of its own."""

    name, unit = "imports", "imports"
    size = (12, 30)

    def __init__(self, stack: ExitStack, given: Namespace) -> None:
        from tests.factories.apple_health import make_archive, make_export

        super().__init__(stack, given)
        self._file = Path(
            stack.enter_context(tempfile.TemporaryDirectory()), "export.zip"
        )
        self._file.write_bytes(
            make_archive(make_export(days=_IMPORT_DAYS, beat_seconds=60))
        )

    def fill(self, number: int) -> None:
        from tests.factories.accounts import ACTOR
        from tests.factories.users import make_user
        from users.operations.imports.submission import (
            ImportRequest,
            start_health_data_import,
        )

        for _ in range(number // TEAMS):
            for tenant in self.tenants:
                with self._file.open("rb") as opened:
                    start_health_data_import(
                        user=make_user(tenant=tenant),
                        actor=ACTOR,
                        request=ImportRequest(
                            "export.zip", iter(partial(opened.read, 2**20), b"")
                        ),
                    )
                self.put += 1

    def done(self) -> int:
        return int(
            ask("SELECT count(*) FROM users_importjob WHERE status = 'completed'")
        )

    def left(self) -> int:
        return _least_waiting()

    def check(self) -> str:
        from portal.lib.tenancy import across_tenants
        from users.models import ImportJob

        with across_tenants(why="the bench checks all"):
            found = Counter(ImportJob._base_manager.values_list("status", flat=True))
            assert set(found) <= {"completed", "waiting"}, found
            assert found.total() == self.put, "an import is missing"
            ended = ImportJob._base_manager.filter(status="completed")
            counts = Counter(
                sum(each["created"] for each in counts.values())
                for counts in ended.values_list("counts", flat=True)
            )
        assert len(counts) == 1, f"not all stored the same: {counts}"
        return (
            f"{found['completed']} imports stored {next(iter(counts)):,} records each;"
            f" {found['waiting']} wait"
        )


class Packing(Kind):
    """Closed days of users whose turn it is, by the jobs that run by the clock."""

    name, unit = "packing", "days"
    size = (12, 12)
    _days = 0

    def fill(self, number: int) -> None:
        """Put in the days of so many users, of teams of their own."""
        from django.utils import timezone

        from tests.bench.users import user_list
        from tests.factories.accounts import make_tenant
        from users.models import User
        from users.store.packed.candidates import TURNS
        from users.store.partitions import ensure_sample_partitions

        end = START + timedelta(days=_PACKED_DAYS)
        ensure_sample_partitions(START.date(), end.date())
        turn = timezone.now().hour
        for _ in range(TEAMS):
            tenant = make_tenant()
            user_list.fill(tenant, number // TEAMS * TURNS)
            people = User.objects.for_tenant(tenant).values_list("pk", flat=True)
            users = [pk for pk in people if pk % TURNS == turn]
            ask(_FILL.format(**CODES), {"start": START, "end": end, "users": users})
            self._days += len(users) * _PACKED_DAYS * _SERIES
        ask("VACUUM ANALYZE users_sample")
        self.put = ask("SELECT count(*) FROM users_sample") + self._packed()

    def begin(self) -> None:
        from tests.jobs import periodic_jobs

        for each in periodic_jobs().values():
            if each.task.name.startswith("users.pack_days"):
                each.task.configure(**each.configure_kwargs).defer(
                    timestamp=int(time.time())
                )

    def done(self) -> int:
        return int(ask("SELECT count(*) FROM users_packedday"))

    def left(self) -> int:
        return self._days - self.done()

    def check(self) -> str:
        rows = ask("SELECT count(*) FROM users_sample")
        packed = self._packed()
        assert rows + packed == self.put, "samples were lost or doubled"
        return f"{packed:,} samples packed of {self.put:,}, {rows:,} wait"

    def _packed(self) -> int:
        return int(ask("SELECT coalesce(sum(count), 0) FROM users_packedday"))


def _least_waiting() -> int:
    return int(
        ask(
            "SELECT coalesce(min(waiting), 0) FROM (SELECT count(*) AS waiting"
            " FROM procrastinate_jobs WHERE status = 'todo' GROUP BY args ->"
            " 'tenant_pk') job"
        )
    )


KINDS = {kind.name: kind for kind in (Deliveries, Parsing, Imports, Packing)}
