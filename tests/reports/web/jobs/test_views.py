from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.states import Role
from reports.models import ParsingJob, ReportFile
from reports.operations.jobs.submission import MAX_BYTES
from tests.factories.accounts import ACTOR, make_member
from tests.factories.reports import (
    encrypt,
    make_parsed,
    make_parsed_result,
    make_parsing_job,
    make_pdf,
)
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.reports.uploads import stored_files
from users.operations.users.users import delete_user

PLACE = "/t/alice-health/sandbox"
LIST = f"{PLACE}/reports/"
UPLOAD = f"{LIST}upload/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def dana(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_dana")


@pytest.fixture
def done(dana):
    return make_parsing_job(
        user=dana,
        status="completed",
        report=make_parsed(
            results=(
                make_parsed_result(source_panel_name="Metabolic"),
                make_parsed_result(
                    test_name="Sodium",
                    value="140",
                    units="mmol/L",
                    min_reference_range=135.0,
                    max_reference_range=145.0,
                    interpretation="normal",
                    is_above_max_range=False,
                ),
            )
        ),
        metadata={
            "patient_first_name": "Rosa",
            "patient_last_name": "Beispiel",
            "dob": "1984-02-09",
            "lab_name": "Example Laboratory",
            "date_collected": "2025-03-02",
        },
        pages=2,
    )


