from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.models import ErasureReceipt
from users.operations.users.users import delete_user, erase_user

pytestmark = pytest.mark.django_db
PAGE = "/t/alice-health/sandbox/erasures/"


@pytest.fixture
def receipt(alice_tenant):
    user = make_user(tenant=alice_tenant, client_user_id="mbr_1")
    delete_user(user=user, actor=ACTOR)
    erase_user(
        tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid, grace=timedelta(0)
    )
    return ErasureReceipt.objects.for_tenant(alice_tenant).get()


def verify(path):
    out = StringIO()
    call_command("verify_receipt", str(path), stdout=out)
    return out.getvalue()


def test_a_receipt_is_listed_shown_and_handed_over_signed(
    alice_web, receipt, tmp_path, settings
):
    listed = alice_web.get(PAGE)
    shown = alice_web.get(f"{PAGE}{receipt.pk}/")
    file = alice_web.get(f"{PAGE}{receipt.pk}/?format=json")

    path = tmp_path / "receipt.json"
    path.write_bytes(file.content)
    data = json.loads(file.content)
    assert list(listed.context["receipts"]) == [receipt]
    assert (shown.context["is_whole"], shown.context["is_own_signature"]) == (
        True,
        True,
    )
    assert ("users.User", 1) in shown.context["removed"]
    assert b"mbr_1" not in file.content + shown.content
    assert "signed by this installation" in verify(path)
    path.write_text(json.dumps({**data, "document": data["document"] + " "}))
    with pytest.raises(CommandError, match="changed"):
        verify(path)
    path.write_bytes(file.content)
    settings.ENCRYPTION_KEYS = ["another"]
    with pytest.raises(CommandError, match="key of another"):
        verify(path)
    path.write_text("[]")
    with pytest.raises(CommandError, match="not a receipt"):
        verify(path)


def test_a_receipt_that_was_changed_says_so(alice_web, receipt):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE users_erasurereceipt DISABLE TRIGGER USER")
        cursor.execute(
            "UPDATE users_erasurereceipt SET document = replace(document, '1', '2')"
        )
        cursor.execute("ALTER TABLE users_erasurereceipt ENABLE TRIGGER USER")

    shown = alice_web.get(f"{PAGE}{receipt.pk}/")

    assert shown.context["is_whole"] is False
    assert alice_web.get(f"{PAGE}x/").status_code == 404


def test_the_database_keeps_receipts(receipt):
    def tamper():
        with transaction.atomic():
            ErasureReceipt.unscoped.update(erased_at=timezone.now())

    with pytest.raises(DatabaseError):
        tamper()

    assert ErasureReceipt.unscoped.get().erased_at == receipt.erased_at
