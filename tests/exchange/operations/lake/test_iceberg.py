"""Iceberg takes the lake's files into a table as they are."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
import time_machine

from exchange.operations.lake.exporting import export_lake
from portal.lib.tenancy import across_tenants
from tests.exchange.operations.lake.stored import NOW, fill_month, list_stored_rows


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.django_db
def test_iceberg_reads_what_is_stored(tmp_path, settings, alice_tenant):
    from pyiceberg.catalog.sql import SqlCatalog

    lake = tmp_path / "lake"
    settings.LAKE_DIR = str(lake)
    with time_machine.travel(NOW, tick=False), across_tenants(why="as the job does"):
        users = [
            fill_month(alice_tenant, is_packed=packed, has_results=True)
            for packed in (True, False)
        ]
        export_lake(at=NOW)
        expected = list_stored_rows(users)
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}"
    )
    catalog.create_namespace("health")
    for dataset, rows in expected.items():
        (path,) = lake.rglob(f"month=2026-10/{dataset}.parquet")
        table = catalog.create_table(
            f"health.{dataset}", schema=pq.read_schema(path).remove_metadata()
        )
        table.add_files([str(path)])
        assert table.scan().to_arrow().to_pylist() == rows, dataset
    catalog.close()
