"""The pages of signing: a summary, a signature, what comes after; all for reviewers."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from portal.lib.slots import Work, hold_work_slot
from reports.models import Rereading, Review, ReviewRow, Signature
from reports.operations.jobs.rereading import parse_report_again
from reports.operations.loinc_aliases import propose_loinc_alias
from reports.operations.review.additions import add_review_row
from reports.operations.review.checks import RowText
from reports.operations.review.gates import request_second_read
from reports.operations.review.reviews import claim_review
from reports.operations.review.rows import edit_review_row_text, exclude_review_row
from reports.parser.report import (
    Interpretation,
    PageSize,
    Place,
    Point,
    Provenance,
)
from reports.queries import get_parsing_job, list_reviews_of_job
from tests.clients import METHODS, confirm
from tests.factories.accounts import make_member
from tests.factories.reports import (
    make_parsed,
    make_parsed_result,
    make_pdf,
    make_review,
)
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from tests.outbox import emitted
from tests.reports.desk import decide_all, ref_of, sign, text_of

pytestmark = pytest.mark.django_db
PLACE = "/t/alice-health/sandbox"
BOX = Place(1, (Point(240, 152), Point(260, 152), Point(260, 164), Point(240, 164)))


class Reviewer:
    """A clinician of Alice's team in a browser that has just signed in."""

    def __init__(self, team, email):
        self.member = make_member(team=team, email=email, roles=(Role.CLINICIAN,))
        self.actor = Actor(ActorKind.MEMBER, str(self.member.pk), email)
        self.web = Client()
        self.web.force_login(self.member)
        self.confirm(ago=0)

    def confirm(self, *, ago):
        """Have confirmed `ago` seconds ago."""
        confirm(self.web)
        session = self.web.session
        session[METHODS][0]["at"] -= ago
        session.save()

    def get(self, path):
        return self.web.get(PLACE + path)

    def post(self, path, **given):
        return self.web.post(PLACE + path, given)


@pytest.fixture
def nora(alice_team):
    return Reviewer(alice_team, "nora@assay.example")


@pytest.fixture
def otto(alice_team):
    return Reviewer(alice_team, "otto@assay.example")


def waiting(user, reviewer, **changes):
    """A report of two rows on the desk, claimed by the reviewer."""
    place = Provenance(value=BOX)
    report = make_parsed(
        results=(
            make_parsed_result(provenance=place, **changes),
            make_parsed_result(test_name="Sodium", provenance=place),
        ),
        page_sizes=(PageSize(1, 595.28, 841.89),),
    )
    review = make_review(
        user=user,
        report=report,
        claimed_by=reviewer.actor,
        content=make_pdf(),
        metadata={"lab_name": "Example Laboratory"},
    )
    edit(review, reviewer, "85")
    return review


def edit(review, reviewer, value):
    edit_review_row_text(
        tenant=review.tenant,
        actor=reviewer.actor,
        ref=ref_of(review),
        text=replace(text_of(review), value=value),
    )


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_dana")


