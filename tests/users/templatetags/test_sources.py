from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from users.models import Connection
from users.templatetags.sources import (
    data_age_color,
    describe_fallback_origin,
    worst_connection_status,
)


@pytest.mark.parametrize(
    ("slug", "words"),
    [
        ("", "set by your team"),
        ("manual", "set by your team"),
        ("oura", "from Oura"),
        ("moonwatch", "from moonwatch"),
    ],
)
def test_a_fallback_says_where_it_came_from(slug, words):
    assert describe_fallback_origin(slug) == words


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ([], ""),
        (["connected"], "connected"),
        (["connected", "paused"], "paused"),
        (["connected", "paused", "error"], "error"),
        (["waiting_for_moon"], "waiting_for_moon"),
        (["waiting_for_moon", "error"], "error"),
    ],
)
def test_the_worst_status_speaks_for_all(statuses, worst):
    assert (
        worst_connection_status([Connection(status=status) for status in statuses])
        == worst
    )


@pytest.mark.parametrize(
    ("hours", "said"), [(0, "ok"), (23, "ok"), (25, "warn"), (71, "warn"), (73, "bad")]
)
def test_data_ages_by_days(hours, said):
    assert data_age_color(timezone.now() - timedelta(hours=hours)) == said


def test_no_data_is_neither_old_nor_new():
    assert data_age_color(None) == "mute"
