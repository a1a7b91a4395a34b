from __future__ import annotations

import datetime

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.operations.members.passwords import create_password_reset_link
from tests.factories.accounts import PASSWORD, make_member

pytestmark = pytest.mark.django_db

NEW_PASSWORD = "seven green bicycles at noon"


def path_of(link: str) -> str:
    return link.removeprefix(settings.PUBLIC_URL)


def set_password(link: str) -> bool:
    """Whether the link led to a form, which is then sent."""
    browser = Client()
    form = browser.get(path_of(link), follow=True)
    if not form.redirect_chain:
        return False
    browser.post(
        form.redirect_chain[-1][0],
        {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD},
    )
    return True


def test_the_link_sets_the_password_and_works_once():
    member = make_member()
    link = create_password_reset_link(member)

    first, second = set_password(link), set_password(link)

    member.refresh_from_db()
    assert (first, second) == (True, False)
    assert member.check_password(NEW_PASSWORD)


def test_the_link_ends_after_three_days():
    member = make_member()
    now = timezone.now()

    with time_machine.travel(now, tick=False):
        link = create_password_reset_link(member)
    with time_machine.travel(now + datetime.timedelta(days=3, seconds=1), tick=False):
        late = set_password(link)

    member.refresh_from_db()
    assert late is False
    assert member.check_password(PASSWORD)
