"""The queue, the gate and the workbench, as their reviewer meets them over HTTP."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from django.test import Client

from accounts.models import AuditEntry
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from reports.models import (
    LoincAlias,
    Review,
    ReviewComment,
    ReviewRow,
    ReviewRowVersion,
)
from reports.operations.review.reviews import claim_review
from reports.operations.review.rows import confirm_review_row, edit_review_row_text
from reports.parser.checks.repeats import check_repeated_tests
from reports.parser.report import (
    Confidence,
    Note,
    NoteCode,
    PageSize,
    Place,
    Point,
    Provenance,
    RowState,
)
from reports.queries import list_reviews_of_job
from tests.factories.accounts import make_member
from tests.factories.reports import (
    make_dispute,
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_review,
)
from tests.factories.users import make_user
from tests.reports.desk import ref_of, rows_of, text_of

pytestmark = pytest.mark.django_db
PLACE = "/t/alice-health/sandbox"
QUEUE = f"{PLACE}/reviews/"
HTMX = {"HX-Request": "true"}
BOX = Place(1, (Point(10, 10), Point(90, 10), Point(90, 20), Point(10, 20)))


class Reviewer:
    """A clinician of Alice's team, signed in."""

    def __init__(self, team, email):
        member = make_member(team=team, email=email, roles=(Role.CLINICIAN,))
        self.actor = Actor(ActorKind.MEMBER, str(member.pk), email)
        self.web = Client()
        self.web.force_login(member)


@pytest.fixture
def nora(alice_team):
    return Reviewer(alice_team, "nora@assay.example")


@pytest.fixture
def otto(alice_team):
    return Reviewer(alice_team, "otto@assay.example")


@pytest.fixture
def user(alice_tenant):
    return make_user(
        tenant=alice_tenant,
        client_user_id="mbr_rosa",
        fallback_birth_date=date(1984, 2, 9),
    )


def on_desk(user, reviewer=None, **fields):
    """A report of two rows with a doubt on the first, and a place in no row."""
    report = make_parsed(
        results=(make_parsed_result(), make_parsed_result(test_name="Sodium")),
        notes=(Note(NoteCode.UNIT_MISSING, RowState.LOOK, (0,)),),
        page_sizes=(PageSize(1, 595.28, 841.89),),
        unread=(BOX,),
    )
    claimer = reviewer.actor if reviewer else None
    return make_review(user=user, report=report, claimed_by=claimer, **fields)


def row_url(review, position, act):
    return f"{QUEUE}{review.id}/rows/{position}/{act}/"


def typed(review, position=0, **changes):
    (row,) = [one for one in rows_of(review) if one.position == position]
    names = ("test_name", "value", "units", "reference_range", "flag")
    fields = {name: row.values[name] or "" for name in names}
    return {**fields, "version": row.version, **changes}


def test_the_queue_is_claimed_from_and_tells_who_reviews(
    nora, otto, user, django_assert_max_num_queries
):
    urgent = on_desk(user)
    Review.objects.for_tenant(user.tenant).update(is_critical=True)
    first = on_desk(user, content=b"%PDF-1.7 another")

    with django_assert_max_num_queries(25):
        page = nora.web.get(QUEUE).content.decode()
    claimed = nora.web.post(f"{QUEUE}{urgent.id}/claim/")
    others = otto.web.get(QUEUE).content.decode()
    too_late = otto.web.post(f"{QUEUE}{urgent.id}/claim/", follow=True)
    mine = nora.web.get(QUEUE, {"tab": "mine"}, headers=HTMX).content.decode()
    dispute = make_dispute(user=user)
    disputed = nora.web.post(f"{QUEUE}{dispute.id}/claim/")

    places = [page.index(str(one.job_id)[:8]) for one in (urgent, first)]
    assert places == sorted(places)
    assert claimed["Location"] == f"{QUEUE}{urgent.id}/"
    assert "nora@assay.example" in others
    assert "Someone else is reviewing this report." in too_late.content.decode()
    assert (str(urgent.job_id)[:8] in mine, str(first.job_id)[:8] in mine) == (
        True,
        False,
    )
    assert nora.web.get(QUEUE, {"lab": "elsewhere"}).status_code == 200
    assert disputed["Location"] == f"{QUEUE}{dispute.id}/readings/"
    desk = nora.web.get(f"{QUEUE}{dispute.id}/").content.decode()
    assert disputed["Location"] in desk


