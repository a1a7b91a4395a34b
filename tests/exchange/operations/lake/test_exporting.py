"""The lake holds what is stored, whoever reads it, and a killed run keeps it."""

from __future__ import annotations

import json
import os
import signal
from datetime import timedelta
from itertools import count
from uuid import UUID

import pyarrow.parquet as pq
import pytest
import time_machine
from django.db import connection

from accounts.models import AuditEntry
from exchange.models import LakeFile, LakeRun
from exchange.operations.lake.exporting import export_lake, export_lake_if_due
from exchange.operations.lake.verifying import verify_lake_files
from exchange.payloads.lake import writing
from exchange.payloads.lake.schema import DATASETS
from portal.lib.errors import Unavailable
from portal.lib.tenancy import across_tenants
from portal.ops.checks import check_lake_place
from portal.ops.health.lake import check_lake
from tests.exchange.operations.lake.stored import (
    NOW,
    fill_month,
    list_stored_rows,
)
from tests.factories.samples import put_samples
from users.models import Summary
from users.store.packed.packing import pack_days_of_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def lake(tmp_path, settings):
    settings.LAKE_DIR = str(tmp_path / "lake")
    with time_machine.travel(NOW, tick=False), across_tenants(why="as the job does"):
        yield tmp_path / "lake"


def files_of(lake):
    return {
        path.relative_to(lake).as_posix(): path.read_bytes()
        for path in sorted(lake.rglob("*"))
        if path.is_file()
    }


def test_every_reader_sees_what_is_stored_and_nothing_of_others(
    lake, alice_tenant, charlie_tenant, monkeypatch
):
    # A group ends within a user's series.
    monkeypatch.setattr(writing, "GROUP_SAMPLES", 7)
    mine = [
        fill_month(alice_tenant, is_packed=packed, has_results=True)
        for packed in (True, False)
    ]
    other = fill_month(charlie_tenant, is_packed=True, has_results=True)

    run = export_lake(at=NOW)

    expected = list_stored_rows(mine)
    assert {name: len(rows) for name, rows in expected.items()} == {
        "samples": 79,
        "summaries": 6,
        "results": 4,
    }
    folder = lake / f"v1/team={alice_tenant.team_id}/environment=sandbox"
    for dataset, rows in expected.items():
        (path,) = folder.glob(f"{dataset}/month=2026-10/*.parquet")
        file = pq.ParquetFile(path)
        assert file.read().to_pylist() == rows, dataset
        assert [each.name for each in DATASETS[dataset].columns] == file.schema.names
    (samples,) = folder.glob("samples/month=2026-10/*.parquet")
    group = pq.ParquetFile(samples).metadata.row_group(0)
    column = group.column(4)
    assert (column.path_in_schema, column.compression) == ("timestamp", "ZSTD")
    assert "DELTA_BINARY_PACKED" in column.encodings
    everywhere = {UUID(row["user_id"]) for rows in expected.values() for row in rows}
    assert everywhere == {user.uuid for user in mine}
    assert str(other.uuid) not in str(expected)
    document = json.loads((folder / "schema.json").read_bytes())
    assert document["schema_version"] == 1
    # September, when one sample of each was measured, and October of three datasets.
    (entry,) = AuditEntry.objects.for_tenant(alice_tenant).filter(verb="export_to_lake")
    assert entry.changes == {"files": 4, "rows": 91, "removed_files": 0}
    others = sum(map(len, list_stored_rows([other]).values())) + 1
    assert (run.written, run.failed, run.rows) == (8, 0, 91 + others)
    _read_with_duckdb(lake, alice_tenant, expected)
    _read_with_polars(lake, alice_tenant, expected)


def _read_with_duckdb(lake, tenant, expected):
    import duckdb

    base = f"{lake}/v1/team=*/environment=*"
    found_there = "team = ? AND environment = 'sandbox' AND month = '2026-10'"
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for dataset, rows in expected.items():
            names = ", ".join(f'"{each.name}"' for each in DATASETS[dataset].columns)
            cursor = database.execute(
                f"SELECT {names} FROM '{base}/{dataset}/month=*/*.parquet'"  # noqa: S608 - our own names
                f" WHERE {found_there}",
                [str(tenant.team_id)],
            )
            columns = [each.name for each in DATASETS[dataset].columns]
            found = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
            assert _sorted(found) == _sorted(rows), dataset


def _read_with_polars(lake, tenant, expected):
    import polars

    base = f"{lake}/v1/team=*/environment=sandbox"
    for dataset, rows in expected.items():
        frame = polars.scan_parquet(
            f"{base}/{dataset}/month=*/*.parquet", hive_partitioning=True
        ).filter(team=str(tenant.team_id), month="2026-10")
        assert frame.select([*rows[0]]).collect().to_dicts() == rows, dataset


