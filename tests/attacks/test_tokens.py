"""Links and tokens that are signed alike: one is never taken for another."""

from __future__ import annotations

import ast
import base64
import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.signing import Signer
from django.test import Client

from accounts.models import AuditEntry, Membership
from accounts.states import Area, Role, list_rights_of_roles
from labs.documents.links import _SALT as OF_REQUISITIONS
from labs.documents.site_links import _SALT as OF_SITES
from labs.operations.order_status.patient_notices import _STATUS_SALT as OF_TEXTS
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from users.operations.connect.link_sessions import (
    create_connect_link,
    sign_connect_link_token,
)
from users.operations.connect.reconnect_mails import _SALT as OF_MAILS

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("as_web_role")]
PLACE = "/t/alice-health/sandbox"
APPS = ("accounts", "exchange", "labs", "portal", "reports", "users")
SIGNERS = {"Signer", "TimestampSigner", "salted_hmac", "dumps", "loads"}


def signing_salts():
    """Each salt of the code, by the module that signs with it."""
    found = {}
    for app in APPS:
        for path in Path(settings.BASE_DIR, app).rglob("*.py"):
            text = path.read_text()
            if "salt" not in text or "migrations" in path.parts:
                continue
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.Assign)
                    and getattr(node.targets[0], "id", "").endswith("_SALT")
                    and isinstance(node.value, ast.Constant)
                ):
                    found.setdefault(node.value.value, []).append(str(path))
    return found


def test_no_two_signers_share_a_salt():
    salts = signing_salts()

    assert len(salts) >= 8
    assert [paths for paths in salts.values() if len(paths) > 1] == []


def test_a_token_of_one_page_opens_no_other(alice_tenant):
    user = make_user(tenant=alice_tenant)
    session = create_connect_link(user=user, actor=ACTOR)
    link = sign_connect_link_token(session)
    content = link.partition(".")[0]
    alike = [alice_tenant.pk, session.uuid.hex, 1]
    tokens = {
        "of a connect link": link,
        "of a reconnect mail": Signer(salt=OF_MAILS, sep=".").sign(content),
        "of a requisition": Signer(salt=OF_REQUISITIONS).sign_object(alike),
        "of a site": Signer(salt=OF_SITES).sign_object(alike),
        "of a text": Signer(salt=OF_TEXTS).sign_object([alice_tenant.pk, 1]),
        "of nobody": Signer(salt="").sign(content),
        "unsigned": base64.urlsafe_b64encode(json.dumps(alike).encode()).decode(),
    }
    before = AuditEntry.unscoped.count()
    opened = {}

    for name, token in tokens.items():
        client = Client(raise_request_exception=True)
        doors = [client.get("/connect/", {"token": token}).status_code != 404]
        for header in (
            {"x-service-api-key": token},
            {"Authorization": f"Bearer {token}"},
        ):
            api = ApiClient()
            doors.append(api.get("/v2/user", headers=header).status_code != 401)
            at = {
                key: text.replace(token, f"at_{token}") for key, text in header.items()
            }
            doors.append(api.get("/v2/user", headers=at).status_code != 401)
        client.cookies["sessionid"] = token
        doors.append(client.get(f"{PLACE}/").status_code != 302)
        doors.append(client.get(f"/accounts/address/{token}/").status_code == 200)
        doors.append(client.get(f"/shl/{token}").status_code == 200)
        opened[name] = any(doors)

    assert opened == {name: name == "of a connect link" for name in tokens}
    assert AuditEntry.unscoped.count() == before


def test_looking_as_a_role_shows_little_that_an_admin_may_not_read(
    alice_web, alice, alice_team
):
    """What it adds to an admin's own rights, whichever role: one list, to read."""
    Membership.objects.filter(member=alice).update(roles=[Role.ADMIN])
    own = {
        (area, environment)
        for area, environment, write in list_rights_of_roles([Role.ADMIN])
        if not write
    }
    added = {
        area
        for role in Role
        for area, environment, write in list_rights_of_roles([role])
        if not write and (area, environment) not in own
    }
    started = alice_web.post(f"{PLACE}/members/view-as/", {"role": Role.OWNER})
    before = AuditEntry.unscoped.count()
    refused = {
        path: alice_web.post(f"{PLACE}/{path}", fields).status_code
        for path, fields in (
            ("settings/delete-team/", {"name": "Alice Health"}),
            ("members/invite/", {"email": "eve@x.example", "roles": ["owner"]}),
            ("api-keys/create/", {"name": "mine"}),
            ("members/view-as/", {"role": Role.OWNER}),
        )
    }
    overridden = alice_web.post(
        f"{PLACE}/members/invite/",
        {"email": "eve@x.example", "roles": ["owner"]},
        headers={"X-HTTP-Method-Override": "GET"},
    )

    assert added == {Area.SIGN_REPORTS, Area.DELETE_TEAM}
    assert started.status_code == 302
    assert set(refused.values()) <= {403, 404}
    assert overridden.status_code == 403
    assert AuditEntry.unscoped.count() == before