def test_the_queue_is_narrowed_by_sender_and_by_its_least_sure_row(nora, user):
    unsure = make_parsed(
        results=(
            make_parsed_result(confidence=Confidence(overall=0.55)),
            make_parsed_result(confidence=Confidence(overall=0.97)),
        )
    )
    sure = make_parsed(
        results=(make_parsed_result(confidence=Confidence(overall=0.9)),)
    )
    sent = {"source_key": "api_key 12", "source_label": "Intake"}
    low = make_review(user=user, report=unsure, **sent)
    high = make_review(user=user, report=sure, content=b"%PDF-1.7 another")

    def listed(**given):
        page = nora.web.get(QUEUE, given, headers=HTMX).content.decode()
        return [one for one in (low, high) if str(one.job_id)[:8] in page]

    assert (low.lowest_confidence, high.lowest_confidence) == (0.55, 0.9)
    assert [listed(band=band) for band in ("low", "fair", "high")] == [
        [low],
        [],
        [high],
    ]
    assert listed(source="api_key 12") == [low]
    assert listed(source="api_key 13", band="sure") == [low, high]
    assert '<a href="?source=api_key+12">Intake</a>' in (
        nora.web.get(QUEUE).content.decode()
    )
    set_ = nora.web.get(QUEUE, {"attention": "on", "lab": "x", "tab": "mine"})
    assert set_.context["bar"].is_set
    assert 'name="attention" value="on"' in set_.content.decode()
    assert 'href="?tab=mine">Clear filters' in set_.content.decode()


def test_an_empty_queue_says_how_to_fill_it(nora, alice_team):
    member = make_member(team=alice_team, roles=(Role.OWNER, Role.CLINICIAN))
    both = Client()
    both.force_login(member)

    pages = [web.get(QUEUE).content.decode() for web in (nora.web, both)]

    assert ["/lab_report/v1/parser/job" in page for page in pages] == [True, True]
    assert [f'action="{PLACE}/demo-data/load/"' in page for page in pages] == [
        False,
        True,
    ]


def test_only_who_may_sign_sees_the_desk(alice_team, user):
    review = on_desk(user)
    web = Client()
    web.force_login(make_member(team=alice_team, roles=(Role.ADMIN,)))

    answers = [web.get(QUEUE), web.get(f"{QUEUE}{review.id}/")]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert b"Reviews" not in web.get(f"{PLACE}/reports/").content


def test_a_report_of_another_person_opens_at_the_gate_until_a_reason_is_given(
    nora, user
):
    review = on_desk(user, nora, metadata={"dob": "1961-11-02"})
    desk = f"{QUEUE}{review.id}/"

    shut = nora.web.get(desk).content.decode()
    unsaid = nora.web.post(f"{desk}identity/", {"verdict": "same", "reason": " "})
    nora.web.post(f"{desk}identity/", {"verdict": "same", "reason": "By phone"})

    assert "Check patient identity" in shut
    assert "1961-11-02" in shut
    assert unsaid.status_code == 422
    assert "Check patient identity" not in nora.web.get(desk).content.decode()
    review.refresh_from_db()
    assert review.identity_decided == "By phone"


def test_a_report_of_somebody_else_moves_to_that_user(nora, user):
    review = on_desk(user, nora, metadata={"dob": "1961-11-02"})
    make_user(tenant=user.tenant, client_user_id="mbr_other")
    about = {"verdict": "move", "reason": "Name and date"}

    unknown = nora.web.post(
        f"{QUEUE}{review.id}/identity/", {**about, "client_user_id": "mbr_none"}
    )
    nora.web.post(
        f"{QUEUE}{review.id}/identity/", {**about, "client_user_id": "mbr_other"}
    )

    assert unknown.status_code == 422
    review.refresh_from_db()
    assert review.job.user.client_user_id == "mbr_other"


