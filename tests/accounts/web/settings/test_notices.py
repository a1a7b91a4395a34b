from __future__ import annotations

from datetime import time, timedelta
from http import HTTPStatus

import pytest
from django.utils import timezone

from accounts.models import NoticeChoices
from tests.audit import changes_of
from tests.factories.accounts import make_member
from tests.factories.notices import make_notice

PAGE = "/t/alice-health/sandbox/settings/notifications/"
CHOSEN = {
    "critical_result": "off",
    "failing_endpoint": "daily",
    "silent_source": "at_once",
    "failed_source": "daily",
    "quiet_from": "22:00",
    "quiet_until": "06:30",
    "digest_hour": "7",
}

pytestmark = pytest.mark.django_db


def kept(tenant):
    return list(
        NoticeChoices.objects.for_tenant(tenant).values_list(
            "membership__member__email",
            "levels",
            "quiet_from",
            "quiet_until",
            "digest_hour",
        )
    )


def test_members_choose_for_themselves_in_one_environment(
    alice, alice_web, alice_tenant, alice_production
):
    answer = alice_web.post(PAGE, CHOSEN)

    assert answer.status_code == HTTPStatus.FOUND
    assert kept(alice_tenant) == [
        (
            alice.email,
            {"failing_endpoint": "daily", "silent_source": "at_once"},
            time(22),
            time(6, 30),
            7,
        )
    ]
    assert kept(alice_production) == []
    assert changes_of(alice_tenant, "change_notices")["digest_hour"] == [8, 7]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"silent_source": "late"}, "silent_source"),
        ({"quiet_until": ""}, "quiet_until"),
        ({"quiet_from": "06:30"}, "quiet_until"),
        ({"digest_hour": "24"}, "digest_hour"),
    ],
    ids=["level", "half", "empty", "hour"],
)
def test_what_is_not_whole_is_not_kept(alice_web, alice_tenant, changes, field):
    answer = alice_web.post(PAGE, {**CHOSEN, **changes})

    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(answer.context["form"].errors) == [field]
    assert kept(alice_tenant) == []


def test_last_week_is_shown_by_choices_before_they_are_saved(
    alice_web, alice_team, alice_tenant, django_assert_num_queries
):
    make_member(team=alice_team, email="nora@alice.example")
    make_notice(alice_tenant, timezone.now() - timedelta(days=2))
    make_notice(alice_tenant, timezone.now() - timedelta(days=9), key="long ago")
    usual = alice_web.get(PAGE)

    answer = alice_web.get(PAGE, {**CHOSEN, "quiet_from": "", "quiet_until": ""})
    with django_assert_num_queries(5):
        part = alice_web.get(PAGE, CHOSEN, headers={"HX-Request": "true"})

    assert [each.is_digest for each in usual.context["mails"]] == [True]
    (mail,) = answer.context["mails"]
    assert (mail.is_digest, len(mail.notices)) == (False, 1)
    assert answer.context["is_unsaved"]
    assert "<html" not in part.content.decode()
    assert 'id="notices-preview"' in part.content.decode()
    assert kept(alice_tenant) == []
    assert usual.context["recipients_by_kind"] == [
        ("Critical results", []),
        (
            "Failing endpoints",
            [
                ("alice@assay.example", "Immediately"),
                ("nora@alice.example", "Immediately"),
            ],
        ),
        (
            "Silent sources",
            [
                ("alice@assay.example", "Daily"),
                ("nora@alice.example", "Daily"),
            ],
        ),
        (
            "Failed sources",
            [
                ("alice@assay.example", "Daily"),
                ("nora@alice.example", "Daily"),
            ],
        ),
        ("Orders to approve", []),
    ]
