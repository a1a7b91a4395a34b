from __future__ import annotations

import datetime
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import time_machine
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.utils import timezone

from accounts.models import AuditEntry, Invitation, Member, Membership
from accounts.operations.mails.texts import change_mail_text
from accounts.operations.members import invitations as invitation_operations
from accounts.operations.members.invitations import (
    INVITATION_RETENTION,
    INVITATION_TTL,
    accept_invitation,
    accept_invitation_as_new_member,
    build_mailed_invitation_link,
    delete_old_invitations,
    find_invitation,
    invite_member,
    mail_invitation,
    resend_invitation,
    revoke_invitation,
)
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR, PASSWORD, make_member, make_team

pytestmark = pytest.mark.django_db

EMAIL = "dana@assay.example"


@pytest.fixture
def team():
    return make_team("North Clinic")


def invited(team, *, email=EMAIL, roles=(Role.VIEWER,), actor=ACTOR):
    return invite_member(team=team, actor=actor, email=email, roles=roles)


def as_actor(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def join(token, **changes):
    fields = {"name": "Dana Reyes", "password": PASSWORD, "address": "192.0.2.7"}
    return accept_invitation_as_new_member(token=token, **{**fields, **changes})


def state():
    return (
        sorted(map(str, Invitation.objects.values())),
        sorted(Membership.objects.values_list("pk", "roles")),
        Member.objects.count(),
        AuditEntry.unscoped.count(),
    )


def refused_code(operation, **inputs):
    before = state()
    with pytest.raises(DomainError) as refused:
        operation(**inputs)
    assert state() == before
    return refused.value.code


def verbs(team):
    tenant = team.tenants.first()
    entries = AuditEntry.objects.for_tenant(tenant).order_by("pk")
    return list(entries.values_list("verb", flat=True))[1:]


def test_only_a_digest_of_the_token_is_kept(team):
    invitation, token = invited(team, email=" Dana@Assay.Example ")

    stored = Invitation.objects.values().get()
    assert invitation.email == EMAIL
    assert len(token) == 43
    assert token not in str(stored)
    assert token not in str(list(AuditEntry.unscoped.values()))
    assert find_invitation(token) == invitation
    assert find_invitation(token[:-1]) is None


def test_an_invitation_lasts_seven_days(team):
    with time_machine.travel(timezone.now(), tick=False) as clock:
        invitation, token = invited(team)
        clock.shift(INVITATION_TTL - datetime.timedelta(seconds=1))
        before = find_invitation(token)
        clock.shift(datetime.timedelta(seconds=1))

        assert before == invitation
        assert find_invitation(token) is None
        assert refused_code(join, token=token) == "invitation_dead"


def test_the_link_of_a_switched_off_member_lets_nobody_in(team):
    owner = make_member(team=team, email="owner@assay.example")
    _, token = invited(team, actor=as_actor(owner))

    owner.is_active = False
    owner.save(update_fields=["is_active"])

    assert find_invitation(token) is None
    assert refused_code(join, token=token) == "invitation_dead"


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"email": "dana"}, "email_invalid"),
        ({"email": f"{'d' * 250}@assay.example"}, "email_invalid"),
        ({"roles": []}, "roles_missing"),
        ({"roles": ["king"]}, "role_unknown"),
        ({"email": "member@assay.example"}, "already_member"),
    ],
)
def test_a_refused_invitation_leaves_nothing_behind(team, inputs, code):
    make_member(team=team, email="member@assay.example")
    fields = {"team": team, "actor": ACTOR, "email": EMAIL, "roles": [Role.VIEWER]}

    assert refused_code(invite_member, **{**fields, **inputs}) == code


@pytest.mark.parametrize(
    ("role", "wanted", "code"),
    [
        (Role.VIEWER, Role.VIEWER, "not_allowed"),
        (Role.DEVELOPER, Role.VIEWER, "not_allowed"),
        (Role.ADMIN, Role.OWNER, "owners_only"),
    ],
)
def test_who_may_not_give_a_role_may_not_invite_with_it(team, role, wanted, code):
    actor = as_actor(make_member(team=team, roles=(role,)))

    inputs = {"team": team, "actor": actor, "email": EMAIL, "roles": [wanted]}
    assert refused_code(invite_member, **inputs) == code