def test_the_workbench_shows_rows_to_check_first_with_their_ink(nora, user):
    review = on_desk(user, nora)

    page = nora.web.get(f"{QUEUE}{review.id}/").content.decode()

    assert re.findall(r'id="row-(\d+)"', page) == ["0", "1"]
    assert page.index("To check (1)") < page.rindex("No unit is printed.")
    assert page.count('class="region"') == 2
    assert page.count('class="unread"') == 1
    assert f"/reports/{review.job_id}/pages/1/" in page
    assert 'id="name-0"' in page
    assert page.count("autofocus") == 1
    assert page.count('fetchpriority="high"') == 1
    assert 'class="thumbs"' not in page  # of one page
    read = AuditEntry.objects.for_tenant(user.tenant).filter(subject="review")
    assert read.get().subject_id == str(review.id)


def test_a_test_printed_over_and_over_is_told_of_once(nora, user):
    values = ("105", "98", "97", "96", "95", "94")
    results = tuple(make_parsed_result(value=value) for value in values)
    report = make_parsed(results=results, notes=check_repeated_tests(results))
    review = make_review(user=user, report=report, claimed_by=nora.actor)

    page = nora.web.get(f"{QUEUE}{review.id}/").content.decode()

    says = "Printed several times: 105, 98, 97, 96 and 2 more."
    assert "Printed twice" not in page
    assert "Checks (1)<" in page
    assert page.count(says) == 1 + len(values)


def test_thumbnails_say_what_is_left_on_each_page(nora, user):
    here, there = (Provenance(value=replace(BOX, page=page)) for page in (1, 2))
    report = make_parsed(
        results=(
            make_parsed_result(provenance=here),
            make_parsed_result(test_name="Sodium", provenance=there),
        ),
        notes=(Note(NoteCode.UNIT_MISSING, RowState.LOOK, (1,)),),
        page_sizes=(PageSize(1, 595.28, 841.89), PageSize(2, 595.28, 841.89)),
        pages=2,
    )
    review = make_review(user=user, report=report, pages=2, claimed_by=nora.actor)

    page = nora.web.get(f"{QUEUE}{review.id}/").content.decode()
    seen = nora.web.post(f"{QUEUE}{review.id}/pages/2/", headers=HTMX).content.decode()
    confirmed = nora.web.post(
        row_url(review, 1, "confirm"), {"version": 1}, headers=HTMX
    ).content.decode()

    marks = re.findall(
        r'id="mark-(\d)">(?:<span class="count count--warn">(\d))?', page
    )
    assert marks == [("1", ""), ("2", "1")]
    assert page.count("?size=small") == 2
    # The neediest row stands on the second page, whose picture comes first.
    assert re.search(r'pages/2/"[^>]*fetchpriority="high"', page)
    assert re.findall(r'id="mark-(\d)"', seen) == ["2"]
    assert 'aria-label="Viewed"' in seen
    assert re.findall(r'id="mark-(\d)"', confirmed) == ["2"]
    assert "count--warn" not in confirmed
    review.refresh_from_db()
    assert review.pages_shown == [2]


def test_confirming_answers_the_row_and_what_changed_beside_it(
    nora, user, django_assert_max_num_queries
):
    review = on_desk(user, nora)

    with django_assert_max_num_queries(40):
        saved = nora.web.post(
            row_url(review, 1, "confirm"), {"version": 1}, headers=HTMX
        ).content.decode()
    plain = nora.web.post(row_url(review, 1, "undo"), {"version": 2})

    assert re.findall(r'id="(row-\d+|desk-\w+)"', saved)[0] == "row-1"
    assert {"desk-head", "desk-checks", "desk-bar"} <= set(
        re.findall(r'id="(desk-\w+)"', saved)
    )
    assert plain["Location"] == f"{QUEUE}{review.id}/?row=1#name-1"
    assert [row.decision for row in rows_of(review)] == ["undecided", "undecided"]


