"""Which months are closed, and by how many files of users a month is split."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
import time_machine

from exchange.models import LakeFile
from exchange.operations.lake.due import find_closed_before
from exchange.operations.lake.exporting import export_lake
from exchange.payloads.lake import places
from portal.lib.tenancy import across_tenants
from tests.factories.samples import put_samples
from tests.factories.users import make_user


@pytest.mark.parametrize(
    ("at", "before"),
    [
        (datetime(2026, 11, 7, 23, 59, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC)),
        (datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)),
        (datetime(2027, 1, 8, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_month_is_closed_seven_days_after_its_end(at, before):
    assert find_closed_before(at) == before


@pytest.mark.parametrize(
    ("users", "length"), [(0, 0), (500, 0), (501, 1), (8_000, 1), (8_001, 2)]
)
def test_a_month_of_more_users_has_more_files(users, length):
    assert places.choose_part_length(users) == length


@pytest.mark.django_db
def test_a_split_month_has_each_user_in_one_file_and_stays_split(
    alice_tenant, tmp_path, settings, monkeypatch
):
    settings.LAKE_DIR = str(tmp_path)
    monkeypatch.setattr(places, "_USERS_OF_A_FILE", 0)
    now = datetime(2026, 12, 20, tzinfo=UTC)
    with time_machine.travel(now, tick=False), across_tenants(why="as the job does"):
        users = [make_user(tenant=alice_tenant) for _ in range(4)]
        for user in users:
            put_samples(user, "caffeine", ("2026-10-03T07:00:00", 0, 95.5))
        export_lake(at=now)
        monkeypatch.setattr(places, "_USERS_OF_A_FILE", 500)
        put_samples(users[0], "caffeine", ("2026-10-04T07:00:00", 0, 90))
        put_samples(users[0], "caffeine", ("2026-11-04T07:00:00", 0, 90))
        run = export_lake(at=now)

    parts = {user.uuid.hex[:2] for user in users}
    assert run.written == 2
    assert {path.name for path in tmp_path.rglob("month=2026-10/*.parquet")} == {
        f"samples-{part}.parquet" for part in parts
    }
    (path,) = tmp_path.rglob("month=2026-11/*.parquet")
    assert path.name == "samples.parquet"
    found = [
        value
        for path in tmp_path.rglob("month=2026-10/*.parquet")
        for value in pq.read_table(path)["user_id"].to_pylist()
    ]
    assert sorted(found) == sorted(
        [*(str(user.uuid) for user in users), str(users[0].uuid)]
    )
    assert LakeFile.unscoped.count() == len(parts) + 1
