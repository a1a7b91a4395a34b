from __future__ import annotations

from smtplib import SMTPException

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from accounts.models import Invitation
from accounts.operations.api_keys.management_keys import create_management_key
from accounts.operations.teams.teams import create_team
from accounts.states import ManagementRole, Role
from tests.clients import ManagementClient, error_lines
from tests.contract.document import check_answer
from tests.factories.accounts import ACTOR, make_management_key, make_member

pytestmark = pytest.mark.django_db
INVITES = "/v1/org/{org_id}/invite"
INVITE = f"{INVITES}/{{invite_id}}"
EMAIL = "dana@assay.example"


@pytest.fixture
def second_team(alice_team):
    return create_team(
        name="Alice Labs", actor=ACTOR, organisation=alice_team.organisation
    )


@pytest.fixture
def api(alice_team):
    _, text = create_management_key(
        team=alice_team, actor=ACTOR, label="all", role=ManagementRole.ORG_ADMIN
    )
    return ManagementClient(text)


@pytest.fixture
def team_api(alice_team):
    return ManagementClient(make_management_key(team=alice_team))


@pytest.fixture
def invites(alice_team):
    return INVITES.format(org_id=alice_team.organisation_id)


def test_an_invitation_is_made_sent_again_listed_and_withdrawn(
    api, team_api, invites, alice_team, second_team, django_assert_num_queries
):
    made = api.post(invites, {"email": EMAIL})
    again = api.post(invites, {"email": EMAIL, "role": "org_admin"})
    api.post(
        invites,
        {
            "email": "eli@assay.example",
            "role": "team_admin",
            "team_role_bindings": [{"team_id": str(second_team.pk)}],
        },
    )
    with django_assert_num_queries(5):
        listed = api.get(invites)

    check_answer(made, "post", INVITES)
    check_answer(listed, "get", INVITES)
    assert made.json() == {"status": "invite_created"}
    assert again.json() == {"status": "invite_resent"}
    assert [message.to for message in mail.outbox[:2]] == [[EMAIL], [EMAIL]]
    assert mail.outbox[0].subject == "Join Alice Health on Assay"
    first, last = listed.json()["invites"]
    of_all = Invitation.objects.filter(email=EMAIL).order_by("created_at")
    assert first == {
        "id": str(of_all[0].batch),
        "email": EMAIL,
        "invited_at": of_all[0].created_at.isoformat(),
        "resent_at": of_all[0].resent_at.isoformat(),
        "creator": {"id": None, "name": None, "email": None},
        "role": "org_admin",
        "team_role_bindings": None,
    }
    assert last["team_role_bindings"] == [{"team_id": str(second_team.pk)}]
    found = api.get(invites, {"search_query": "ELI"}).json()["invites"]
    assert found == [last]
    # A team_admin's sees its own team's part of the first, and nothing of the other.
    (seen,) = team_api.get(invites).json()["invites"]
    assert seen["team_role_bindings"] == [{"team_id": str(alice_team.pk)}]
    assert team_api.delete(f"{invites}/{last['id']}").status_code == 404

    ended = api.delete(f"{invites}/{first['id']}")

    check_answer(ended, "delete", INVITE)
    assert ended.json() is None
    assert api.get(invites).json()["invites"] == [last]
    assert api.delete(f"{invites}/{first['id']}").status_code == 404


def test_who_is_in_the_organisation_is_not_invited(api, invites, bob):
    reply = api.post(invites, {"email": bob.email})

    assert reply.json() == {"status": "already_in_org"}
    assert (Invitation.objects.count(), mail.outbox) == (0, [])


def test_what_may_not_be_invited_is_refused(api, team_api, invites, second_team):
    bound = [{"team_id": str(second_team.pk)}]

    def code(client, **body):
        reply = client.post(invites, {"email": EMAIL, **body})
        return reply.status_code, reply.json()["code"]

    assert code(team_api) == (403, "not_allowed")
    assert code(team_api, role="team_admin", team_role_bindings=bound) == (
        400,
        "team_unknown",
    )
    assert code(api, role="team_admin") == (400, "teams_missing")
    assert code(api, team_role_bindings=bound) == (400, "teams_unwanted")
    assert error_lines(api.post(invites, {"email": "dana", "role": "no_role"})) == [
        (["body", "email"], "value_error"),
        (["body", "role"], "enum"),
    ]
    assert (Invitation.objects.count(), mail.outbox) == (0, [])


def test_an_invitation_stands_whose_mail_was_not_taken(api, invites, monkeypatch):
    def refuse(*_args):
        raise SMTPException

    with monkeypatch.context() as patched:
        patched.setattr(EmailBackend, "send_messages", refuse)
        refused = api.post(invites, {"email": EMAIL})
    again = api.post(invites, {"email": EMAIL})

    assert (refused.status_code, refused.json()["code"]) == (400, "mail_refused")
    assert again.json() == {"status": "invite_resent"}


def test_a_member_invited_by_another_is_told_as_their_creator(api, invites, alice_team):
    member = make_member(team=alice_team, roles=(Role.VIEWER,))
    Invitation.objects.create(
        team=alice_team,
        email=EMAIL,
        roles=[Role.VIEWER],
        digest=b"1",
        invited_by=member,
        expires_at=member.created_at,
    )

    (told,) = api.get(invites).json()["invites"]

    assert told["creator"]["email"] == member.email
    assert (told["role"], told["team_role_bindings"]) == ("no_role", None)