def test_a_stale_save_shows_both_values_and_changes_nothing(nora, user):
    review = on_desk(user, nora)
    stale = typed(review, value="10.5")
    edit_review_row_text(
        tenant=user.tenant,
        actor=nora.actor,
        ref=ref_of(review),
        text=text_of(review),
    )
    before = ReviewRowVersion.objects.for_tenant(user.tenant).count()

    opened = [
        nora.web.get(row_url(review, 0, act), {"version": 1}, headers=HTMX)
        for act in ("edit", "loinc", "exclude", "split", "merge")
    ]
    reason = {"version": 1, "reason": "A note"}
    excluded = nora.web.post(row_url(review, 0, "exclude"), reason, headers=HTMX)
    answer = nora.web.post(row_url(review, 0, "edit"), stale, headers=HTMX)
    confirmed = nora.web.post(
        row_url(review, 0, "confirm"), {"version": 1}, headers=HTMX
    )

    for form in opened:
        assert 'name="version" value="1"' in form.content.decode()
    assert (answer.status_code, confirmed.status_code) == (422, 422)
    assert 'name="version" value="2"' in excluded.content.decode()
    page = answer.content.decode()
    assert 'value="10.5"' in page
    assert "105" in page
    assert 'name="version" value="2"' in page
    assert ReviewRowVersion.objects.for_tenant(user.tenant).count() == before


def test_a_value_is_typed_and_shown_as_it_is_understood(nora, user):
    review = on_desk(user, nora)
    form = nora.web.get(row_url(review, 0, "edit"), headers=HTMX).content.decode()
    given = typed(review, value="<5", units="mmol/L", reference_range="3.9 - 5.6")

    seen = nora.web.post(row_url(review, 0, "understood"), given).content.decode()
    answer = nora.web.post(row_url(review, 0, "edit"), given, headers=HTMX)

    assert 'id="row-0-value"' in form
    assert "mmol/L" in seen
    assert "range 3.9–5.6" in seen
    assert answer["HX-Retarget"] == "#row-0"
    (row, _) = rows_of(review)
    assert (row.values["value"], row.decision) == ("<5", "edited")


def test_numbers_too_large_to_reckon_with_are_kept_as_typed(nora, user):
    review = on_desk(user, nora)
    digits = "1" * 400
    given = typed(review, value=digits, reference_range=f"1 - {digits}")

    nora.web.post(row_url(review, 0, "edit"), given, headers=HTMX)

    (row, _) = rows_of(review)
    assert (row.values["value"], row.decision) == (digits, "edited")
    assert row.values["max_reference_range"] is None


def test_a_code_is_chosen_and_remembered_for_the_lab(nora, user):
    review = on_desk(user, nora, metadata={"lab_name": "Example Laboratory"})
    url = row_url(review, 0, "loinc")

    found = nora.web.get(url, {"q": "glucose"}, headers=HTMX).content.decode()
    unchosen = nora.web.post(url, {"version": 1}, headers=HTMX)
    nora.web.post(
        url,
        {"version": 1, "loinc_code": "1558-6", "remember": "yes"},
        headers=HTMX,
    )
    nora.web.post(url, {"version": 1, "loinc_code": ""}, headers=HTMX)

    assert found.count('type="radio"') == 6
    assert unchosen.status_code == 422
    assert rows_of(review)[0].values["loinc_matches"][0]["loinc_code"] == "1558-6"
    assert LoincAlias.objects.for_tenant(user.tenant).get().loinc_code == "1558-6"


