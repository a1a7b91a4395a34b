from __future__ import annotations

import re
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core.management import CommandError, call_command

from accounts.models import SingleSignOn
from accounts.webhooks.models import Endpoint
from accounts.webhooks.operations.endpoints import (
    read_custom_headers,
    replace_custom_headers,
    reveal_signing_secret,
    rotate_signing_secret,
)
from labs.operations.shipments.couriers import create_courier_secret
from portal.lib.secrets.encryption import (
    decrypt_secret,
    encrypt_secret,
    list_encryption_key_fingerprints,
)
from portal.lib.table_rules import list_table_rules
from portal.ops import key_rotation
from reports.models import ReportMailbox
from tests.architecture.source import PACKAGES
from tests.factories.accounts import ACTOR
from tests.factories.connections import make_hl7_connection
from tests.factories.grants import make_granted
from tests.factories.openid import CLIENT_SECRET, make_single_sign_on
from tests.factories.phones import make_phone
from tests.factories.texts import make_text_provider
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from users.models import (
    PhoneUpload,
    PushedContent,
    SourceCredentials,
    SourceGrant,
    SourcePushKey,
)
from users.operations.phones.uploads import receive_upload

OLD, NEW = "an old key of many letters", "a new key of many letters"
# Who encrypts, and the tables that the result is kept in or why it is kept in none.
ENCRYPTS = {
    "accounts/webhooks/operations/endpoints.py": "webhooks.Endpoint",
    "accounts/operations/sign_in/single_sign_on.py": "accounts.SingleSignOn",
    "accounts/web/sign_in/adapter.py": "mfa.Authenticator",
    "users/operations/sources/grants.py": "users.SourceGrant",
    "users/operations/sources/credentials.py": (
        "users.SourceCredentials users.SourcePushKey"
    ),
    "users/operations/pulling/pushed.py": "users.PushedContent",
    "users/operations/phones/uploads.py": "users.PhoneUpload",
    "labs/operations/texts/provider.py": "labs.TextProvider",
    "labs/operations/shipments/couriers.py": "labs.CourierConnection",
    "labs/operations/connections/settings.py": "labs.Hl7Connection",
    "reports/operations/mail/mailbox.py": "reports.ReportMailbox",
    "accounts/operations/sign_in/addresses.py": "a link of hours",
    "users/operations/connect/linking.py": "a state of one sign-in, minutes",
    "labs/web/order_wizard/drafts.py": "a draft in a session, 12 hours",
    "portal/lib/secrets/encryption.py": "defines it",
}


def run(*arguments):
    out = StringIO()
    call_command("rotate_encryption_keys", *arguments, stdout=out)
    return out.getvalue().splitlines()[1:]


def test_whoever_encrypts_is_rotated_or_says_why_not(settings):
    callers = {
        str(path.relative_to(settings.BASE_DIR))
        for package in PACKAGES
        for path in (settings.BASE_DIR / package).rglob("*.py")
        if re.search(r"(?<!\w)encrypt(_secret)?\(", path.read_text())
    }

    assert callers == set(ENCRYPTS)
    assert {
        model._meta.label
        for model, rules in list_table_rules()
        if rules.encrypted or rules.encrypted_members
    } == {
        table
        for tables in ENCRYPTS.values()
        for table in tables.split()
        if table.count(".") == 1
    }, "declare `encrypted` in the rules of the model (portal.lib.table_rules)"


