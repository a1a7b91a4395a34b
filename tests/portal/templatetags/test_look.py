from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django import forms
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone

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
        html = look.render_relative_time(NOW - age)

    assert f">{text}</time>" in html


@pytest.mark.parametrize(
    ("in_sentence", "text"), [("", "Just now"), ("in_sentence=True", "just now")]
)
def test_a_moment_within_a_sentence_begins_in_lower_case(in_sentence, text):
    html = render(f"{{% relative_time at {in_sentence} %}}", at=timezone.now())

    assert f">{text}</time>" in html


def test_a_moment_holds_its_exact_instant():
    with time_machine.travel(NOW, tick=False):
        html = look.render_relative_time(
            datetime(2026, 11, 16, 15, 12, 1, 5, tzinfo=UTC)
        )

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
        assert look.format_day(value) == text


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
    assert look.build_initials(text) == letters


def test_thousands():
    assert look.format_number(2418) == "2,418"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (1, "100%"),
        (0.9999, "99.9%"),
        (4 / 6, "66.7%"),
        (1 / 3, "33.3%"),
        (0.6, "60%"),
        (0.0001, "0.1%"),
        (0, "0%"),
    ],
)
def test_a_share_that_is_not_all_never_reads_so(share, text):
    assert look.format_percent(share) == text


@pytest.mark.parametrize(("number", "text"), [(182.4, "182 ms"), (10_040, "10.0 s")])
def test_milliseconds_are_seconds_once_there_are_enough(number, text):
    assert look.format_milliseconds(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(90, "90 s"), (600, "10 min"), (7_500, "2 h 5 min")]
)
def test_a_duration_has_its_largest_units(seconds, text):
    assert look.format_seconds(seconds) == text


class ExampleForm(forms.Form):
    name = forms.CharField(max_length=80)
    comment = forms.CharField(max_length=10, widget=forms.Textarea)
    kind = forms.ChoiceField(choices=[("a", "A"), ("b", "B")])
    reason = forms.ChoiceField(
        choices=[("x", "X"), ("y", "Y")], widget=forms.RadioSelect
    )
    roles = forms.MultipleChoiceField(
        choices=[("o", "Owner")], widget=forms.CheckboxSelectMultiple
    )
    agreed = forms.BooleanField()
    file = forms.FileField()


def test_a_field_ties_its_hint_and_error_to_its_control():
    html = render('{% field form.name hint="As it is." %}', form=ExampleForm({}))

    assert 'aria-describedby="id_name_hint id_name_error"' in html
    assert 'aria-invalid="true"' in html
    assert '<p class="hint" id="id_name_hint">As it is.</p>' in html
    assert 'id="id_name_error"' in html


def test_several_errors_are_all_said():
    form = ExampleForm({"name": "n"})
    form.add_error("name", "Too short.")
    form.add_error("name", "Too common.")

    assert "Too short. Too common." in render("{% field form.name %}", form=form)


def test_a_counter_starts_at_what_is_there():
    form = ExampleForm({"comment": "Hello"})

    html = render("{% field form.comment counter=True %}", form=form)

    assert 'class="textarea"' in html
    assert 'data-count="id_comment_count"' in html
    assert 'id="id_comment_count">5 of 10 characters' in html


@pytest.mark.parametrize("name", ["reason", "roles"])
def test_choices_are_a_group_with_a_legend(name):
    html = render(
        '{% field bound label="Which" hint="Choose." %}', bound=ExampleForm()[name]
    )

    assert f'<fieldset class="field" aria-describedby="id_{name}_hint">' in html
    assert '<legend class="label">Which</legend>' in html
    assert html.count("<input") == len(ExampleForm()[name].field.choices)
    assert 'for="id_' + name + '_0"' in html


def test_a_switch_says_that_it_is_one():
    html = render("{% field form.agreed switch=True %}", form=ExampleForm())

    assert 'role="switch"' in html
    assert 'class="switch"' in html


def test_a_file_is_dropped_on_its_label():
    html = render('{% field form.file hint="PDF" %}', form=ExampleForm({}))

    assert '<label class="drop" for="id_file">' in html
    assert html.count('id="id_file_hint"') == 1
    assert 'aria-describedby="id_file_hint id_file_error"' in html


def test_a_chip_is_removed_without_its_offset_and_keeps_the_rest():
    request = RequestFactory().get("/?source=oura&q=a%26b&offset=50")

    html = render(
        '{% filter_chip "Source" "source" value=name %}', request=request, name="<Oura>"
    )

    assert 'href="?q=a%26b"' in html
    assert "<b>&lt;Oura&gt;</b>" in html


def test_a_codebox_shows_and_copies_the_same_text():
    html = render(
        '{% codebox "Call" %}\ncurl {{ url }} -d \'{"a": 1}\'\n{% endcodebox %}',
        url="https://x/?a&b=<c>",
    )

    text = "curl https://x/?a&amp;b=&lt;c&gt; -d &#x27;{&quot;a&quot;: 1}&#x27;"
    assert f'data-copy="{text}"' in html
    assert f">{text}</pre>" in html


def test_a_notice_escapes_what_a_view_says():
    html = render('{% notice "bad" %}<p>{{ x }}</p>{% endnotice %}', x="<b>")

    assert 'class="note note--bad"' in html
    assert "<p>&lt;b&gt;</p>" in html


def test_an_empty_state_has_its_words_and_its_heading():
    html = render(
        '{% empty_state "None yet" level=2 %}<p>Soon.</p>{% endempty_state %}'
    )

    assert "<h2>None yet</h2>" in html
    assert "<p>Soon.</p>" in html


def test_a_line_of_the_key_sheet_says_what_it_does():
    html = render('{% shortcut "g u" "Go to users" go="/users/" %}')

    assert 'data-keys="g u" data-go="/users/"' in html
    assert "<kbd>g</kbd>" in html
    assert "<kbd>u</kbd>" in html
