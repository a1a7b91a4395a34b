"""Memory and statements of one `$export`, at a size.

Run `python -m tests.bench.fhir_export_memory --users N [--results N] [--samples N]`, at
two sizes: the memory must not grow with the tenant, nor the statements of a page of 500
resources, but for one read of samples for each user in it. A user has an order with so
many results, and so many samples of heart rate in a day. Prints the resources, the peak
of the process above what it had before, statements a page by type, and the seconds.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.bench.stage import database

if TYPE_CHECKING:
    from django.db.models import Model

_PAGE = 500
_PAGES = 5


def copy_rows(model: type[Model], where: str, copies: int, **changed: str) -> None:
    """Insert copies of rows, numbered `n`, with columns changed to expressions."""
    from django.db import connection

    fields = [
        field.column
        for field in model._meta.concrete_fields
        if not field.primary_key or field.column in changed
    ]
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(fields)})"  # noqa: S608 - our own names
            f" SELECT {', '.join(changed.get(name, f'own.{name}') for name in fields)}"
            f" FROM {table} own, generate_series(1, {copies}) n WHERE {where}"
        )


def fill(users: int, results: int, samples: int) -> Any:
    """A tenant of users with an order, results and samples each."""
    from django.db import connection

    from labs.models import Order, Result, ResultVersion
    from tests.factories.accounts import make_tenant
    from tests.factories.results import (
        make_order_awaiting_results,
        make_reported_result,
        make_results,
    )
    from tests.factories.timeseries import push_samples, sample
    from users.models import User

    tenant = make_tenant()
    order = make_order_awaiting_results(tenant=tenant)
    make_results(
        order=order,
        results=tuple(
            make_reported_result(f"Marker {n}", loinc="2345-7") for n in range(results)
        ),
    )
    push_samples(order.user, "heartrate", sample("heartrate", value=61))
    version = order.result_versions.get()
    first, of_order = order.user.pk, f"'{order.pk}'::uuid"
    copy_rows(
        User,
        f"own.id = {first}",
        users,
        id=f"{first} + n",
        uuid="gen_random_uuid()",
        client_user_id="'copy-' || n",
    )
    copy_rows(
        Order,
        f"own.id = {of_order}",
        users,
        id="md5('order' || n)::uuid",
        user_id=f"{first} + n",
        transaction_id="own.transaction_id",
        sample_id="'S' || n",
    )
    copy_rows(
        ResultVersion,
        f"own.id = {version.pk}",
        users,
        id=f"{version.pk} + n",
        order_id="md5('order' || n)::uuid",
    )
    copy_rows(
        Result, f"own.version_id = {version.pk}", users, version_id=f"{version.pk} + n"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO users_sample (ts, user_id, value, origin, tz_offset,"
            " duration, series, feed) SELECT own.ts + k * interval '1 second',"
            " own.user_id + n, own.value, own.origin, own.tz_offset, own.duration,"
            " own.series, own.feed FROM users_sample own,"
            " generate_series(1, %s) n, generate_series(1, %s) k",
            [users, samples],
        )
        cursor.execute("ANALYZE")
    return tenant


def count_by_page(tenant: Any, name: str) -> list[int]:
    """Return how many statements the first pages of a type take."""
    from accounts.states import Area
    from exchange.queries.search import Search, run_search
    from exchange.resources.registry import RESOURCE_TYPES
    from tests.statements import count_statements

    search = Search(tenant, RESOURCE_TYPES[name], frozenset(Area), count=_PAGE)
    counts = []
    for _ in range(_PAGES):
        with count_statements() as sent:
            page = run_search(search)
        counts.append(len(sent))
        if page.next is None:
            break
        search = replace(search, place=page.next)
    return counts


def main() -> int:
    """Print what an export costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, required=True)
    parser.add_argument("--results", type=int, default=30)
    parser.add_argument("--samples", type=int, default=100)
    options = parser.parse_args()
    with database():
        from accounts.states import Area
        from exchange.models import BulkExport, BulkExportFile
        from exchange.operations.bulk_exports import (
            ExportRequest,
            request_bulk_export,
            run_bulk_export,
        )
        from tests.factories.accounts import ACTOR

        tenant = fill(options.users, options.results, options.samples)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        by_type = {
            name: count_by_page(tenant, name)
            for name in ("ServiceRequest", "DiagnosticReport", "Observation")
        }
        started = time.monotonic()
        export = request_bulk_export(
            tenant=tenant,
            actor=ACTOR,
            areas=frozenset(Area),
            request=ExportRequest("bench"),
        )
        run_bulk_export(tenant=tenant, export_id=export.pk)
        seconds = time.monotonic() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        written = BulkExport.unscoped.get(pk=export.pk).written
        size = sum(BulkExportFile.unscoped.values_list("size", flat=True))
    for name, counts in by_type.items():
        sys.stdout.write(f"{name}: statements of the first pages {counts}\n")
    sys.stdout.write(
        f"{options.users:,} users: {written:,} resources, {size / 2**20:,.0f} MB in"
        f" {seconds:.1f} s; peak memory {before / 1024:,.0f} MB before,"
        f" {peak / 1024:,.0f} MB after\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
