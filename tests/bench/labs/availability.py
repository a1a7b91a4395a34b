"""Sites by zip code and fourteen days of slots at 10 000 sites, 1 000 000 places taken.

Run `python -m tests.bench.labs.availability [--sites N] [--places N] [--rounds N]`.
Must (issue "Service centers"): the sites by zip code, and fourteen days of 30 of them,
each under 100 ms. Medians of the operation, booking keys made, before any JSON; the
whole answer of the API is told beside them. The limit is held against CPU time, of this
process and of the database together: machines are shared.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.bench.stage import backend_seconds, database

if TYPE_CHECKING:
    from collections.abc import Callable

MUST_MS = 100.0
AREA = "10001"


def fill(tenant: Any, order: Any, sites: int, places: int) -> None:
    """Sites over all the country, 60 of them around AREA; places over thirty days."""
    from django.db import connection

    from labs.models import Appointment, ServiceCenter
    from tests.factories.labs import make_lab

    lab = make_lab("quest", tenant=tenant)
    hours = {
        day: [["07:00", "17:00"]]
        for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
    }
    ServiceCenter.objects.bulk_create(
        [
            ServiceCenter(
                lab=lab,
                site_code=f"B{number}",
                name=f"Bench {number}",
                first_line="1 Sample Street",
                city="New York",
                state="NY",
                zip_code=AREA,
                latitude=40.75 if number < 60 else 25 + number % 230 / 10,
                longitude=-73.99 if number < 60 else -120 + number % 450 / 10,
                time_zone="America/New_York",
                hours=hours,
                capabilities=["appointment_scheduling_via_api"],
                bill_types=["client_bill"],
                places=4,
            )
            for number in range(sites)
        ],
        batch_size=1000,
    )
    visit = Appointment(
        tenant=tenant,
        order=order,
        type="patient_service_center",
        provider="quest",
        status="confirmed",
        address={},
        latitude=0,
        longitude=0,
    )
    visit.save(force_insert=True)
    each = max(1, places // sites)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO labs_slotplace (pool, provider, site_code, start_at, place,"
            " order_id, appointment_id)"
            " SELECT %s, 'quest', 'B' || site,"
            " date_trunc('hour', now()) + (slot / 2) * interval '20 minutes'"
            "   + (slot / 50) * interval '14 hours', 1 + slot %% 2, %s, %s"
            " FROM generate_series(0, %s) site, generate_series(0, %s) slot",
            [0, order.pk, visit.pk, sites - 1, each - 1],
        )
        cursor.execute("VACUUM ANALYZE labs_slotplace, labs_servicecenter")


def medians(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Milliseconds of the clock and of CPU that `work` takes."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = [cursor.fetchone()[0]]

    def worked() -> float:
        return time.process_time() + backend_seconds(backend)

    work()
    taken, cpu = [], []
    for _ in range(rounds):
        started, before = time.perf_counter(), worked()
        work()
        taken.append(time.perf_counter() - started)
        cpu.append(worked() - before)
    return statistics.median(taken) * 1000, statistics.median(cpu) * 1000


def main() -> int:
    """Fill, measure, print; 1 where a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=10_000)
    parser.add_argument("--places", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with database():
        return measure(given)


def measure(given: argparse.Namespace) -> int:
    """The lines of the bench."""
    from accounts.states import Environment
    from labs.models import SlotPlace
    from labs.operations.appointments.slots import list_center_slots
    from labs.queries.appointments.bookable_sites import list_bookable_center_sites
    from labs.queries.appointments.service_centers import get_zip_code_location
    from tests.clients import ApiClient
    from tests.factories.accounts import make_api_key, make_team, make_tenant
    from tests.factories.labs import make_order

    team = make_team("Bench")
    tenant = make_tenant(team=team, environment=Environment.PRODUCTION)
    fill(tenant, make_order(tenant=tenant), given.sites, given.places)
    api = ApiClient(make_api_key(tenant=tenant))
    place = get_zip_code_location(AREA)

    def slots() -> Any:
        return list_center_slots(tenant=tenant, lab_slug="quest", zip_code=AREA)

    def sites() -> Any:
        return list_bookable_center_sites(
            tenant=tenant, lab_slug="quest", place=place, miles=25
        )

    def answer() -> Any:
        path = "/v3/order/psc/appointment/availability"
        reply = api.generic("POST", f"{path}?lab=quest&zip_code={AREA}")
        assert reply.status_code == 200, reply.content
        return reply

    found = slots().days
    print(
        f"{given.sites} sites, {SlotPlace.objects.count()} places taken;"
        f" {len({day.site.code for day in found})} sites answer {len(found)} days,"
        f" {sum(len(day.slots) for day in found)} slots"
    )
    kept = True
    for name, work, must in (
        ("sites by zip code", sites, MUST_MS),
        ("fourteen days of 30 sites", slots, MUST_MS),
        ("the same over the API, JSON and all", answer, None),
    ):
        took, cpu = medians(work, given.rounds)
        limit = f"must {must:.0f}, ratio {cpu / must:.2f}" if must else "no limit"
        print(f"{name:36} {took:7.1f} ms {cpu:7.1f} ms of CPU   {limit}")
        kept = kept and (must is None or cpu <= must)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"peak memory {memory} MB")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
