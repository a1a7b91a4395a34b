from __future__ import annotations

import os
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from labs.gateways.hl7.drop import DONE, FAILED, IN, OUT, DropFolder
from labs.gateways.hl7.messages import MAX_FILE_BYTES, parse_hl7_message
from labs.jobs import process_hl7_folder
from labs.models import InboundMessage, ResultVersion
from labs.operations.inbound import files
from labs.operations.inbound.files import (
    TAKE_JOB,
    create_hl7_drop_folders,
    enqueue_hl7_folders_having_files,
    process_files_of_all_hl7_folders,
    process_files_of_hl7_folder,
)
from labs.operations.inbound.repeated_failures import MAX_FAILURES
from labs.queries.results.results import find_current_result_version
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab
from tests.factories.labs import make_lab, make_lab_account
from tests.jobs import queued

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hl7_dir")]


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


@pytest.fixture
def drop(order):
    made = DropFolder.for_account(tenant=order.tenant, lab=order.lab, account=None)
    made.create()
    return made


def write_file(drop, name, content):
    path = drop.path / IN / name
    path.write_bytes(content)
    settled = (timezone.now() - timedelta(minutes=1)).timestamp()
    os.utime(path, (settled, settled))


def take(order):
    return process_files_of_hl7_folder(
        tenant=order.tenant, actor=ACTOR, lab_slug=order.lab.slug, account_id=None
    )


def names(drop, folder):
    return [path.name for path in (drop.path / folder).iterdir()]


def answers(drop):
    """MSA-1, MSA-2 and the code of ERR-3 of each answer."""
    items = []
    for path in sorted((drop.path / OUT).iterdir()):
        segments = {
            one.name: one for one in parse_hl7_message(path.read_bytes()).segments
        }
        error = segments["ERR"].text(3) if "ERR" in segments else ""
        items.append((segments["MSA"].text(1), segments["MSA"].text(2), error))
    return sorted(items)


def results(order):
    return make_oru(make_test(obx(), placer=order.sample_id))


def test_a_file_is_taken_answered_and_put_away(order, drop):
    write_file(drop, "results.hl7", results(order))

    number = take(order)

    assert number == 1
    assert find_current_result_version(order=order).number == 1
    assert names(drop, IN) == []
    assert [name[13:] for name in names(drop, DONE)] == ["results.hl7"]
    assert answers(drop) == [("AA", "C1", "")]


def test_an_answer_goes_back_to_who_sent_the_message(order, drop):
    write_file(drop, "results.hl7", results(order))

    take(order)

    (path,) = (drop.path / OUT).iterdir()
    header = parse_hl7_message(path.read_bytes()).header
    assert [header.text(n) for n in (3, 4, 5, 6)] == [
        "ASSAY",
        "North",
        "LIS",
        "ACME LAB",
    ]
    assert header.components(9) == ["ACK", "R01", "ACK"]


def test_a_malformed_file_is_answered_with_its_error_and_put_aside(order, drop):
    bad = make_oru((obx(),), control_id="BAD")
    write_file(drop, "mixed.hl7", results(order) + bad)
    write_file(drop, "none.hl7", b"no message")

    take(order)

    assert len(names(drop, FAILED)) == 2
    assert names(drop, DONE) == []
    assert find_current_result_version(order=order).number == 1
    assert answers(drop) == [("AA", "C1", ""), ("AE", "", "100"), ("AE", "BAD", "100")]


def test_a_file_that_is_too_large_is_refused_without_being_read(order, drop):
    write_file(drop, "large.hl7", b"x" * (MAX_FILE_BYTES + 1))

    take(order)

    message = InboundMessage.objects.for_tenant(order.tenant).get()
    assert (message.error_code, bytes(message.content)) == ("102", b"")
    assert len(names(drop, FAILED)) == 1


class KilledError(Exception):
    """Stands for a process that ends here and now."""


@pytest.mark.parametrize("step", ["write_file", "archive_file"])
def test_a_run_that_is_killed_between_two_steps_is_finished_by_the_next(
    order, drop, monkeypatch, step
):
    write_file(drop, "results.hl7", results(order))

    def die(*_, **__):
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(files.DropFolder, step, die)
        with pytest.raises(KilledError):
            take(order)
    take(order)

    assert ResultVersion.objects.for_tenant(order.tenant).count() == 1
    assert InboundMessage.objects.for_tenant(order.tenant).count() == 1
    assert answers(drop) == [("AA", "C1", "")]
    assert (names(drop, IN), len(names(drop, DONE))) == ([], 1)


