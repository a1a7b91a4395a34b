from __future__ import annotations

import pytest

from accounts.models import AuditEntry, Member
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox"
USERS = f"{PLACE}/users/"
COLUMNS = f"{PLACE}/columns/"


def test_a_member_chooses_the_columns_of_a_list_and_the_usual_ones_again(
    alice, alice_web, alice_tenant
):
    make_user(tenant=alice_tenant, client_user_id="mbr_1")
    before = AuditEntry.objects.for_tenant(alice_tenant).count()
    chosen = {"list": "users", "column": ["sources", "orders", "no_column"]}

    reply = alice_web.post(COLUMNS, {**chosen, "back": f"{USERS}?q=mbr"})

    assert reply.status_code == 302
    assert reply["Location"] == f"{USERS}?q=mbr"
    alice.refresh_from_db()
    hidden = ["user_id", "last_data", "zone", "created_on"]
    assert alice.changed_columns == {"users": hidden}
    assert AuditEntry.objects.for_tenant(alice_tenant).count() == before

    page = alice_web.get(USERS)
    head = [each.column.key for each in page.context["columns"].head]
    assert head == ["client_user_id", "sources", "orders"]
    assert b"Time zone" not in page.content.split(b"<tbody>")[1]

    alice_web.post(COLUMNS, {**chosen, "usual": "on"})
    alice.refresh_from_db()
    assert alice.changed_columns == {}


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/t/x/"])
def test_the_form_returns_to_pages_of_the_team_alone(alice_web, back):
    reply = alice_web.post(COLUMNS, {"list": "orders", "back": back})

    assert reply["Location"] == f"{PLACE}/"


def test_an_unknown_list_is_not_found_and_nothing_is_kept(alice_web):
    reply = alice_web.post(COLUMNS, {"list": "passwords", "column": ["email"]})

    assert reply.status_code == 404
    assert not Member.objects.exclude(changed_columns={}).exists()
