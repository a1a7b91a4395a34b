from __future__ import annotations

import html

import pytest
from django.test import Client

from accounts.models import AuditEntry
from accounts.states import Role
from labs.models import InboundMessage, InboundReport
from labs.operations.inbound.review import escalate_lab_report, reject_lab_report
from labs.operations.orders.placing import cancel_order
from labs.queries.results.results import find_current_result_version
from portal.lib.slots import Work, hold_work_slot
from tests.factories.accounts import ACTOR, make_member
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched, take
from tests.factories.labs import make_lab

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox/"
QUEUE = f"{PLACE}unmatched/"
WHY = "Called the lab."
QUEUE_QUERIES = 4


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


def test_lines_in_doubt_are_shown_with_why_and_never_as_results(order, alice_web):
    test = make_test(
        obx("112"),
        obx("170", id="NA^Sodium^L", status="Q"),
        placer=order.sample_id,
    )
    message = take(order.tenant, make_oru(test), lab=order.lab)
    held = message.reports.get(reason="held_lines")

    queue = alice_web.get(QUEUE).content.decode()
    page = alice_web.get(f"{QUEUE}{held.pk}/").content.decode()
    dialog = alice_web.get(f"{QUEUE}{held.pk}/match/?order={order.pk}")

    assert "Lines in doubt" in queue
    assert "OBX-11 is not in HL7 table 0085." in page
    assert "In doubt" in page
    assert "170" in page
    assert "|112|" not in page
    assert "as missing results" in html.unescape(dialog.content.decode())


@pytest.fixture
def report(order):
    pid = "PID|1||77||Exampel^Ada||19900517|F"
    raw = make_oru(make_test(obx("112"), placer=order.sample_id), patient=pid)
    row = take(order.tenant, raw, lab=order.lab).reports.get()
    row.tenant = order.tenant
    return row


@pytest.fixture
def malformed(alice_tenant):
    return take(alice_tenant, b"MSH|^~\\&|LIS\rno message", lab=make_lab())


def page(report):
    return f"{QUEUE}{report.pk}/"