def _sorted(rows):
    return sorted(rows, key=lambda row: json.dumps(row, default=str))


def test_what_changes_is_exported_again_and_nothing_else(lake, alice_tenant):
    user = fill_month(alice_tenant, is_packed=True, has_results=True)
    fill_month(alice_tenant, is_packed=True)
    export_lake(at=NOW)
    first = files_of(lake)

    again = export_lake(at=NOW + timedelta(days=1))
    assert (again.written, again.unchanged, again.failed) == (0, 4, 0)
    assert files_of(lake) == first
    # Rows that are packed are the same rows, and make the same bytes.
    pack_days_of_user(user_id=user.pk, before=NOW)
    assert export_lake(at=NOW).written == 0
    assert files_of(lake) == first

    put_samples(user, "caffeine", ("2026-10-30T07:00:00", 0, 20))
    Summary.objects.for_tenant(alice_tenant).filter(
        user=user, calendar_date="2026-10-31"
    ).update(version=2)
    changed = export_lake(at=NOW)
    assert changed.written == 2
    after = files_of(lake)
    assert {name for name in after if after[name] != first[name]} == {
        name for name in first if "month=2026-10" in name and "results" not in name
    }

    Summary.objects.for_tenant(alice_tenant).delete()
    gone = export_lake(at=NOW)
    assert (gone.written, gone.removed) == (0, 1)
    assert [name for name in files_of(lake) if "summaries" in name] == []
    assert export_lake_if_due(at=NOW + timedelta(hours=1)) is None
    LakeFile.unscoped.filter(dataset="results").update(mark="")
    assert export_lake_if_due(at=NOW + timedelta(hours=1)).unchanged == 3


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_killed_leaves_the_old_month_whole(
    lake, alice_tenant, monkeypatch
):
    """A real process dies when half of the new file is written."""
    user = fill_month(alice_tenant, is_packed=True)
    export_lake(at=NOW)
    before = files_of(lake)
    put_samples(user, "caffeine", ("2026-10-30T07:00:00", 0, 20))
    reached, reach = os.pipe()
    connection.close()  # a process of its own has a connection of its own
    child = os.fork()
    if not child:
        writing.GROUP_SAMPLES = 7
        steps, flush = count(1), writing.SampleWriter.flush

        def flush_and_hang(self):
            flush(self)
            if next(steps) == 2:
                os.write(reach, b"x")
                signal.pause()

        monkeypatch.setattr(writing.SampleWriter, "flush", flush_and_hang)
        try:
            with across_tenants(why="as the job does"):
                export_lake(at=NOW)
        finally:
            os._exit(1)
    os.close(reach)
    try:
        assert os.read(reached, 1) == b"x"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reached)

    left = files_of(lake)
    (half,) = left.keys() - before.keys()
    assert not half.endswith(".parquet")  # which no reader takes for a file
    assert {name: left[name] for name in before} == before
    with across_tenants(why="as the job does"):
        assert export_lake_if_due(at=NOW + timedelta(hours=1)) is not None
        two_days_ago = (NOW - timedelta(days=2)).timestamp()
        os.utime(lake / half, (two_days_ago, two_days_ago))
        export_lake(at=NOW)
    assert half not in files_of(lake)
    assert LakeRun.objects.filter(finished_at=None).count() == 1


def test_a_bucket_gets_the_same_files(lake, bucket_server, alice_tenant, settings):
    user = fill_month(alice_tenant, is_packed=True)
    export_lake(at=NOW)
    in_folder = files_of(lake)
    assert {path.stat().st_mode & 0o777 for path in lake.rglob("*.parquet")} == {0o640}
    # A new place has none of the files.
    settings.LAKE_DIR, settings.LAKE_URL = "", bucket_server.url

    assert export_lake(at=NOW).written == 3
    assert {name: bucket_server.content(name) for name in bucket_server.names} == (
        in_folder
    )
    assert list(verify_lake_files()) == []
    bucket_server.keeps_versions = True
    assert check_lake().state == "warn"
    bucket_server.keeps_versions = False

    # Away: the run has no end, and the next one goes on with what is left.
    put_samples(user, "caffeine", ("2026-10-30T07:00:00", 0, 20))
    bucket_server.failing = "SlowDown"
    with pytest.raises(Unavailable):
        export_lake(at=NOW)
    bucket_server.failing = None
    assert export_lake_if_due(at=NOW).written == 1
    assert check_lake().state == "ok"
    assert check_lake_place() == []
    settings.LAKE_DIR = str(lake)
    assert [fault.id for fault in check_lake_place()] == ["portal.E016"]
