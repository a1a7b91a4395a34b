"""What is kept of a user: every table says so, and erasing leaves nothing of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.declarations.data_classes import load_data_classes
from accounts.models import AuditEntry, SavedView
from labs.gateways.hl7.drop import DropFolder
from labs.models import Order
from labs.operations.orders.order_counts import fold_order_counts
from portal.lib.idempotency import claim_idempotency_key
from portal.lib.secrets.signatures import (
    Signature,
    is_signed_with_installation_key,
    is_valid_signature,
)
from portal.lib.table_rules import RetentionRule, list_table_rules
from reports.models import ReportFile
from reports.operations.reading.files import store_page_image
from reports.states import PictureSize
from tests.canaries import Planter, files_with, tables_with
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.jobs import periodic_jobs
from users.models import ErasureReceipt
from users.operations.erasure import count_user_rows
from users.operations.users.users import delete_user, erase_user
from users.queries.users.data_map import (
    list_retention_rules,
    list_tables_with_user_data,
    list_tables_without_erasure_rule,
)

pytestmark = pytest.mark.usefixtures("as_work_role")

WORD, OTHER = "canaryquince", "canaryplum"
# Where the uuid of an erased user may stand.
KNOWN = {"accounts_auditentry", "users_erasurereceipt", "webhooks_replay"}


def test_every_table_says_whether_it_holds_anything_of_a_user():
    labels = {table.label for table in list_tables_with_user_data()}

    assert list_tables_without_erasure_rule() == [], (
        "declare in the rules of the model (portal.lib.table_rules) `erasure`, how to"
        " find a user's rows, or `without_user`, the reason why there are none; for a"
        " library's table with declare_table_rules in the app that uses it"
    )
    assert {"labs.Order", "users.Sample", "webhooks.Attempt"} <= labels
    assert "accounts.AuditEntry" in labels


def test_every_table_with_a_time_says_when_its_rows_go_and_which_job_sees_to_it():
    told = list_retention_rules()
    jobs = {each.task.name for each in periodic_jobs().values()}
    promised = {end.job for end in told.values() if isinstance(end, RetentionRule)}

    assert {label for label, end in told.items() if not end} == set(), (
        "declare in the rules of the model (portal.lib.table_rules) `retention` or"
        " `data_classes`"
    )
    assert promised <= jobs
    # What nobody would look for: no time in the table any more.
    declared = {
        model._meta.label for model, rules in list_table_rules() if rules.retention
    }
    assert declared <= told.keys()
    assert told["portal.IdempotentAnswer"] == RetentionRule(
        "24 hours, for bookings 14 days", "portal.purge_answers"
    )


def test_every_data_class_has_tables_and_the_other_way_round():
    named = {name for _, rules in list_table_rules() for name in rules.data_classes}

    assert named == load_data_classes().keys(), (
        "add the class to DATA_CLASSES in data_classes.py of its app, and its"
        " name to `data_classes` in the rules of its tables"
    )


def plant(tenant, alice, word):
    """Something of a user in every store there is."""
    user = make_user(tenant=tenant, client_user_id=word)
    planter = Planter(user, word)
    planter.plant_all()
    body = json.dumps({"user_id": str(user.uuid), "name": word}).encode()
    with claim_idempotency_key(
        tenant=tenant, endpoint="x", key=f"key-{len(word)}", request_body=b""
    ) as turn:
        turn.keep(status=200, body=body)
    SavedView(
        tenant=tenant, member=alice, page="users:list", name=word, query=f"q={word}"
    ).save()
    uploaded = planter.rows[ReportFile].stored_as
    store_page_image(uploaded, 1, PictureSize.FULL, word.encode())
    order = planter.rows[Order]
    drop = DropFolder.for_account(tenant=tenant, lab=order.lab, account=None)
    drop.write_file(f"new-{order.pk}.hl7", word.encode())
    drop.write_file(f"ack-{len(word)}.hl7", f"{word} {order.sample_id}".encode())
    return user


@pytest.mark.django_db
def test_erasing_leaves_nothing_of_a_user_in_any_store(
    alice, alice_tenant, time_machine, django_capture_on_commit_callbacks
):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)
    user = plant(alice_tenant, alice, WORD)
    other = plant(alice_tenant, alice, OTHER)
    folders = [Path(settings.UPLOADS_DIR), Path(settings.HL7_DIR)]
    before, others = count_user_rows(user=user), count_user_rows(user=other)
    others_files = files_with(OTHER, *folders)
    erased = {table.label for table in list_tables_with_user_data() if not table.why}
    assert set(before) == erased, "a table without a canary"
    assert len(files_with(WORD, *folders)) >= 5
    delete_user(user=user, actor=ACTOR)
    time_machine.move_to(timezone.now() + timedelta(days=7), tick=False)

    with django_capture_on_commit_callbacks(execute=True):
        assert erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)

    # The canary is in each text, a status too, of which hourly only numbers are left.
    fold_order_counts()
    assert tables_with(WORD) == set()
    assert tables_with(str(user.uuid)) <= KNOWN
    assert files_with(WORD, *folders) == set()
    left = {
        t.label: t.rows_of(user).count()
        for t in list_tables_with_user_data()
        if not t.why
    }
    assert {label for label, number in left.items() if number} == set()
    assert count_user_rows(user=other) == others
    assert files_with(OTHER, *folders) == others_files
    receipt = ErasureReceipt.objects.for_tenant(alice_tenant).get()
    data = json.loads(receipt.document)
    signature = Signature(receipt.public_key, receipt.signature)
    # Disconnecting, on deletion, may leave more behind than there was.
    assert set(data["removed_rows"]) >= {*before, "portal.IdempotentAnswer"}
    assert set(data["kept"]) == {"accounts.AuditEntry", "users.ErasureReceipt"}
    assert is_valid_signature(receipt.document.encode(), signature)
    assert is_signed_with_installation_key(signature)
    assert not is_valid_signature(receipt.document.encode() + b" ", signature)
    line = AuditEntry.objects.for_tenant(alice_tenant).get(verb="erase_user")
    assert line.changes == {"receipt": str(receipt.pk), "sha256": receipt.sha256}
