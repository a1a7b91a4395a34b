from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.template import Context, Template

from portal.templatetags import look

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def render(source, **context):
    return Template("{% load look %}" + source).render(Context(context))


def test_a_known_status_has_its_family_and_words():
    html = render('{% status_pill "pending_review" %}')

    assert 'class="pill pill--rev"' in html
    assert html.endswith("Pending review</span>")


def test_an_unknown_status_keeps_its_own_words():
    html = render("{% status_pill value %}", value="awaiting_partner<b>")

    assert 'class="pill pill--unknown"' in html
    assert html.endswith("Awaiting partner&lt;b&gt;</span>")


def test_a_long_id_is_shortened_and_copied_whole():
    whole = "5b1f4c7e-9a20-4d13-a8e6-0f27c1d94b36"

    html = render("{% short_id value %}", value=whole)

    assert f'<span title="{whole}">5b1f4c7e…4b36</span>' in html
    assert f'data-copy="{whole}"' in html


@pytest.mark.parametrize(
    ("name", "letters"), [("Oura", "Ou"), ("Apple Health", "Ah"), ("WHOOP", "Wh")]
)
def test_a_source_is_two_letters(name, letters):
    assert f">{letters}</span>" in render("{% source_badge name 'x' %}", name=name)


def test_a_source_keeps_its_hue():
    once = render("{% source_badge 'Oura' 'oura' %}")

    assert once == render("{% source_badge 'Oura' 'oura' %}")


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(seconds=59), "Just now"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 h ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "20 Nov, 12:00 UTC"),
        (timedelta(days=400), "17 Oct 2025, 12:00 UTC"),
        (timedelta(minutes=-5), "21 Nov, 12:05 UTC"),
    ],
)
def test_a_moment_is_relative_within_a_day_only(age, text):
    with time_machine.travel(NOW, tick=False):
        html = look.moment(NOW - age)

    assert f">{text}</time>" in html


def test_a_moment_holds_its_exact_instant():
    with time_machine.travel(NOW, tick=False):
        html = look.moment(datetime(2026, 11, 16, 15, 12, 1, 5, tzinfo=UTC))

    assert 'datetime="2026-11-16T15:12:01+00:00"' in html
    assert 'title="2026-11-16 15:12:01 UTC"' in html


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (date(2026, 3, 12), "12 Mar"),
        (date(1991, 6, 14), "14 Jun 1991"),
        (datetime(2026, 1, 3, 23, 59, tzinfo=UTC), "3 Jan"),
        (None, ""),
    ],
)
def test_a_day_names_its_year_when_it_is_not_this_one(value, text):
    with time_machine.travel(NOW, tick=False):
        assert look.day(value) == text


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Harbor Longevity", "HL"),
        ("Dr Noor Haddad", "DH"),
        ("noor.haddad@harbor.example", "nh"),
        ("demo", "d"),
        ("", ""),
    ],
)
def test_initials(text, letters):
    assert look.initials(text) == letters


def test_thousands():
    assert look.thousands(2418) == "2,418"