def test_an_admin_can_not_take_over_the_invitation_of_an_owner(team):
    admin = as_actor(make_member(team=team, roles=(Role.ADMIN,)))
    invitation, _ = invited(team, roles=(Role.OWNER,))

    inputs = {"team": team, "actor": admin, "email": EMAIL, "roles": [Role.VIEWER]}
    assert refused_code(invite_member, **inputs) == "owners_only"
    for operation in (resend_invitation, revoke_invitation):
        assert (
            refused_code(operation, invitation=invitation, actor=admin) == "owners_only"
        )


def test_inviting_again_gives_the_new_roles_and_ends_the_old_link(team):
    _, old = invited(team)

    again, token = invited(team, roles=(Role.ADMIN,))

    assert Invitation.objects.get() == again
    assert again.roles == ["admin"]
    assert again.resent_at is not None
    assert find_invitation(old) is None
    assert find_invitation(token) == again
    assert verbs(team) == ["invite_member", "resend_invitation"]


def test_an_expired_invitation_is_sent_again_for_seven_days(team):
    start = timezone.now()
    with time_machine.travel(start, tick=False) as clock:
        invitation, old = invited(team)
        clock.shift(datetime.timedelta(days=30))

        _, token = resend_invitation(invitation=invitation, actor=ACTOR)

        found = find_invitation(token)
        assert found.expires_at == start + datetime.timedelta(days=37)
        assert find_invitation(old) is None


def test_a_withdrawn_invitation_lets_nobody_in(team):
    invitation, token = invited(team)

    revoke_invitation(invitation=invitation, actor=ACTOR)

    assert find_invitation(token) is None
    assert refused_code(join, token=token) == "invitation_dead"
    for operation in (resend_invitation, revoke_invitation):
        code = refused_code(operation, invitation=invitation, actor=ACTOR)
        assert code == "invitation_dead"
    assert verbs(team) == ["invite_member", "revoke_invitation"]


def test_a_team_has_a_bounded_number_of_open_invitations(team, monkeypatch):
    monkeypatch.setattr(invitation_operations, "MAX_OPEN", 1)
    invited(team)

    inputs = {"team": team, "actor": ACTOR, "email": "b@assay.example"}
    code = refused_code(invite_member, **inputs, roles=[Role.VIEWER])
    assert code == "invitation_limit"


def test_a_newcomer_gets_an_account_and_the_roles(team):
    invitation, token = invited(team, roles=(Role.CLINICIAN, Role.LAB_STAFF))

    membership = join(token, name=" Dana Reyes ")

    member = Member.objects.get()
    invitation.refresh_from_db()
    assert (member.email, member.name) == (EMAIL, "Dana Reyes")
    assert member.check_password(PASSWORD)
    assert membership.roles == ["clinician", "lab_staff"]
    assert invitation.accepted_at is not None
    entry = AuditEntry.objects.for_tenant(team.tenants.first()).last()
    assert (entry.verb, entry.actor_label, entry.address) == (
        "accept_invitation",
        EMAIL,
        "192.0.2.7",
    )


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"name": " "}, "name_missing"),
        ({"password": "short"}, "password_weak"),
        ({"password": "dana@assay.example"}, "password_weak"),
        ({"token": "nonsense"}, "invitation_dead"),
    ],
)
def test_a_newcomer_who_is_refused_leaves_nothing_behind(team, changes, code):
    _, token = invited(team)

    assert refused_code(join, **{"token": token, **changes}) == code


def test_a_link_sets_no_password_of_an_account_that_exists(team):
    _, token = invited(team)
    Member.objects.create_user(email=EMAIL)

    assert refused_code(join, token=token) == "account_exists"


def test_a_member_of_another_team_joins_with_the_same_account(team):
    member = make_member(team=make_team(), email=EMAIL)
    _, token = invited(team)

    membership = accept_invitation(token=token, member=member, actor=as_actor(member))

    assert membership.roles == ["viewer"]
    assert Member.objects.count() == 1
    assert Membership.objects.filter(member=member).count() == 2
    inputs = {"token": token, "member": member, "actor": as_actor(member)}
    assert refused_code(accept_invitation, **inputs) == "invitation_dead"