def test_a_run_that_is_killed_while_it_stores_begins_anew(order, drop, monkeypatch):
    write_file(drop, "results.hl7", results(order))

    class PowerCut(BaseException):
        pass

    def die(**_):
        raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr("labs.operations.inbound.reports.store_result_delivery", die)
        with pytest.raises(PowerCut):
            take(order)
    before = InboundMessage.objects.for_tenant(order.tenant).count()
    take(order)

    assert before == 0
    assert find_current_result_version(order=order).number == 1


def test_a_file_that_can_never_be_stored_does_not_hold_up_the_next(
    order, drop, monkeypatch, caplog
):
    process = files.process_hl7_file_content

    def fail_for_first(*, dropped, **inputs):
        if dropped.name == "1.hl7":
            raise RuntimeError("Example^Ada")
        return process(dropped=dropped, **inputs)

    monkeypatch.setattr(files, "process_hl7_file_content", fail_for_first)
    write_file(drop, "1.hl7", make_oru(make_test(obx()), control_id="C0"))
    write_file(drop, "2.hl7", results(order))

    for _ in range(MAX_FAILURES - 1):
        with pytest.raises(RuntimeError):
            take(order)
    assert answers(drop) == []
    assert take(order) == 1

    assert answers(drop) == [("AA", "C1", "")]
    assert names(drop, IN) == ["1.hl7"]
    assert "was not stored: RuntimeError" in caplog.text
    assert "Example" not in caplog.text


def test_what_a_lab_sends_again_is_answered_again_and_taken_once(order, drop):
    write_file(drop, "results.hl7", results(order))
    take(order)
    for path in (drop.path / OUT).iterdir():
        path.unlink()

    write_file(drop, "again.hl7", results(order))
    take(order)

    assert answers(drop) == [("AA", "C1", "")]
    assert ResultVersion.objects.for_tenant(order.tenant).count() == 1


def test_a_job_takes_each_folder_that_has_something(order, drop, charlie_tenant):
    DropFolder.for_account(tenant=charlie_tenant, lab=order.lab, account=None).create()
    stray = DropFolder("nobody", "sandbox", order.lab.slug, None)
    stray.create()
    write_file(stray, "results.hl7", results(order))
    write_file(drop, "results.hl7", results(order))

    number = enqueue_hl7_folders_having_files()

    (job,) = [job for job in queued() if job.name == TAKE_JOB]
    assert (number, job.inputs["tenant_pk"]) == (1, order.tenant.pk)
    process_hl7_folder(**job.inputs)
    assert find_current_result_version(order=order).number == 1
    assert names(stray, IN) == ["results.hl7"]


def test_a_folder_of_another_organisations_account_is_left_alone(order, charlie_tenant):
    theirs = make_lab_account(tenant=charlie_tenant, lab=order.lab)
    foreign = DropFolder(
        order.tenant.team.slug, order.tenant.environment, order.lab.slug, theirs.pk
    )
    foreign.create()
    write_file(foreign, "results.hl7", results(order))

    number = process_files_of_all_hl7_folders(actor=ACTOR)

    assert number == 0
    assert names(foreign, IN) == ["results.hl7"]


def test_commands_make_the_folders_and_take_what_waits(alice_tenant, capsys):
    account = make_lab_account(tenant=alice_tenant, lab=make_lab(name="Acme"))
    team = alice_tenant.team.slug

    call_command("hl7_folders", "--team", team, "--environment", "sandbox")
    ((_, drop),) = create_hl7_drop_folders(tenant=alice_tenant)
    write_file(drop, "results.hl7", make_oru(make_test(obx())))
    call_command("process_hl7")

    said = capsys.readouterr().out
    assert f"Acme, account {account.provider_account_id}: {drop.path}" in said
    assert re.search("^Processed 1 file", said, re.MULTILINE)
    assert len(names(drop, DONE)) == 1
    with pytest.raises(CommandError):
        call_command("hl7_folders", "--team", "nobody")
    with pytest.raises(CommandError, match="no lab account in production"):
        call_command("hl7_folders", "--team", team)