def as_role(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


def reads(tenant):
    return list(
        AuditEntry.objects.for_tenant(tenant)
        .filter(verb="read")
        .order_by("id")
        .values_list("subject", "subject_id")
    )


def pdf_file(content=None):
    return SimpleUploadedFile(
        "Rosa Beispiel.pdf", content or make_pdf(), "application/pdf"
    )


def assert_nothing_stored(tenant):
    assert ParsingJob.objects.for_tenant(tenant).count() == 0
    assert ReportFile.objects.for_tenant(tenant).count() == 0
    assert emitted_types(tenant) == []
    assert stored_files() == []


def ids_on(reply):
    return [job.id for job in reply.context["jobs"]]


def test_the_list_shows_jobs_of_the_tenant_alone(
    alice_web, done, charlie_tenant, alice_production
):
    make_parsing_job(user=make_user(tenant=charlie_tenant))
    make_parsing_job(user=make_user(tenant=alice_production))

    reply = alice_web.get(LIST)

    assert ids_on(reply) == [done.id]
    assert "Example Laboratory" in reply.content.decode()


def test_the_list_names_no_patient(alice_web, done):
    html = alice_web.get(LIST).content.decode()

    assert ("Rosa" in html, "Beispiel" in html) == (False, False)


@pytest.mark.parametrize(
    ("query", "statuses"),
    [
        ("", ["completed", "failed", "pending_review", "started", "upload_pending"]),
        ("tab=open", ["pending_review", "started", "upload_pending"]),
        ("tab=completed", ["completed"]),
        ("tab=failed", ["failed"]),
        ("tab=nonsense&offset=-1&limit=7", None),
        ("user=mbr_dana&tab=completed", ["completed"]),
        ("user=nobody", []),
        ("offset=5", []),
    ],
)
def test_the_list_is_filtered_and_paged(alice_web, dana, query, statuses):
    every = ["upload_pending", "started", "pending_review", "completed", "failed"]
    for status in every:
        make_parsing_job(user=dana, status=status)

    reply = alice_web.get(f"{LIST}?{query}")

    shown = sorted(job.status for job in reply.context["jobs"])
    assert shown == (sorted(every) if statuses is None else statuses)
    assert reply.context["tabs"] == [
        ("all", "All", 5),
        ("open", "Open", 3),
        ("completed", "Completed", 1),
        ("failed", "Failed", 1),
    ]


def test_the_list_is_searched_and_narrowed(alice_web, alice_tenant, dana):
    other = make_user(tenant=alice_tenant, client_user_id="mbr_omar")
    failed = make_parsing_job(user=dana, status="failed")
    waiting = make_parsing_job(user=other, status="pending_review")
    day = timezone.now() - timedelta(days=40)
    ParsingJob.objects.for_tenant(alice_tenant).filter(pk=failed.pk).update(
        created_at=day
    )

    def find(query):
        page = alice_web.get(f"{LIST}?{query}")
        return [job.pk for job in page.context["jobs"]]

    assert find("q=R_DAN") == [failed.pk]
    assert find(f"q={str(waiting.pk)[9:23]}") == [waiting.pk]
    assert find("q=nobody-at-all") == []
    assert find("status=failed") == [failed.pk]
    assert find("tab=open&status=failed") == [waiting.pk]  # not of that tab
    assert find("uploaded=30d") == [waiting.pk]
    assert find("uploaded=90d&q=mbr&status=failed") == [failed.pk]
    html = alice_web.get(f"{LIST}?tab=open&uploaded=30d&offset=50").content.decode()
    assert 'href="?tab=open&amp;uploaded=30d&amp;status=started"' in html
    assert 'href="?tab=open" aria-label="Remove the uploaded filter"' in html
    assert '<input type="hidden" name="uploaded" value="30d">' in html
    assert 'name="offset"' not in html


def test_the_tab_of_all_is_the_list_without_a_view_to_save(alice_web, dana):
    failed = alice_web.get(f"{LIST}?tab=failed&user=mbr_dana&offset=50")
    every = alice_web.get(f"{LIST}?view=all")

    assert 'href="?user=mbr_dana&amp;view=all"' in failed.content.decode()
    assert every.context["views"].save_url == ""
    assert failed.context["views"].save_url != ""


def test_the_list_asks_again_only_while_something_is_read(alice_web, dana):
    make_parsing_job(user=dana, status="failed")
    quiet = alice_web.get(LIST).content.decode()
    make_parsing_job(user=dana, status="started")
    busy = alice_web.get(f"{LIST}?tab=open").content.decode()

    assert "every" not in quiet
    assert f'hx-get="{LIST}?tab=open" hx-trigger="every 3s"' in busy


def test_htmx_gets_the_table_alone(alice_web, done):
    html = alice_web.get(LIST, headers=HTMX).content.decode()

    assert ("<h1>" in html, html.count('id="report-list"')) == (False, 1)


def test_a_status_we_do_not_know_keeps_its_words(alice_web, dana):
    make_parsing_job(user=dana, status="sent_to_the_moon")

    assert "Sent to the moon" in alice_web.get(LIST).content.decode()


@pytest.mark.parametrize("number", [1, 2, 40])
def test_the_list_costs_the_same_at_any_length(alice_web, dana, number):
    for _ in range(number):
        make_parsing_job(user=dana, status="completed", metadata={"lab_name": "L"})
    alice_web.get(LIST)  # the session notes the place once

    with CaptureQueriesContext(connection) as queries:
        alice_web.get(LIST)

    assert len(queries) == LIST_QUERIES


# Session, member, saved views, statuses, total, jobs. The place, the sidebar's numbers,
# the switcher and the audit go by rows, which Django does not count.
LIST_QUERIES = 6


def test_a_report_s_page_shows_values_ranges_and_flags(alice_web, alice_tenant, done):
    reply = alice_web.get(f"{LIST}{done.id}/")

    html = reply.content.decode()
    assert reply.status_code == HTTPStatus.OK
    for shown in (
        "Glucose",
        "2345-7",
        "105 mg/dL, reference 70 to 99",
        "High",
        "140 mmol/L, reference 135 to 145",
        "Normal",
        "2 values, 2 pages",
        "2 Mar 2025",
        "LOINC is copyright",
    ):
        assert shown in html
    assert reads(alice_tenant) == [("parsing_job", str(done.id))]


def test_the_patient_is_hidden_until_asked_for(alice_web, alice_tenant, done):
    hidden = alice_web.get(f"{LIST}{done.id}/").content.decode()
    shown = alice_web.get(f"{LIST}{done.id}/?reveal=patient").content.decode()

    assert ("Beispiel" in hidden, "Beispiel" in shown) == (False, True)
    assert "9 Feb 1984" in shown
    assert [subject for subject, _ in reads(alice_tenant)] == [
        "parsing_job",
        "parsing_job",
        "parsing_job_patient",
    ]


def test_values_out_of_range_can_be_shown_alone(alice_web, done):
    html = alice_web.get(f"{LIST}{done.id}/?show=flagged").content.decode()

    assert ("Glucose" in html, "Sodium" in html) == (True, False)


@pytest.mark.parametrize("status", ["upload_pending", "started"])
def test_a_report_being_read_asks_again(alice_web, dana, status):
    job = make_parsing_job(user=dana, status=status)

    html = alice_web.get(f"{LIST}{job.id}/").content.decode()

    assert 'hx-trigger="every 3s"' in html


def test_waiting_for_a_report_is_audited_once(alice_web, alice_tenant, dana):
    job = make_parsing_job(user=dana, status="started")

    alice_web.get(f"{LIST}{job.id}/")
    alice_web.get(f"{LIST}{job.id}/", headers=HTMX)
    alice_web.get(f"{LIST}{job.id}/", headers=HTMX)

    assert reads(alice_tenant) == [("parsing_job", str(job.id))]


def test_the_values_a_poll_brings_are_audited(alice_web, alice_tenant, done):
    alice_web.get(f"{LIST}{done.id}/", headers=HTMX)

    assert reads(alice_tenant) == [("parsing_job", str(done.id))]


def test_the_element_that_polls_is_the_state(alice_web, done):
    html = alice_web.get(f"{LIST}{done.id}/", headers=HTMX).content.decode()

    assert html.count('id="job"') == 1
    assert ("<h1>" in html, "<nav" in html, "hx-trigger" in html) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize("reason", ["invalid_input", "eaten_by_dog"])
def test_a_failed_report_says_why(alice_web, dana, reason):
    job = make_parsing_job(user=dana, status="failed", failure_reason=reason)

    html = alice_web.get(f"{LIST}{job.id}/").content.decode()

    assert f"<code>{reason}</code>" in html


def test_what_a_report_says_is_escaped(alice_web, dana):
    job = make_parsing_job(
        user=dana,
        status="completed",
        report=make_parsed(
            results=(make_parsed_result(test_name="<script>alert(1)</script>"),)
        ),
    )

    html = alice_web.get(f"{LIST}{job.id}/").content.decode()

    assert "<script>alert" not in html


@pytest.mark.parametrize(
    "wanted", ["not-a-uuid", "00000000-0000-4000-8000-000000000000"]
)
def test_an_unknown_report_is_not_found(alice_web, alice_tenant, wanted):
    assert alice_web.get(f"{LIST}{wanted}/").status_code == HTTPStatus.NOT_FOUND
    assert reads(alice_tenant) == []


def test_a_report_of_another_tenant_is_not_found(
    alice_web, charlie_web, done, alice_production, charlie_team
):
    elsewhere = [
        alice_web.get(f"/t/alice-health/production/reports/{done.id}/"),
        charlie_web.get(f"/t/charlie-care/sandbox/reports/{done.id}/"),
        charlie_web.get(f"{LIST}{done.id}/"),
    ]

    assert [reply.status_code for reply in elsewhere] == [404, 404, 404]


def test_a_report_of_a_deleted_user_is_not_found(alice_web, dana, done):
    delete_user(user=dana, actor=ACTOR)

    assert alice_web.get(f"{LIST}{done.id}/").status_code == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize("path", [LIST, UPLOAD])
@pytest.mark.parametrize("role", [Role.DEVELOPER, Role.VIEWER])
def test_reports_are_shut_to_roles_without_the_right(alice_team, role, path):
    reply = as_role(alice_team, role).get(path)

    assert reply.status_code == HTTPStatus.FORBIDDEN


def test_a_user_s_reports_stand_on_the_user_s_page(alice_web, alice_tenant, dana, done):
    make_parsing_job(user=make_user(tenant=alice_tenant), status="failed")

    reply = alice_web.get(f"{PLACE}/users/{dana.uuid}/reports/")

    assert ids_on(reply) == [done.id]
    assert "Fallbacks" in reply.content.decode()
    assert reads(alice_tenant) == [("report_list", str(dana.uuid))]


def test_an_upload_becomes_a_job_and_leads_to_it(alice_web, alice_tenant, dana):
    reply = alice_web.post(UPLOAD, {"user": "mbr_dana", "file": pdf_file()})

    job = ParsingJob.objects.for_tenant(alice_tenant).get()
    assert (reply.status_code, reply["Location"]) == (
        HTTPStatus.FOUND,
        f"{LIST}{job.id}/",
    )
    assert (job.user, job.status) == (dana, "upload_pending")
    assert emitted_types(alice_tenant) == ["lab_report.parsing_job.created"]


def test_review_by_a_person_is_asked_for_where_the_team_offers_it(
    alice_web, alice_tenant, dana
):
    offered = alice_web.get(UPLOAD).content.decode()
    form = {"user": "mbr_dana", "file": pdf_file(), "needs_human_review": "on"}
    alice_web.post(UPLOAD, form)
    alice_tenant.lab_report_human_review_enabled = False
    alice_tenant.save(update_fields=["lab_report_human_review_enabled"])
    not_offered = alice_web.get(UPLOAD).content.decode()

    (job,) = ParsingJob.objects.for_tenant(alice_tenant)
    assert job.needs_human_review is True
    name = 'name="needs_human_review"'
    assert (name in offered, name in not_offered) == (True, False)


def test_an_upload_with_script_is_told_where_to_go(alice_web, alice_tenant, dana):
    reply = alice_web.post(
        UPLOAD, {"user": "mbr_dana", "file": pdf_file()}, headers=HTMX
    )

    job = ParsingJob.objects.for_tenant(alice_tenant).get()
    assert (reply.status_code, reply["HX-Redirect"]) == (
        HTTPStatus.NO_CONTENT,
        f"{LIST}{job.id}/",
    )


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "application/pdf"),
        (b"hello", "application/pdf"),
        (b"hello", "text/plain"),
        (make_pdf(), "image/png"),
        (encrypt(make_pdf()), "application/pdf"),
        (make_pdf()[:200], "application/pdf"),
        (b"x" * (MAX_BYTES + 1), "application/pdf"),
    ],
    ids=["empty", "lying", "text", "mismatch", "encrypted", "truncated", "too large"],
)
def test_a_bad_file_comes_back_with_the_form(
    alice_web, alice_tenant, dana, content, kind
):
    file = SimpleUploadedFile("report.pdf", content, kind)

    reply = alice_web.post(UPLOAD, {"user": "mbr_dana", "file": file})

    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == ["file"]
    assert_nothing_stored(alice_tenant)