def test_a_report_is_signed_and_its_page_says_by_whom_and_to_whom_it_went(
    user, nora, otto, alice_api
):
    make_endpoint(tenant=user.tenant)
    review = waiting(user, nora, interpretation=Interpretation.CRITICAL, flag="HH")
    exclude_review_row(
        tenant=user.tenant, actor=nora.actor, ref=ref_of(review, 1), reason="a footer"
    )
    page = f"/reviews/{review.id}/approve/"

    nora.member.name = "Nora Sample"
    nora.member.save(update_fields=["name"])
    waits = nora.get(f"/reports/{review.job_id}/").content.decode()
    early = nora.get(page).content.decode()

    assert f'href="{PLACE}/reviews/{review.id}/"' in waits
    assert "Remaining steps" in early
    assert f"/reviews/{review.id}/?page=1" in early
    assert "<del>105</del>" in early
    assert "<ins>85</ins>" in early
    assert "a footer" in early
    assert f"/reports/{review.job_id}/pages/1/" in early
    assert nora.post(page, meaning="accuracy").status_code == 422
    assert nora.post(page).status_code == 422
    assert not Signature.objects.for_tenant(user.tenant).exists()

    decide_all(review, nora.actor)
    row = ReviewRow.objects.for_tenant(user.tenant).get(review=review, position=0)
    if row.is_critical:
        fields = {"told": "Dr. Example", "way": "phone", "version": row.version}
        critical = f"/reviews/{review.id}/critical/0/"
        assert nora.post(critical, **fields).status_code == 422
        at = timezone.localtime().strftime("%Y-%m-%dT%H:%M")
        assert nora.post(critical, **fields, at=at).status_code == 302
    nora.confirm(ago=3600)
    asked = nora.post(page, meaning="clinical")
    assert asked.url.startswith("/accounts/confirm/")
    onward = parse_qs(urlsplit(asked.url).query)["next"][0]
    assert onward == f"{PLACE}{page}?meaning=clinical#h-sign"
    assert not Signature.objects.for_tenant(user.tenant).exists()
    nora.confirm(ago=60)
    back = nora.web.get(onward).content.decode()
    assert "Identity confirmed. Sign to finish." in back
    assert re.search(r'value="clinical"[^>]*checked', back)
    assert "Repeat your last action" not in back
    taken = make_review(user=user, claimed_by=otto.actor, content=b"%PDF-1.7 taken")
    following = make_review(user=user, content=b"%PDF-1.7 following")
    done = nora.post(page, meaning="clinical")

    assert done.url == f"{PLACE}/reports/{review.job_id}/"
    signature = Signature.objects.for_tenant(user.tenant).get()
    assert (signature.member_key, signature.meaning) == (nora.actor.key, "clinical")
    assert signature.member_label == "Nora Sample"
    shown = nora.get(f"/reports/{review.job_id}/").content.decode()
    assert "Reviewed clinically" in shown
    assert f'href="{PLACE}/reviews/{following.id}/">Review next report' in shown
    assert str(taken.id) not in shown
    assert "Status sent to" in shown
    assert "?ink=0#value-0" in shown
    assert 'class="ink"' not in shown
    shown = nora.get(f"/reports/{review.job_id}/?ink=0").content.decode()
    assert shown.count('class="ink"') == 1
    assert f'<image href="{PLACE}/reports/{review.job_id}/pages/1/"' in shown
    wire = f"/lab_report/v1/parser/job/{review.job_id}?include=provenance"
    (value,) = alice_api.get(wire).json()["data"]["results"]
    assert value["value"] == "85"
    assert value["provenance"]["value"]["polygon"] == [list(p) for p in BOX.polygon]
    assert nora.get(page).status_code == 302
    history = nora.get(f"/reports/{review.job_id}/history/").content.decode()
    assert "Unchanged since" in history
    assert "<ins>85</ins>" in history
    assert nora.post(f"/reports/{review.job_id}/reread/").status_code == 302
    reading = Rereading.objects.for_tenant(user.tenant).get()
    differs = f"/reports/{review.job_id}/rereadings/{reading.pk}/"
    assert nora.get(differs).status_code == 200
    history = nora.get(f"/reports/{review.job_id}/history/").content.decode()
    assert "In progress, requested by" in history
    parse_report_again(tenant_pk=user.tenant.pk, rereading_id=reading.pk)
    choice = {"version": 1, "why": "read better now"}
    assert nora.post(f"{differs}amend/", **choice).status_code == 422
    assert nora.post(f"{differs}amend/", **choice, rows="99").status_code == 422
    assert not Review.objects.for_tenant(user.tenant).filter(number=2).exists()
    taken = nora.post(f"{differs}amend/", **choice, rows="1")
    reread = Review.objects.for_tenant(user.tenant).get(number=2)
    assert taken.url == f"{PLACE}/reviews/{reread.id}/"
    assert nora.post(f"/reviews/{reread.id}/withdraw/").status_code == 302
    amended = nora.post(f"/reports/{review.job_id}/amend/", why="a slip")
    amendment = Review.objects.for_tenant(user.tenant).get(number=3)
    assert amended.url == f"{PLACE}/reviews/{amendment.id}/"
    assert nora.post(f"/reviews/{amendment.id}/withdraw/").status_code == 302
    amendment.refresh_from_db()
    assert amendment.status == "withdrawn"


def test_a_value_kept_against_a_check_is_shown_before_it_is_signed(user, nora):
    review = waiting(user, nora)
    page = f"/reviews/{review.id}/approve/"
    assert "Kept despite a check" not in nora.get(page).content.decode()

    edit(review, nora, "98000")
    decide_all(review, nora.actor)

    shown = nora.get(page).content.decode()
    assert "Kept despite a check" in shown
    assert shown.count("98000") >= 2  # there, and among what was changed


def test_a_report_is_rejected_with_a_reason(user, nora):
    review = waiting(user, nora)
    page = f"/reviews/{review.id}/reject/"

    assert nora.get(page).status_code == 200
    assert nora.post(page).status_code == 422
    done = nora.post(page, reason="unreadable", why="half the page is dark")

    job = get_parsing_job(tenant=user.tenant, job_id=review.job_id)
    assert (done.status_code, job.failure_reason) == (302, "low_quality")


def test_the_request_of_a_second_read_is_cancelled(user, nora):
    review = waiting(user, nora)
    page = f"/reviews/{review.id}/second-read/"

    items = []
    for press in ("yes", "no"):
        assert nora.post(page, wanted=press).status_code == 302
        review.refresh_from_db()
        items.append(review.wants_second_read)

    assert items == [True, False]
    entries = AuditEntry.objects.for_tenant(user.tenant).order_by("id")
    recorded = [one.changes["wanted"] for one in entries if "wanted" in one.changes]
    assert recorded == [True, False]


