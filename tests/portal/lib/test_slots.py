"""Slots of the machine: one a tenant, few in all, freed however their holder ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import settings

from portal.lib import slots
from portal.lib.slots import NoSlot, Work, hold_work_slot

ALICE, CHARLIE, BOB = (SimpleNamespace(pk=pk) for pk in (1, 2, 3))
HOLDER = """
import sys, time
from types import SimpleNamespace
from django.conf import settings
settings.configure(VAR_DIR=sys.argv[1])
from portal.lib.slots import Work, hold_work_slot
with hold_work_slot(Work.UPLOAD, tenant=SimpleNamespace(pk=1)):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_tenant_has_one_slot_and_leaves_the_others_theirs():
    with hold_work_slot(Work.UPLOAD, tenant=ALICE):
        with pytest.raises(NoSlot), hold_work_slot(Work.UPLOAD, tenant=ALICE):
            pass
        with (
            hold_work_slot(Work.UPLOAD, tenant=CHARLIE),
            hold_work_slot(Work.STORED, tenant=ALICE),
        ):
            pass
    with hold_work_slot(Work.UPLOAD, tenant=ALICE):
        pass


def test_a_machine_has_so_many_slots_whoever_asks():
    with ExitStack() as held:
        for pk in range(slots.IN_ALL):
            held.enter_context(
                hold_work_slot(Work.UPLOAD, tenant=SimpleNamespace(pk=pk))
            )
        for other in (BOB, BOB):  # who was refused holds nothing back
            with pytest.raises(NoSlot), hold_work_slot(Work.UPLOAD, tenant=other):
                pass
    with hold_work_slot(Work.UPLOAD, tenant=BOB):
        pass


def test_threads_exclude_one_another_and_a_fault_frees_the_slot():
    refused = []

    def ask():
        try:
            with hold_work_slot(Work.UPLOAD, tenant=ALICE):
                pass
        except NoSlot:
            refused.append(True)

    def fail():
        with hold_work_slot(Work.UPLOAD, tenant=ALICE):
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            raise LookupError

    with pytest.raises(LookupError):
        fail()

    with hold_work_slot(Work.UPLOAD, tenant=ALICE):
        assert refused == [True]


def test_another_process_holds_its_slot_until_it_is_killed():
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(settings.VAR_DIR)],
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(NoSlot), hold_work_slot(Work.UPLOAD, tenant=ALICE):
            pass
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        holder.stdout.close()

    with hold_work_slot(Work.UPLOAD, tenant=ALICE):
        pass


def test_where_nothing_can_be_locked_nobody_gets_a_slot(caplog):
    Path(settings.VAR_DIR).mkdir(parents=True, exist_ok=True)
    Path(settings.VAR_DIR, "slots").write_text("a file")

    with pytest.raises(NoSlot), hold_work_slot(Work.UPLOAD, tenant=ALICE):
        pass

    assert caplog.messages == ["slots can't be locked: FileExistsError"]