def web(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


def reads(tenant, subject):
    rows = AuditEntry.objects.for_tenant(tenant).filter(verb="read", subject=subject)
    return [row.subject_id for row in rows.order_by("pk")]


def test_the_queue_tells_of_what_waits_without_names(alice_web, report, malformed):
    queue = alice_web.get(QUEUE)
    problems = alice_web.get(QUEUE, {"tab": "problems"})

    assert [row.pk for row, _, _ in queue.context["rows"]] == [report.pk]
    assert [row.pk for row, _, _ in problems.context["rows"]] == [malformed.pk]
    assert [count for _, _, count in queue.context["tabs"]] == [1, 1, None, None]
    assert b"Patient differs from the order" in queue.content
    assert b"Exampel" not in queue.content


def test_the_queue_takes_the_same_queries_for_many_rows(
    alice_web, order, django_assert_num_queries
):
    def queries(number):
        with django_assert_num_queries(number):
            alice_web.get(QUEUE)

    alice_web.get(QUEUE)  # the first request of a session asks more
    for filler in range(3):
        raw = make_oru(make_test(obx(), filler=f"F{filler}"), control_id=f"C{filler}")
        take(order.tenant, raw, lab=order.lab)
        queries(QUEUE_QUERIES)


def test_a_report_is_shown_with_the_orders_it_may_be_of_and_the_read_is_kept(
    alice_web, report, order
):
    reply = alice_web.get(page(report))

    (row,) = reply.context["candidates"]
    fields = {point.words: point.agreement for point in row.points}
    assert row.candidate.order.pk == order.pk
    assert (fields["Name"], fields["Birth date"]) == ("Differs", "Matches")
    assert (fields["Number"], fields["Tests"]) == ("Matches", "Matches")
    assert b"Exampel" in reply.content
    assert reads(order.tenant, "lab_report") == [str(report.pk)]


def test_a_report_is_matched_in_the_browser_with_a_reason(alice_web, report, order):
    asked = alice_web.get(f"{page(report)}match/", {"order": order.pk})
    without = alice_web.post(f"{page(report)}match/", {"order": order.pk, "why": ""})
    matched = alice_web.post(f"{page(report)}match/", {"order": order.pk, "why": WHY})

    report.refresh_from_db()
    assert asked.context["chosen"].candidate.order.pk == order.pk
    assert b"Ada Exampel, 17 May 1990" in asked.content
    assert without.status_code == 422
    assert matched.url == f"{PLACE}orders/{order.pk}/"
    assert (report.status, report.why) == ("matched", WHY)
    assert find_current_result_version(order=order).number == 1


def test_an_order_that_cannot_be_is_refused_in_the_form(alice_web, report):
    wrong = ("not an id", "00000000-0000-0000-0000-000000000000")

    replies = [
        alice_web.post(f"{page(report)}match/", {"order": one, "why": WHY}).status_code
        for one in wrong
    ]

    report.refresh_from_db()
    assert replies == [422, 422]
    assert report.status == "unmatched"


def test_results_are_added_to_an_ended_order_in_the_browser(alice_web, order):
    cancel_order(order=order, actor=ACTOR)
    row = take(
        order.tenant,
        make_oru(make_test(obx("112"), placer=order.sample_id)),
        lab=order.lab,
    ).reports.get()

    shown = alice_web.get(page(row))
    refused = alice_web.post(f"{page(row)}match/", {"order": order.pk, "why": WHY})
    asked = alice_web.get(f"{page(row)}add/", {"order": order.pk})
    without = alice_web.post(f"{page(row)}add/", {"order": order.pk, "why": ""})
    added = alice_web.post(f"{page(row)}add/", {"order": order.pk, "why": WHY})
    kept = alice_web.get(f"{PLACE}orders/{order.pk}/")

    row.refresh_from_db()
    add_url = f"{page(row)}add/?order={order.pk}"
    assert [one.has_ended for one in shown.context["candidates"]] == [True]
    assert f'href="{add_url}"' in shown.content.decode()
    assert refused.status_code == without.status_code == 422
    assert f'href="{add_url}"' in refused.content.decode()
    assert asked.context["chosen"].candidate.order.pk == order.pk
    assert "status stays as it is" in html.unescape(asked.content.decode())
    assert added.url == f"{PLACE}orders/{order.pk}/"
    assert (row.status, row.why) == ("matched", WHY)
    assert kept.context["order"].status == "cancelled.walk_in_test.cancelled"
    assert kept.context["next_step"] == (
        "This order ended before its results came. Read them under Results."
    )


def test_a_report_is_rejected_and_put_back_in_the_browser(alice_web, report):
    rejected = alice_web.post(f"{page(report)}reject/", {"why": WHY})
    listed = alice_web.get(QUEUE, {"tab": "rejected"})
    back = alice_web.post(f"{page(report)}put-back/")

    report.refresh_from_db()
    assert rejected.url == QUEUE
    assert WHY.encode() in listed.content
    assert (back.url, report.status) == (page(report), "unmatched")


def test_an_escalated_report_says_so_and_can_still_be_matched(alice_web, report, order):
    before = alice_web.get(page(report)).content.decode()
    escalate_lab_report(report=report, actor=ACTOR, why="Two sisters of one name?")

    queue = alice_web.get(QUEUE).content.decode()
    shown = alice_web.get(page(report)).content.decode()
    alice_web.post(f"{page(report)}match/", {"order": str(order.pk), "why": WHY})
    matched = alice_web.get(page(report)).content.decode()

    assert "Escalated" not in before
    assert '<span class="tag">Escalated</span>' in queue
    assert "Two sisters of one name?" not in queue
    assert "Two sisters of one name?" in shown
    assert "Matched to order" in matched
    assert "Escalated" not in matched


def test_what_was_decided_cannot_be_decided_again(alice_web, report, order):
    reject_lab_report(report=report, actor=ACTOR, why=WHY)

    again = alice_web.post(f"{page(report)}reject/", {"why": WHY})
    match = alice_web.post(f"{page(report)}match/", {"order": order.pk, "why": WHY})

    assert (again.status_code, match.status_code) == (422, 422)
    assert find_current_result_version(order=order) is None


def test_a_long_report_is_read_in_a_slot_and_a_short_one_at_once(
    alice_web, report, order
):
    long = make_oru(make_test(obx("A" * 60_000, type="TX"), placer="NOBODYS"))
    (other,) = take(order.tenant, long, lab=order.lab).reports.all()
    alice_web.raise_request_exception = False

    with hold_work_slot(Work.STORED, tenant=order.tenant):
        busy = alice_web.get(page(other))
        short = alice_web.get(page(report))
    read = alice_web.get(page(other))

    assert (busy.status_code, busy["Retry-After"]) == (503, "5")
    assert (short.status_code, read.status_code) == (200, 200)
    assert reads(order.tenant, "lab_report") == [str(report.pk), str(other.pk)]


def test_a_malformed_message_is_shown_as_it_came_read_again_or_dismissed(
    alice_web, malformed, alice_tenant
):
    url = f"{QUEUE}messages/{malformed.pk}/"

    shown = alice_web.get(url)
    again = alice_web.post(f"{url}read/")
    dismissed = alice_web.post(f"{url}dismiss/", {"why": WHY})

    kept = InboundMessage.objects.for_tenant(alice_tenant).get()
    assert b"LIS\nno message" in shown.content
    assert again.url == url
    assert dismissed.url == f"{QUEUE}?tab=problems"
    assert (kept.status, kept.why) == ("dismissed", WHY)
    assert reads(alice_tenant, "lab_message") == [str(malformed.pk)]


def test_names_are_for_who_may_see_patients_and_decisions_for_who_runs_orders(
    alice_team, report, malformed
):
    viewer, clinician = web(alice_team, Role.VIEWER), web(alice_team, Role.CLINICIAN)
    message = f"{QUEUE}messages/{malformed.pk}/"

    assert viewer.get(QUEUE).status_code == 200
    assert viewer.get(page(report)).status_code == 403
    assert viewer.get(message).status_code == 403
    assert clinician.get(page(report)).status_code == 200
    for url in (
        f"{page(report)}match/",
        f"{page(report)}add/",
        f"{page(report)}reject/",
        f"{message}dismiss/",
    ):
        assert clinician.post(url, {"why": WHY}).status_code == 403
    kept = InboundReport.objects.for_tenant(report.tenant).get()
    assert kept.status == "unmatched"


def test_the_overview_and_the_navigation_tell_what_waits(
    alice_web, alice_tenant, order
):
    before = alice_web.get(PLACE)
    make_unmatched(tenant=alice_tenant)
    take(alice_tenant, b"no message", lab=make_lab())

    after = alice_web.get(PLACE)

    titles = [item.title for item in after.context["overview"].attention]
    count = after.context["shell"].nav_counts["unmatched"]
    assert "unmatched" not in before.context["shell"].nav_counts
    assert "1 lab report matches no order" in titles
    assert (count.number, count.says) == (2, "need review")