def test_rows_are_excluded_split_merged_added_and_commented_on(nora, user):
    review = on_desk(user, nora)
    post = nora.web.post

    post(row_url(review, 1, "comment"), {"reason": "Blurred"}, headers=HTMX)
    unsaid = post(row_url(review, 1, "exclude"), {"version": 1}, headers=HTMX)
    post(row_url(review, 1, "exclude"), {"version": 1, "reason": "A note"})
    halves = {
        f"{prefix}-{name}": value
        for prefix in ("first", "second")
        for name, value in typed(review).items()
    }
    post(row_url(review, 0, "split"), {**halves, "version": 1})
    split = {row.position: row.decision for row in rows_of(review)}
    whole = {f"first-{name}": value for name, value in typed(review).items()}
    merged = {"version": rows_of(review)[0].version, "after_version": 1}
    post(row_url(review, 0, "merge"), {**whole, **merged})
    new = {"first-test_name": "TSH", "first-value": "2.1", "first-units": "mIU/L"}
    box = {"page": 1, "x0": 90, "y0": 30, "x1": 10, "y1": 20}
    post(f"{QUEUE}{review.id}/rows/", {**new, **box})

    assert unsaid.status_code == 422
    assert ReviewComment.objects.for_tenant(user.tenant).get().text == "Blurred"
    desk = nora.web.get(f"{QUEUE}{review.id}/").content.decode()
    assert desk.count("Blurred") == desk.count("1 comment<") == 1
    assert split == {0: "edited", 1: "excluded", 2: "added"}
    assert {row.position: row.decision for row in rows_of(review)} == {
        0: "edited",
        1: "excluded",
        2: "excluded",
        3: "added",
    }
    added = next(row for row in rows_of(review) if row.position == 3)
    assert added.values["provenance"]["value"]["polygon"][0] == [10.0, 20.0]


def test_a_panel_is_confirmed_without_its_marked_rows(nora, user):
    review = on_desk(user, nora)
    panel = f"{QUEUE}{review.id}/panel/"

    answer = nora.web.post(panel, {"panel": ""}, headers=HTMX)
    decided = [row.decision for row in rows_of(review)]
    again = nora.web.post(panel, {"panel": ""})

    assert re.findall(r'id="(row-\d+)"', answer.content.decode()) == ["row-1"]
    assert 'data-told="1 row confirmed."' in answer.content.decode()
    assert decided == ["undecided", "confirmed"]
    assert again["Location"] == f"{QUEUE}{review.id}/"


def test_a_box_is_drawn_anew_and_put_back(nora, user):
    review = on_desk(user, nora)
    url = row_url(review, 1, "redraw")
    box = {"page": 1, "x0": 90, "y0": 60, "x1": 10, "y1": 40}

    form = nora.web.get(url).content.decode()
    unsaid = nora.web.post(url, {"version": 1})
    drawn = nora.web.post(url, {"version": 1, **box}, headers=HTMX).content.decode()
    stale = nora.web.post(url, {"version": 1, **box}, headers=HTMX)
    undone = nora.web.post(
        row_url(review, 1, "undo"), {"version": 2}, headers=HTMX
    ).content.decode()
    plain = nora.web.post(url, {"version": 3, "typed": "yes"})

    assert 'name="x0" value="240.0"' in form
    assert (unsaid.status_code, stale.status_code) == (422, 422)
    for answer, is_drawn in ((drawn, True), (undone, False)):
        assert re.findall(r'id="(overlay-\d)"', answer) == ["overlay-1"]
        assert ('points="7.0,37.0' in answer) == is_drawn
    assert plain["Location"] == f"{QUEUE}{review.id}/?row=1#name-1"
    row = rows_of(review)[1]
    assert (row.values["provenance"]["value"], row.version) == (None, 4)


def test_a_duplicate_is_told_of_and_kept_with_a_reason(nora, user):
    review = on_desk(user, nora)
    make_parsing_job(user=user, status="completed", report=make_parsed())

    told = nora.web.get(f"{QUEUE}{review.id}/").content.decode()
    nora.web.post(f"{QUEUE}{review.id}/duplicate/", {"reason": "Two draws"})

    assert "may be a duplicate" in told
    review.refresh_from_db()
    assert review.duplicate_decided == "Two draws"


