from __future__ import annotations

import re

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.core import mail
from django.utils import timezone

from accounts.models import AuditEntry, Member
from accounts.operations.sign_in.addresses import (
    ADDRESS_LINK_TTL,
    confirm_email_address,
    confirm_email_address_by_password_link,
    request_email_address_change,
    send_address_confirmation_mail,
)
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError
from tests.audit import changes_of
from tests.factories.accounts import make_member

NEW = "alice@new.example"

pytestmark = pytest.mark.django_db


def as_actor(member):
    return Actor(ActorKind.MEMBER, str(member.pk), member.email)


def link_of(letter):
    return re.search(r"/accounts/address/([\w-]+)/", letter.body)[1]


def written():
    return (
        sorted(Member.objects.values_list("email", "email_confirmed_at")),
        AuditEntry.unscoped.count(),
    )


def test_an_address_is_changed_by_the_link_mailed_to_the_new_one(alice, alice_tenant):
    request_email_address_change(member=alice, email=f" {NEW.upper()} ")
    before = alice.email
    [letter] = mail.outbox

    token = link_of(letter)
    changed = confirm_email_address(member=alice, actor=as_actor(alice), token=token)

    assert letter.to == [NEW]
    assert NEW not in token
    assert changed.email == NEW
    assert [letter.to for letter in mail.outbox[1:]] == [[before]]
    assert changes_of(alice_tenant, "change_address") == {"email": [before, NEW]}
    with pytest.raises(DomainError) as refused:
        confirm_email_address(member=changed, actor=as_actor(changed), token=token)
    assert refused.value.code == "link_dead"


def test_a_link_is_good_for_a_day_and_for_one_member(alice, bob):
    request_email_address_change(member=alice, email=NEW)
    token = link_of(mail.outbox[0])
    before = written()

    for member, given in ((bob, token), (alice, token[:-4]), (alice, "x" * 60)):
        with pytest.raises(DomainError, match="link_dead"):
            confirm_email_address(member=member, actor=as_actor(member), token=given)
    with (
        time_machine.travel(timezone.now() + ADDRESS_LINK_TTL, tick=False),
        pytest.raises(DomainError, match="link_dead"),
    ):
        confirm_email_address(member=alice, actor=as_actor(alice), token=token)

    assert written() == before


def test_nobody_learns_by_asking_who_has_an_account(alice, bob):
    free = request_email_address_change(member=alice, email=NEW)
    taken = request_email_address_change(member=alice, email=bob.email)

    assert (free, taken) == (NEW, bob.email)
    assert [letter.to for letter in mail.outbox] == [[NEW], [bob.email]]
    assert "/accounts/" not in mail.outbox[1].body


def test_an_address_that_was_taken_meanwhile_is_not_given_twice(alice, bob):
    request_email_address_change(member=alice, email=NEW)
    Member.objects.filter(pk=bob.pk).update(email=NEW)
    before = written()

    with pytest.raises(DomainError, match="link_dead"):
        confirm_email_address(
            member=alice, actor=as_actor(alice), token=link_of(mail.outbox[0])
        )

    assert written() == before


@pytest.mark.parametrize(
    ("email", "code"),
    [
        ("no address", "email_invalid"),
        (f"{'a' * 64}@{'b' * 190}.example", "email_invalid"),
        ("alice@assay.example", "email_same"),
    ],
    ids=["no address", "too long", "the same"],
)
def test_what_is_no_new_address_is_refused(alice, email, code):
    with pytest.raises(DomainError) as refused:
        request_email_address_change(member=alice, email=email)

    assert refused.value.code == code
    assert mail.outbox == []


def test_confirming_the_present_address_changes_nothing_else(alice, alice_tenant):
    Member.objects.filter(pk=alice.pk).update(email_confirmed_at=None)
    send_address_confirmation_mail(alice)
    before = AuditEntry.unscoped.count()

    confirmed = confirm_email_address(
        member=alice, actor=as_actor(alice), token=link_of(mail.outbox[0])
    )

    assert confirmed.email_confirmed_at is not None
    assert (len(mail.outbox), AuditEntry.unscoped.count()) == (1, before)


def test_who_waited_in_an_account_of_another_s_name_loses_what_they_set_up(alice):
    stranger, mine = make_member(), alice
    Member.objects.filter(pk=stranger.pk).update(email_confirmed_at=None)
    stranger.refresh_from_db()
    for member in (stranger, mine):
        Authenticator.objects.create(
            user=member, type=Authenticator.Type.TOTP, data={"secret": "x"}
        )

    for member in (stranger, mine):
        confirm_email_address_by_password_link(member)

    stranger.refresh_from_db()
    assert stranger.email_confirmed_at is not None
    assert Authenticator.objects.get().user == mine
