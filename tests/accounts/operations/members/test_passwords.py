from __future__ import annotations

import datetime

import pytest
import time_machine
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from accounts.operations.members.passwords import create_password_reset_link
from tests.factories.accounts import PASSWORD, make_member, make_team

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


@pytest.mark.parametrize(
    ("password", "code"),
    [
        ("Alice-Health-2026", "password_of_place"),
        ("assayassayassay!", "password_of_place"),
        ("assay.test health", "password_of_place"),
        ("dana@assay.example", "password_too_similar"),
        ("password1234", "password_too_common"),
        ("short", "password_too_short"),
        ("alice rode nine zebras home", None),
    ],
)
def test_words_that_anybody_would_try_are_no_password(password, code, settings):
    settings.PUBLIC_URL = "https://assay.test"
    member = make_member(team=make_team("Alice Health"), email="dana@assay.example")

    codes = []
    try:
        validate_password(password, user=member)
    except ValidationError as weak:
        codes = [each.code for each in weak.error_list]

    assert (code in codes) if code else codes == []


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
