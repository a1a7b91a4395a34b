from __future__ import annotations

import pytest

from accounts.models import AuditEntry
from labs.models import TextProvider
from labs.operations.texts.provider import (
    TextAccount,
    check_text_provider,
    configure_text_provider,
    remove_text_provider,
)
from portal.lib.errors import DomainError
from portal.lib.secrets.encryption import decrypt_secret
from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.texts import make_text_provider
from tests.labs.gateways.twilio_server import NUMBER, SERVICE, SID, TOKEN

pytestmark = pytest.mark.django_db
GIVEN = {"account_sid": SID, "sender": NUMBER, "auth_token": TOKEN}


def configure(tenant, **changed):
    return configure_text_provider(
        tenant=tenant, actor=ACTOR, account=TextAccount(**{**GIVEN, **changed})
    )


def stored(tenant):
    return list(TextProvider.objects.for_tenant(tenant).values())


def test_an_account_is_looked_up_and_stored_encrypted(alice_tenant, twilio_server):
    kept = configure(alice_tenant, sender="+1 555 555 0100")

    assert (kept.account_sid, kept.sender) == (SID, NUMBER)
    assert TOKEN not in kept.auth_token
    assert decrypt_secret(kept.auth_token) == TOKEN
    assert (twilio_server.looked_up, twilio_server.sent) == (1, [])
    line = ("set_text_provider", "text_provider", str(kept.pk))
    assert audited(alice_tenant)[-1] == line


def test_a_token_is_kept_or_rotated_and_stays_out_of_the_audit(
    alice_tenant, twilio_server
):
    first = configure(alice_tenant)
    same = configure(alice_tenant, auth_token="", sender=SERVICE)
    twilio_server.token = "67890-new-token"
    rotated = configure(alice_tenant, auth_token="67890-new-token", sender=SERVICE)

    assert first.pk == same.pk == rotated.pk
    assert decrypt_secret(same.auth_token) == TOKEN
    assert decrypt_secret(rotated.auth_token) == "67890-new-token"
    entries = AuditEntry.objects.for_tenant(alice_tenant).order_by("pk")
    assert entries.last().changes == {"auth_token": ["stored", "replaced"]}
    assert "67890" not in str([entry.changes for entry in entries])


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"account_sid": "AC1"}, "text_account_invalid"),
        ({"account_sid": f"{SID}/../{SID}"}, "text_account_invalid"),
        ({"sender": "5555550100"}, "text_sender_invalid"),
        ({"auth_token": " "}, "text_token_missing"),
        ({"auth_token": "x" * 129}, "text_token_missing"),
        ({"auth_token": "another"}, "text_account_refused"),
    ],
)
def test_what_is_refused_is_not_stored(alice_tenant, twilio_server, wrong, code):
    before = audited(alice_tenant)
    with pytest.raises(DomainError) as caught:
        configure(alice_tenant, **wrong)

    assert (caught.value.code, stored(alice_tenant)) == (code, [])
    assert audited(alice_tenant) == before


def test_another_account_needs_its_own_token(alice_tenant, twilio_server):
    make_text_provider(tenant=alice_tenant)
    before = stored(alice_tenant)

    with pytest.raises(DomainError) as caught:
        configure(alice_tenant, account_sid="AC" + "9" * 32, auth_token="")

    assert caught.value.code == "text_token_missing"
    assert stored(alice_tenant) == before


@pytest.mark.parametrize(
    ("status", "fault", "code"),
    [
        ("suspended", [], "text_account_inactive"),
        ("active", [(503, b"", {})], "text_provider_unavailable"),
    ],
)
def test_an_account_that_may_not_send_is_refused_and_found_by_a_check(
    alice_tenant, twilio_server, status, fault, code
):
    twilio_server.account_status = status
    twilio_server.faults = [*fault, *fault]
    with pytest.raises(DomainError) as caught:
        configure(alice_tenant)
    assert (caught.value.code, stored(alice_tenant)) == (code, [])
    provider = make_text_provider(tenant=alice_tenant)

    with pytest.raises(DomainError) as caught:
        check_text_provider(tenant=alice_tenant)

    assert caught.value.code == code
    (kept,) = stored(alice_tenant)
    assert kept["checked_at"] == provider.checked_at


def test_a_removed_account_is_gone_and_another_teams_stays(
    alice_tenant, charlie_tenant, twilio_server
):
    configure(alice_tenant)
    make_text_provider(tenant=charlie_tenant)

    remove_text_provider(tenant=alice_tenant, actor=ACTOR)

    assert (stored(alice_tenant), len(stored(charlie_tenant))) == ([], 1)
    assert audited(alice_tenant)[-1][0] == "remove_text_provider"
    for refused in (
        lambda: remove_text_provider(tenant=alice_tenant, actor=ACTOR),
        lambda: check_text_provider(tenant=alice_tenant),
    ):
        with pytest.raises(DomainError) as caught:
            refused()
        assert caught.value.code == "text_provider_not_found"