@pytest.mark.parametrize("name", ["", "nobody", "MBR_DANA"])
def test_an_upload_needs_a_known_user(alice_web, alice_tenant, dana, name):
    reply = alice_web.post(UPLOAD, {"user": name, "file": pdf_file()}, headers=HTMX)

    html = reply.content.decode()
    assert reply.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert list(reply.context["form"].errors) == ["user"]
    assert ("<h1>" in html, "data-upload" in html) == (False, True)
    assert_nothing_stored(alice_tenant)


def test_an_upload_needs_a_file(alice_web, alice_tenant, dana):
    reply = alice_web.post(UPLOAD, {"user": "mbr_dana"})

    assert list(reply.context["form"].errors) == ["file"]
    assert_nothing_stored(alice_tenant)


def test_another_team_s_user_gets_no_report(alice_web, alice_tenant, charlie_tenant):
    make_user(tenant=charlie_tenant, client_user_id="charlies")

    reply = alice_web.post(UPLOAD, {"user": "charlies", "file": pdf_file()})

    assert list(reply.context["form"].errors) == ["user"]
    assert_nothing_stored(alice_tenant)
    assert_nothing_stored(charlie_tenant)


def test_where_parsing_is_off_the_form_says_so_and_an_upload_is_refused(
    alice_web, alice_production
):
    make_user(tenant=alice_production, client_user_id="mbr_dana")
    path = "/t/alice-health/production/reports/upload/"

    page = alice_web.get(path).content.decode()
    reply = alice_web.post(path, {"user": "mbr_dana", "file": pdf_file()})

    assert "data-upload" not in page
    assert reply.status_code == HTTPStatus.FORBIDDEN
    assert_nothing_stored(alice_production)


def test_an_upload_needs_a_csrf_token(alice, alice_tenant, dana):
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)

    reply = client.post(UPLOAD, {"user": "mbr_dana", "file": pdf_file()})

    assert reply.status_code == HTTPStatus.FORBIDDEN
    assert_nothing_stored(alice_tenant)


def test_the_upload_page_is_filled_with_the_user_one_came_from(alice_web, alice_team):
    html = alice_web.get(f"{UPLOAD}?user=mbr_dana").content.decode()

    assert 'value="mbr_dana"' in html