def test_two_readers_and_a_third_on_one_report(user, nora, otto, alice_team):
    review = waiting(user, nora)
    assert nora.post(f"/reviews/{review.id}/second-read/", wanted="yes").status_code
    decide_all(review, nora.actor)
    nora.post(f"/reviews/{review.id}/approve/", meaning="accuracy")
    history = f"/reports/{review.job_id}/history/"
    assert (
        "hidden until the second read is complete" in otto.get(history).content.decode()
    )
    assert "<ins>85</ins>" in nora.get(history).content.decode()
    second = opened(review)
    assert nora.get(f"/reviews/{second.id}/waive/").status_code == 200
    claim_review(tenant=user.tenant, actor=otto.actor, review_id=second.id)
    edit(second, otto, "95")
    text = RowText(test_name="Iron", value="80", units="ug/dL")
    add_review_row(tenant=user.tenant, actor=otto.actor, review_id=second.id, text=text)
    decide_all(second, otto.actor)
    otto.post(f"/reviews/{second.id}/approve/", meaning="accuracy")

    pia = Reviewer(alice_team, "pia@assay.example")
    dispute = opened(review)
    claim_review(tenant=user.tenant, actor=pia.actor, review_id=dispute.id)
    page = f"/reviews/{dispute.id}/readings/"
    shown = pia.get(page).content.decode()
    assert "Read by nora@assay.example, otto@assay.example" in shown
    assert "No such row" in shown
    assert pia.get(f"/reviews/{second.id}/readings/").status_code == 404
    for position, side in ((0, "second"), (2, "first")):
        version = ref_of(dispute, position).version
        fields = {"side": side, "version": version}
        assert pia.post(f"{page}{position}/", **fields).status_code == 302
    decide_all(dispute, pia.actor)
    sign(dispute, pia.actor)

    (envelope,) = emitted(user.tenant)
    values = [one["value"] for one in envelope["data"]["data"]["results"]]
    assert values == ["95", "105"]
    assert "<ins>85</ins>" in otto.get(history).content.decode()


def opened(review):
    found = list_reviews_of_job(job=review.job)[-1]
    found.tenant, found.job = review.tenant, review.job
    return found


def test_a_second_read_is_waived_with_a_reason(user, nora):
    review = waiting(user, nora)
    request_second_read(tenant=user.tenant, actor=nora.actor, review_id=review.id)
    decide_all(review, nora.actor)
    sign(review, nora.actor)
    page = f"/reviews/{opened(review).id}/waive/"

    assert nora.post(page).status_code == 422
    assert emitted(user.tenant) == []
    assert nora.post(page, why="on leave").status_code == 302

    assert len(emitted(user.tenant)) == 1


def test_a_remembered_name_waits_for_a_colleague(user, nora, otto):
    review = waiting(user, nora)
    alias = propose_loinc_alias(
        tenant=user.tenant, actor=nora.actor, ref=ref_of(review)
    )
    agree = f"/reviews/aliases/{alias.pk}/confirm/"

    listed = nora.get("/reviews/aliases/").content.decode()
    assert "Another reviewer must approve this" in listed
    nora.post(agree)
    alias.refresh_from_db()
    assert alias.status == "proposed"
    otto.post(agree)
    live = otto.get("/reviews/aliases/").content.decode()
    nora.post(f"/reviews/aliases/{alias.pk}/end/")

    assert "Remove<" in live
    alias.refresh_from_db()
    assert alias.status == "ended"


def test_a_page_of_a_report_is_a_picture_whose_view_is_recorded(user, nora):
    review = waiting(user, nora)

    answer = nora.get(f"/reports/{review.job_id}/pages/1/")

    assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
    assert answer.content[:3] == b"\xff\xd8\xff"
    assert "no-store" in answer["Cache-Control"]
    seen = AuditEntry.objects.for_tenant(user.tenant).get(subject="report_page")
    assert (seen.subject_id, seen.user_uuid) == (f"{review.job_id} 1", user.uuid)
    assert nora.get(f"/reports/{review.job_id}/pages/2/").status_code == 404


def test_a_page_that_has_to_wait_is_no_view_and_is_asked_for_again(user, nora):
    review = waiting(user, nora)
    address = f"/reports/{review.job_id}/pages/1/"
    views = AuditEntry.objects.for_tenant(user.tenant).filter(subject="report_page")

    with hold_work_slot(Work.STORED, tenant=user.tenant):
        busy = nora.get(address)
        viewed = views.count()
    drawn = nora.get(address)

    assert (busy.status_code, busy["Retry-After"], viewed) == (503, "5", 0)
    assert (drawn.status_code, views.count()) == (200, 1)


def test_signing_opens_the_next_report_of_the_queue(alice_tenant, nora, otto):
    """Claimed for the signer; what a colleague holds is left to them."""
    user = make_user(tenant=alice_tenant)
    first = waiting(user, nora)
    make_review(user=user, report=make_parsed(), claimed_by=otto.actor)
    upcoming = make_review(user=user, report=make_parsed())
    decide_all(first, nora.actor)
    page = f"/reviews/{first.id}/approve/"

    offered = nora.get(page)
    reply = nora.post(page, meaning="clinical", next="1")

    upcoming.refresh_from_db()
    assert offered.context["has_next"] is True
    assert reply["Location"] == f"{PLACE}/reviews/{upcoming.id}/"
    assert upcoming.claimed_by_key == nora.actor.key
    assert Signature.unscoped.count() == 1
    last = nora.get(f"/reviews/{upcoming.id}/approve/")
    assert last.context["has_next"] is False
