"""An erased user leaves the lake, and the receipt says by when."""

from __future__ import annotations

import json
from datetime import timedelta

import pyarrow.parquet as pq
import pytest
import time_machine

from accounts.models import AuditEntry
from exchange.models import LakeFile
from exchange.operations.lake.erasure import mark_lake_stale, remove_lake_of_tenant
from exchange.operations.lake.exporting import LAKE, export_lake, export_lake_if_due
from portal.lib.tenancy import across_tenants
from portal.ops.health.lake import check_lake
from tests.exchange.operations.lake.stored import NOW, fill_month
from tests.factories.accounts import ACTOR
from users.models import ErasureReceipt, PackedDay
from users.operations.users.users import delete_user, erase_user, undo_delete_user
from users.store.packed.packing import pack_days_of_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def lake(tmp_path, settings):
    settings.LAKE_DIR = str(tmp_path / "lake")
    with across_tenants(why="as the job does"):
        yield tmp_path / "lake"


def list_users(lake):
    """The users in all files."""
    return {
        value
        for path in lake.rglob("*.parquet")
        for value in pq.read_table(path)["user_id"].to_pylist()
    }


def erase(tenant, user, **grace):
    assert erase_user(tenant=tenant, actor=ACTOR, user_uuid=user.uuid, **grace)
    receipt = ErasureReceipt.objects.for_tenant(tenant).get(user_uuid=user.uuid)
    return json.loads(receipt.document).get("copies")


def test_a_deleted_user_leaves_with_the_next_run_before_the_erasure(lake, alice_tenant):
    with time_machine.travel(NOW, tick=False) as clock:
        user, other = (
            fill_month(alice_tenant, is_packed=True, has_results=True) for _ in range(2)
        )
        export_lake(at=NOW)
        delete_user(user=user, actor=ACTOR)
        clock.shift(timedelta(days=1))
        run = export_lake_if_due(at=NOW + timedelta(days=1))

        assert run.written == 4
        assert list_users(lake) == {str(other.uuid)}
        undo_delete_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)
        export_lake(at=NOW + timedelta(days=1))
        assert list_users(lake) == {str(user.uuid), str(other.uuid)}

        delete_user(user=user, actor=ACTOR)
        clock.shift(timedelta(days=8))
        at = NOW + timedelta(days=9)
        export_lake(at=at)
        found = erase(alice_tenant, user)

    assert found == {"lake": {"files": 4, "state": "removed", "at": at.isoformat()}}
    assert not LakeFile.unscoped.filter(mark="").exists()


def test_who_is_erased_at_once_leaves_within_a_day(
    lake, alice_tenant, alice_web, settings
):
    with time_machine.travel(NOW, tick=False) as clock:
        user, other, last = (fill_month(alice_tenant, is_packed=True) for _ in range(3))
        export_lake(at=NOW)
        delete_user(user=user, actor=ACTOR)
        found = erase(alice_tenant, user, grace=timedelta(0))
        due_at = NOW + timedelta(days=1)
        assert found == {
            "lake": {"files": 3, "state": "pending", "due_at": due_at.isoformat()}
        }
        receipt = ErasureReceipt.objects.for_tenant(alice_tenant).get()
        page = alice_web.get(f"/t/alice-health/sandbox/erasures/{receipt.pk}/")
        assert page.context["lake"]["due_at"] in page.content.decode()
        clock.shift(timedelta(hours=1))
        assert export_lake_if_due(at=NOW + timedelta(hours=1)).written == 3
        assert list_users(lake) == {str(other.uuid), str(last.uuid)}
        assert check_lake().state == "ok"

        # Off with files left: the receipt and doctor say that they remain.
        settings.LAKE_DIR = ""
        delete_user(user=other, actor=ACTOR)
        found = erase(alice_tenant, other, grace=timedelta(0))
        assert found == {"lake": {"files": 3, "state": "not_removed"}}
        assert check_lake().state == "warn"
        settings.LAKE_DIR = str(lake)

        remove_lake_of_tenant(alice_tenant, LAKE)
        assert [path for path in lake.rglob("*") if path.is_file()] == []
        delete_user(user=last, actor=ACTOR)
        assert erase(alice_tenant, last, grace=timedelta(0)) is None
        entries = AuditEntry.objects.for_tenant(alice_tenant)
        found = entries.filter(verb="export_to_lake").order_by("pk")
        assert [entry.changes["removed_files"] for entry in found] == [0, 0, 3]


def test_after_a_restore_every_file_is_written_again(lake, alice_tenant):
    with time_machine.travel(NOW, tick=False):
        user = fill_month(alice_tenant, is_packed=True)
        export_lake(at=NOW)
        (path,) = lake.rglob("month=2026-09/*.parquet")
        whole = path.read_bytes()
        path.write_bytes(b"of another time")

        mark_lake_stale()

        assert export_lake(at=NOW).written == 3
        assert path.read_bytes() == whole
        assert pack_days_of_user(user_id=user.pk, before=NOW).days > 0


def test_a_month_with_a_corrupt_day_leaves_the_lake_until_it_is_restored(
    lake, alice_tenant
):
    """The older file may hold users who were erased since."""
    with time_machine.travel(NOW, tick=False):
        user, other = (fill_month(alice_tenant, is_packed=True) for _ in range(2))
        export_lake(at=NOW)
        days = PackedDay.objects.filter(user_id=other.pk, day="2026-10-03")
        payloads = dict(days.values_list("series", "payload"))
        days.update(payload=b"nothing that was packed")
        assert export_lake(at=NOW).failed == 0  # nothing has to be read again
        delete_user(user=user, actor=ACTOR)

        broken = export_lake(at=NOW)
        finding = check_lake()
        for series, payload in payloads.items():
            days.filter(series=series).update(payload=payload)
        mended = export_lake(at=NOW)

        assert (broken.failed, broken.written, broken.removed) == (1, 2, 1)
        assert finding.state == "warn"
        assert (mended.failed, mended.written) == (0, 1)
        assert list_users(lake) == {str(other.uuid)}
        assert check_lake().state == "ok"