@pytest.mark.django_db
def test_every_secret_comes_under_the_newest_key(
    settings, monkeypatch, alice, alice_team, alice_tenant
):
    settings.ENCRYPTION_KEYS = [OLD]
    monkeypatch.setattr(key_rotation, "BATCH", 2)
    endpoints = [make_endpoint(tenant=alice_tenant) for _ in range(5)]
    rotate_signing_secret(endpoint=endpoints[0], actor=ACTOR)
    replace_custom_headers(endpoint=endpoints[0], actor=ACTOR, headers={"X-Mine": "1"})
    connection = make_granted(make_user(tenant=alice_tenant))
    PushedContent.objects.for_tenant(alice_tenant).create(
        tenant=alice_tenant,
        connection=connection,
        waiting=["activity"],
        content=encrypt_secret("a push"),
    )
    receive_upload(phone=make_phone(connection.user)[0], form="own:oura", content=b"{}")
    SourceCredentials(
        tenant=alice_tenant,
        provider="oura",
        client_id="a team's",
        client_secret=encrypt_secret("a team's secret"),
        more=encrypt_secret('{"subscription_key": "a team\'s key"}'),
    ).save(force_insert=True)
    SourcePushKey.objects.create(
        provider="polar", client_id="ours", key=encrypt_secret("a push key")
    )
    make_text_provider(tenant=alice_tenant)
    create_courier_secret(tenant=alice_tenant, actor=ACTOR)
    make_hl7_connection(tenant=alice_tenant, secret=encrypt_secret("a password"))
    ReportMailbox(
        tenant=alice_tenant,
        address="a@b.example",
        host="b.example",
        port=993,
        password=encrypt_secret("a mailbox's password"),
    ).save(force_insert=True)
    make_single_sign_on(team=alice_team)
    TOTP.activate(alice, "JBSWY3DPEHPK3PXP")
    codes = RecoveryCodes.activate(alice).generate_codes()
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    known = decrypt_secret(Endpoint.unscoped.get(pk=endpoints[0].pk).secret)
    late = make_endpoint(tenant=alice_tenant)  # under the newest key already

    looked = run("--check")
    done = run()
    again = run()

    assert looked == [line.replace("re-encrypted", "to re-encrypt") for line in done]
    assert done == [
        "accounts.SingleSignOn: 1 rows, 1 re-encrypted, 0 unreadable",
        "labs.CourierConnection: 1 rows, 1 re-encrypted, 0 unreadable",
        "labs.Hl7Connection: 1 rows, 1 re-encrypted, 0 unreadable",
        "labs.TextProvider: 1 rows, 1 re-encrypted, 0 unreadable",
        "mfa.Authenticator: 2 rows, 2 re-encrypted, 0 unreadable",
        "reports.ReportMailbox: 1 rows, 1 re-encrypted, 0 unreadable",
        "users.PhoneUpload: 1 rows, 1 re-encrypted, 0 unreadable",
        "users.PushedContent: 1 rows, 1 re-encrypted, 0 unreadable",
        "users.SourceCredentials: 1 rows, 1 re-encrypted, 0 unreadable",
        "users.SourceGrant: 1 rows, 1 re-encrypted, 0 unreadable",
        "users.SourcePushKey: 1 rows, 1 re-encrypted, 0 unreadable",
        "webhooks.Endpoint: 6 rows, 5 re-encrypted, 0 unreadable",
    ]
    assert [line.partition(", ")[2] for line in again] == [
        "0 re-encrypted, 0 unreadable"
    ] * len(done)
    settings.ENCRYPTION_KEYS = [NEW]
    first = Endpoint.unscoped.get(pk=endpoints[0].pk)
    assert reveal_signing_secret(endpoint=first, actor=ACTOR) == known
    assert read_custom_headers(first) == {"X-Mine": "1"}
    assert decrypt_secret(first.previous_secret) != known
    assert Endpoint.unscoped.get(pk=late.pk).secret == late.secret
    assert decrypt_secret(SourceGrant.unscoped.get().refresh_token) == "refresh-1"
    totp, recovery = Authenticator.objects.order_by("type").reverse()
    assert decrypt_secret(totp.data["secret"]) == "JBSWY3DPEHPK3PXP"
    assert RecoveryCodes(recovery).generate_codes() == codes
    stored = SourceCredentials.unscoped.get().client_secret
    assert decrypt_secret(stored) == "a team's secret"
    assert decrypt_secret(PushedContent.unscoped.get().content) == "a push"
    assert decrypt_secret(PhoneUpload.unscoped.get().content)
    assert decrypt_secret(SourcePushKey.objects.get().key) == "a push key"
    assert decrypt_secret(SingleSignOn.objects.get().client_secret) == CLIENT_SECRET
    # A backup of now asks for no key that has been dropped.
    assert len(list_encryption_key_fingerprints()) == 1


@pytest.mark.django_db
def test_a_secret_under_no_key_is_named_and_left(settings, alice_tenant):
    settings.ENCRYPTION_KEYS = [OLD]
    make_endpoint(tenant=alice_tenant)
    kept = Endpoint.unscoped.values_list("secret", flat=True).get()
    settings.ENCRYPTION_KEYS = [NEW]

    with pytest.raises(CommandError, match="1 rows"):
        run()

    assert Endpoint.unscoped.values_list("secret", flat=True).get() == kept