def test_a_reason_that_the_database_cannot_hold_is_none(nora, user):
    review = on_desk(user, nora)

    answer = nora.web.post(f"{QUEUE}{review.id}/duplicate/", {"reason": " \0"})

    assert answer["Location"] == f"{QUEUE}{review.id}/"
    review.refresh_from_db()
    assert review.duplicate_decided == ""


def test_who_loses_the_lease_reads_on_and_changes_nothing(nora, otto, user):
    review = on_desk(user, nora)
    otto.web.post(f"{QUEUE}{review.id}/take-over/", {"reason": "Called away"})

    page = nora.web.get(f"{QUEUE}{review.id}/").content.decode()
    refused = nora.web.post(row_url(review, 0, "confirm"), {"version": 1}, headers=HTMX)
    otto.web.post(f"{QUEUE}{review.id}/release/")

    assert "otto@assay.example is reviewing this report" in page
    assert "data-desk" not in page
    assert refused.status_code == 422
    assert rows_of(review)[0].decision == "undecided"
    assert [one.claimed_by_key for one in list_reviews_of_job(job=review.job)] == [""]


def test_the_value_before_is_shown_with_the_change_since(nora, user):
    make_parsing_job(
        user=user,
        status="completed",
        content=b"%PDF-1.7 earlier",
        report=make_parsed(results=(make_parsed_result(value="98"),)),
        metadata={"date_collected": "2026-01-05"},
    )
    review = on_desk(user, nora)
    confirm_review_row(tenant=user.tenant, actor=nora.actor, ref=ref_of(review, 1))
    claim_review(tenant=user.tenant, actor=nora.actor, review_id=review.id)

    page = nora.web.get(f"{QUEUE}{review.id}/").content.decode()

    assert "Previous value: 98 mg/dL on 2026-01-05, change +7" in page


def test_a_contradicted_value_is_kept_with_a_reason_only(alice_tenant, nora) -> None:
    user = make_user(tenant=alice_tenant)
    note = Note(NoteCode.IMPLAUSIBLE, RowState.CONTRADICTION, (0,))
    report = make_parsed(results=(make_parsed_result(),), notes=(note,))
    review = make_review(user=user, report=report, claimed_by=nora.actor)
    ReviewRow.objects.for_tenant(alice_tenant).update(state="contradiction")
    url = f"{QUEUE}{review.id}/rows/0/confirm/"

    page = nora.web.get(f"{QUEUE}{review.id}/").content.decode()
    assert f'hx-post="{url}"' not in page
    assert f'hx-get="{url}?version=1"' in page
    asked = nora.web.get(f"{url}?version=1", headers=HTMX).content.decode()
    assert "Keep value despite a failed check" in asked
    for given in ({}, {"reason": " "}):
        refused = nora.web.post(url, {"version": 1, **given}, headers=HTMX)
        assert refused.status_code == 422
        (row,) = rows_of(review)
        assert (row.decision, row.version) == ("undecided", 1)

    kept = nora.web.post(
        url, {"version": 1, "reason": "Called the lab: right."}, headers=HTMX
    )

    assert kept.status_code == 200
    assert "Kept: Called the lab: right." in kept.content.decode()
    (row,) = rows_of(review)
    assert (row.decision, row.reason) == ("confirmed", "Called the lab: right.")


def test_the_tour_shows_until_it_is_hidden(nora, user):
    review = on_desk(user, nora)
    desk = f"{QUEUE}{review.id}/"
    place = nora.web.get(desk)
    assert b'<details class="card tour">' in place.content

    hidden = {"guide": "desk_tour", "back": desk}
    assert nora.web.post(f"{PLACE}/guides/hide/", hidden)["Location"] == desk
    assert nora.web.get(desk).context["shows_tour"] is False

    nora.web.post(f"{PLACE}/guides/hide/", {**hidden, "show": "1"})
    assert nora.web.get(desk).context["shows_tour"] is True
