"""A folder that hangs, as a share does whose server is gone."""

from __future__ import annotations

import os
import threading

import pytest

from labs.gateways.base import LabUnavailable
from labs.gateways.hl7 import time_limit
from labs.gateways.hl7.drop import IN, DropFolder, list_hl7_drop_folders
from labs.models import Hl7Connection
from labs.operations.connections.settings import check_connection_now
from labs.operations.orders.requisitions import create_requisition
from portal.lib.errors import Unavailable
from tests.factories.accounts import ACTOR
from tests.factories.connections import make_hl7_connection
from tests.factories.labs import make_order
from tests.labs.holdings import holdings


@pytest.fixture
def drop(hl7_dir):
    folder = DropFolder("north", "production", "lab", None)
    folder.create()
    (folder.path / IN / "results.hl7").write_bytes(b"MSH|")
    os.utime(folder.path / IN / "results.hl7", (0, 0))
    return folder


@pytest.fixture
def hanging(monkeypatch):
    """Let one call of the system hang until the test ends."""
    is_released = threading.Event()
    monkeypatch.setattr(time_limit, "STEP_S", 0.05)

    def hang(name):
        original = getattr(os, name)

        def wait(*args, **named):
            is_released.wait(30)
            return original(*args, **named)

        monkeypatch.setattr(os, name, wait)

    yield hang
    is_released.set()
    for thread in time_limit._hanging:
        thread.join(10)


def test_a_listing_that_hangs_fails_and_the_next_call_at_once(
    drop, hanging, monkeypatch
):
    hanging("scandir")
    with pytest.raises(TimeoutError):
        drop.list_waiting_files(now=_now())
    monkeypatch.setattr(time_limit, "STEP_S", 60)

    with pytest.raises(TimeoutError, match="still hangs"):
        drop.write_file("order.hl7", b"x")
    with pytest.raises(TimeoutError):
        list(list_hl7_drop_folders())

    assert len(time_limit._hanging) == 1


def test_once_the_call_ends_the_folder_is_used_again(drop, monkeypatch):
    is_released = threading.Event()
    listed = os.scandir
    monkeypatch.setattr(time_limit, "STEP_S", 0.05)
    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", lambda path: is_released.wait(30) and [])
        with pytest.raises(TimeoutError):
            drop.list_waiting_files(now=_now())
        is_released.set()
        time_limit._hanging[0].join(10)
    assert os.scandir is listed
    monkeypatch.setattr(time_limit, "STEP_S", 60)

    assert drop.list_waiting_files(now=_now()) == ["results.hl7"]


def test_a_fault_within_the_limit_is_raised_as_it_is(drop, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "not allowed")

    monkeypatch.setattr(os, "scandir", refuse)

    with pytest.raises(PermissionError):
        drop.list_waiting_files(now=_now())
    assert time_limit._hanging == []


@pytest.mark.django_db
def test_an_order_waits_for_a_folder_that_hangs_and_is_sent_by_a_later_run(
    alice_production, hl7_dir, monkeypatch
):
    order = make_order(tenant=alice_production)
    before = holdings(alice_production)
    is_released = threading.Event()
    with monkeypatch.context() as patched:
        patched.setattr(time_limit, "STEP_S", 0.05)
        patched.setattr(os, "fsync", lambda _number: is_released.wait(30))
        with pytest.raises(LabUnavailable):
            create_requisition(tenant=alice_production, actor=ACTOR, order_id=order.pk)
        is_released.set()
        time_limit._hanging[0].join(10)

    assert holdings(alice_production) == before
    create_requisition(tenant=alice_production, actor=ACTOR, order_id=order.pk)
    order.refresh_from_db()
    assert order.status.endswith("requisition_created")
    assert len(list(hl7_dir.rglob("nw-*.hl7"))) == 1


@pytest.mark.django_db
def test_a_check_says_that_a_folder_hangs(alice_tenant, hl7_dir, hanging):
    connection = make_hl7_connection(tenant=alice_tenant, transport="folder")
    hanging("listdir")

    with pytest.raises(Unavailable) as refused:
        check_connection_now(connection=connection)

    assert refused.value.code == "connection_failed"
    assert Hl7Connection.unscoped.get().fault == "folder"


def _now():
    from django.utils import timezone

    return timezone.now()