def test_an_invitation_is_for_its_address_alone(team):
    other = make_member(email="eve@assay.example")
    _, token = invited(team)

    inputs = {"token": token, "member": other, "actor": as_actor(other)}
    assert refused_code(accept_invitation, **inputs) == "other_address"


def test_who_became_a_member_meanwhile_is_told(team):
    _, token = invited(team)
    member = make_member(team=team, email=EMAIL)

    inputs = {"token": token, "member": member, "actor": as_actor(member)}
    assert refused_code(accept_invitation, **inputs) == "already_member"


@pytest.mark.django_db(transaction=True)
def test_a_link_used_twice_at_once_lets_one_in():
    team = make_team()
    _, token = invited(team)
    together = Barrier(2)

    def accept(name):
        try:
            together.wait()
            join(token, name=name)
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()
        return "joined"

    with ThreadPoolExecutor(2) as pool:
        found = sorted(pool.map(accept, ["Dana", "Eve"]))

    assert found == ["invitation_dead", "joined"]
    assert Membership.objects.filter(team=team).count() == 1


def test_the_mail_says_who_invites_to_what_and_until_when(team):
    owner = make_member(team=team, email="owner@assay.example")
    with time_machine.travel("2026-05-04T10:00:00Z", tick=False):
        invitation, token = invited(
            team, roles=(Role.CLINICIAN, Role.VIEWER), actor=as_actor(owner)
        )

    sent = mail_invitation(invitation=invitation, token=token)

    (message,) = mail.outbox
    assert sent is True
    assert message.to == [EMAIL]
    assert message.subject == "Join North Clinic on Assay"
    assert "owner@assay.example invited you to the team North Clinic" in message.body
    assert "Your roles: Clinician, Viewer." in message.body
    assert "expires on 11 May 2026, 10:00 UTC" in message.body
    assert f"\n{build_mailed_invitation_link(token)}\n" in message.body


def test_the_mail_has_the_words_and_the_brand_of_production(team):
    invitation, token = invited(team)
    mail_invitation(invitation=invitation, token=token)
    production = team.tenants.select_related("team").get(environment="production")
    production.brand_information = {"company_name": "North", "brand_color": "#ffd400"}
    production.save()
    change_mail_text(
        tenant=production,
        actor=ACTOR,
        kind="invitation",
        language="en",
        subject="{sender}: come to {company}",
        body="You will be {roles}.\n\n{link}",
    )

    mail_invitation(invitation=invitation, token=token)

    plain, own = mail.outbox
    assert plain.body.startswith(
        "You are invited to the team North Clinic on Assay.\nYour roles: "
    )
    assert own.subject == "North Clinic: come to North"
    link = build_mailed_invitation_link(token)
    role = Role(invitation.roles[0]).label
    assert own.body == f"You will be {role}.\n\n{link}\n\nNorth\n"
    ((html, kind),) = own.alternatives
    assert kind == "text/html"
    assert f'class="button" href="{link}"' in html
    assert "background:#ffd400;color:#000000" in html


def test_a_team_s_name_can_not_add_lines_to_the_mail_s_head(team):
    team.name = "North\nBcc: all@assay.example"
    invitation, token = invited(team)

    mail_invitation(invitation=invitation, token=token)

    assert mail.outbox[0].subject == "Join North Bcc: all@assay.example on Assay"


def test_mail_that_is_not_taken_is_told_and_logged_without_the_link(
    team, monkeypatch, caplog
):
    def refuse(*_):
        raise ConnectionRefusedError

    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    invitation, token = invited(team)

    assert mail_invitation(invitation=invitation, token=token) is False
    assert str(invitation.pk) in caplog.text
    assert token not in caplog.text
    assert EMAIL not in caplog.text


def test_invitations_that_ended_long_ago_are_forgotten_and_their_audit_stays(team):
    invited(team)
    invited(team, email="eve@assay.example")
    ended = timezone.now() - INVITATION_RETENTION
    Invitation.objects.filter(email=EMAIL).update(expires_at=ended)
    kept = verbs(team)

    removed = delete_old_invitations(at=timezone.now())

    assert removed == 1
    assert list(Invitation.objects.values_list("email", flat=True)) == [
        "eve@assay.example"
    ]
    assert verbs(team) == kept
