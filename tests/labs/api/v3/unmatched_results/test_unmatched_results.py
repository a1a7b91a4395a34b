from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from labs.models import InboundReport
from labs.operations.inbound.review import escalate_lab_report, reject_lab_report
from tests.audit import audited
from tests.clients import ApiClient, error_lines
from tests.contract.typed_client import read_as_client
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import make_order_sent_to_lab, make_unmatched, take
from tests.factories.labs import make_lab, make_lab_account
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db
LIST = "/v3/unmatched_result"
BO = "PID|1||78||Beispiel^Bo^J||19810203|M"


@pytest.fixture
def order(alice_tenant):
    return make_order_sent_to_lab(tenant=alice_tenant)


@pytest.fixture
def report(order):
    return make_unmatched(tenant=order.tenant, lab=order.lab)


def path_of(report, rest=""):
    return f"{LIST}/{report.pk}{rest}"


def ids(reply):
    assert reply.status_code == 200, reply.content
    read_as_client(reply.json(), "get", LIST)
    return [one["id"] for one in reply.json()["data"]]


def rows(tenant):
    return [
        *InboundReport.objects.for_tenant(tenant).order_by("pk").values(),
        *holdings(tenant),
    ]


def test_a_result_is_read_with_the_orders_it_may_belong_to(
    alice_api, alice_tenant, order, report
):
    reply = alice_api.get(path_of(report))

    found = reply.json()
    read_as_client(found, "get", f"{LIST}/{{raw_result_id}}")
    moment = found.pop("created_at")
    assert found == {
        "id": str(report.pk),
        "status": "pending_customer_review",
        "decision_code": "no_match",
        "sub_reason_codes": [],
        "reason": "No matching order",
        "patient": {
            "first_name": "Ada",
            "last_name": "Example",
            "dob": "1990-05-17T00:00:00+00:00",
            "gender": "female",
        },
        "lab": {"id": order.lab.pk, "name": order.lab.name, "slug": order.lab.slug},
        "markers": [{"provider_id": "2345", "name": "Test 2345"}],
        "interpretation": "normal",
        "result_status": "final",
        "note": None,
        "is_stale": None,
        "resolution_action": None,
        "resolved_user_id": None,
        "resolved_order_id": None,
        "allowed_actions": ["accept", "reject", "unsure"],
        "candidate_groups": [
            {
                "user_id": str(order.user.uuid),
                "candidates": [
                    {
                        "candidate_type": "order_option",
                        "order_id": str(order.pk),
                        "order_transaction_id": str(order.transaction_id),
                        "last_status": "requisition_created",
                        "confidence_level": "medium",
                        "confidence_score": None,
                        "reasons": [
                            "demographic_match",
                            "same_lab",
                            "marker_overlap_partial",
                        ],
                        "marker_overlap": None,
                        "status_context": None,
                    }
                ],
            }
        ],
        "updated_at": moment,
        "reviewed_at": None,
    }
    assert audited(alice_tenant)[-1] == ("read", "lab_report", str(report.pk))


def test_results_are_listed_newest_first_by_pages(alice_api, alice_tenant, order):
    made = [make_unmatched(tenant=alice_tenant, lab=order.lab) for _ in range(3)]
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    of_all = InboundReport.objects.for_tenant(alice_tenant)
    of_all.update(received_at=at)  # at once: the key decides

    first = alice_api.get(f"{LIST}?limit=2")
    cursor = first.json()["next_cursor"]
    second = alice_api.get(f"{LIST}?limit=2&next_cursor={cursor}")

    assert sorted(ids(first) + ids(second)) == sorted(str(one.pk) for one in made)
    assert [first.json()["total"], second.json()["total"]] == [3, 3]
    assert second.json()["next_cursor"] is None
    assert first.json()["data"][0]["candidate_groups"] is None
    assert audited(alice_tenant)[-1][:2] == ("read", "lab_report_list")


def test_what_found_its_order_is_no_unmatched_result(alice_api, alice_tenant, order):
    content = make_oru(make_test(obx(), placer=order.sample_id))
    report = take(alice_tenant, content, lab=order.lab).reports.get()

    listed = alice_api.get(LIST)
    read = alice_api.get(path_of(report))

    assert (ids(listed), listed.json()["total"]) == ([], 0)
    assert (read.status_code, read.json()["code"]) == (
        404,
        "unmatched_result_not_found",
    )


def test_a_list_takes_the_same_queries_for_many(
    alice_api, alice_tenant, order, django_assert_num_queries
):
    for _ in range(3):
        make_unmatched(tenant=alice_tenant, lab=order.lab)
    alice_api.get(LIST)  # what is asked once a process

    for number in (1, 3):
        with django_assert_num_queries(2):
            assert len(ids(alice_api.get(f"{LIST}?limit={number}"))) == number


def test_filters_narrow_the_list(alice_api, alice_tenant, order):
    lab, other = order.lab, make_lab()
    waiting = make_unmatched(tenant=alice_tenant, lab=lab)
    unsure = make_unmatched(tenant=alice_tenant, lab=lab, patient=BO)
    rejected = make_unmatched(tenant=alice_tenant, lab=other)
    account = make_lab_account(tenant=alice_tenant, lab=lab)
    content = make_oru(make_test(obx(), placer=order.sample_id), control_id="A")
    elsewhere = take(alice_tenant, content, lab=lab, account=account).reports.get()
    escalate_lab_report(report=unsure, actor=ACTOR, why="?")
    reject_lab_report(report=rejected, actor=ACTOR, why="Not ours.")
    day = datetime(2026, 3, 2, tzinfo=UTC)
    of_all = InboundReport.objects.for_tenant(alice_tenant)
    for one, at in (
        (waiting, day),
        (unsure, day + timedelta(hours=23, minutes=59)),
        (rejected, day + timedelta(days=1)),
        (elsewhere, day + timedelta(days=2)),
    ):
        of_all.filter(pk=one.pk).update(received_at=at)
    names = {
        str(waiting.pk): "waiting",
        str(unsure.pk): "unsure",
        str(rejected.pk): "rejected",
        str(elsewhere.pk): "elsewhere",
    }

    def found(query):
        return [names[one] for one in ids(alice_api.get(f"{LIST}?{query}"))]

    assert found("") == ["elsewhere", "rejected", "unsure", "waiting"]
    assert found("status=pending_customer_review") == ["elsewhere", "waiting"]
    assert found("status=pending_ops_review") == ["unsure"]
    assert found("status=resolved") == ["rejected"]
    assert found("decision_code=no_match") == ["rejected", "unsure", "waiting"]
    assert found("decision_code=match_sample_id") == ["elsewhere"]
    assert found("decision_code=match_demo") == []
    assert found(f"lab_slug={other.slug}") == ["rejected"]
    assert found("created_at_start=2026-03-02&created_at_end=2026-03-02") == [
        "unsure",
        "waiting",
    ]
    assert found("search_input=beisp") == ["unsure"]
    assert found("search_input=bo%20BEISPIEL") == ["unsure"]
    assert found("search_input=1981-02-03") == ["unsure"]
    assert found("search_input=1981-02-04") == []
    assert found("search_input=.*") == []
    assert found("search_input=78") == []  # another field of the segment


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("status=matched", "status"),
        ("decision_code=other", "decision_code"),
        ("created_at_start=yesterday", "created_at_start"),
        ("next_cursor=abc", "next_cursor"),
        ("next_cursor=WyJhIiwiYiJd", "next_cursor"),
    ],
)
def test_a_query_that_cannot_be_is_refused(alice_api, query, field):
    ((loc, _kind),) = error_lines(alice_api.get(f"{LIST}?{query}"))

    assert loc == ["query", field]


def test_a_result_is_accepted_and_the_order_answered(
    alice_api, alice_tenant, order, report
):
    body = {"order_id": str(order.pk), "note": "Same person."}

    reply = alice_api.post(path_of(report, "/accept"), body)
    again = alice_api.post(path_of(report, "/accept"), body)

    read_as_client(reply.json(), "post", f"{LIST}/{{raw_result_id}}/accept")
    assert reply.json() == again.json()
    assert reply.json()["status"] == "completed"
    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="match_report")
    assert entry.actor_kind == "api_key"
    read = alice_api.get(path_of(report)).json()
    assert (read["status"], read["resolution_action"]) == ("resolved", "accept")
    assert read["resolved_order_id"] == str(order.pk)
    assert read["resolved_user_id"] == str(order.user.uuid)
    assert (read["note"], read["allowed_actions"]) == ("Same person.", [])
    assert read["reviewed_at"] == read["updated_at"]
    assert read["candidate_groups"] == []


def test_a_result_is_rejected_or_left_to_somebody_else(alice_api, report):
    unsure = alice_api.post(path_of(report, "/resolve"), {"action": "unsure"})
    rejected = alice_api.post(path_of(report, "/resolve"), {"action": "reject"})

    for reply in (unsure, rejected):
        read_as_client(reply.json(), "post", f"{LIST}/{{raw_result_id}}/resolve")
    assert (unsure.json()["status"], unsure.json()["allowed_actions"]) == (
        "pending_ops_review",
        ["accept", "reject"],
    )
    assert (rejected.json()["status"], rejected.json()["resolution_action"]) == (
        "resolved",
        "reject",
    )


def test_a_critical_result_is_not_rejected_before_somebody_acknowledged_it(
    alice_api, alice_tenant, order
):
    content = make_oru(make_test(obx(flag="HH"), placer="NOBODYS"))
    report = take(alice_tenant, content, lab=order.lab).reports.get()
    before = rows(alice_tenant)

    read = alice_api.get(path_of(report)).json()
    reply = alice_api.post(path_of(report, "/resolve"), {"action": "reject"})

    assert read["interpretation"] == "critical"
    assert read["allowed_actions"] == ["accept", "unsure"]
    assert (reply.status_code, reply.json()["code"]) == (
        409,
        "critical_not_acknowledged",
    )
    assert rows(alice_tenant) == before


@pytest.mark.parametrize(
    ("rest", "body", "status", "code"),
    [
        ("/accept", {}, 400, "order_missing"),
        ("/accept", {"order_id": str(uuid4())}, 404, "order_not_found"),
        ("/accept", {"user_id": str(uuid4())}, 404, "order_not_found"),
        ("/accept", {"order_id": "x"}, 422, None),
        ("/accept", {"note": "x" * 501}, 422, None),
        ("/resolve", {}, 422, None),
        ("/resolve", {"action": "accept"}, 422, None),
    ],
)
def test_a_decision_that_cannot_be_changes_nothing(
    alice_api, alice_tenant, report, rest, body, status, code
):
    before = rows(alice_tenant)

    reply = alice_api.post(path_of(report, rest), body)

    assert reply.status_code == status
    assert reply.json().get("code") == code or code is None
    assert rows(alice_tenant) == before


@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [
        ("get", "", None),
        ("post", "/accept", {"order_id": str(uuid4())}),
        ("post", "/resolve", {"action": "reject"}),
    ],
)
def test_results_of_strangers_are_not_there(
    charlie_api, alice_production_api, alice_tenant, report, method, rest, body
):
    before = rows(alice_tenant)

    for stranger in (charlie_api, alice_production_api):
        reply = getattr(stranger, method)(path_of(report, rest), body)
        assert (reply.status_code, reply.json()["code"]) == (
            404,
            "unmatched_result_not_found",
        )
        assert ids(stranger.get(LIST)) == []

    assert rows(alice_tenant) == before


@pytest.mark.parametrize(
    ("scopes", "reads", "decides"),
    [
        (("orders:read", "patient_details:read"), 200, 403),
        (("orders:write",), 403, 403),
        (("orders:write", "patient_details:read"), 200, 200),
    ],
)
def test_a_key_needs_orders_and_patient_details(
    alice_tenant, order, report, scopes, reads, decides
):
    _key, text = create_api_key(
        tenant=alice_tenant,
        actor=ACTOR,
        label="scoped",
        rules=KeyRules(scopes=frozenset(scopes)),
    )
    client = ApiClient(text)

    assert client.get(LIST).status_code == reads
    assert client.get(path_of(report)).status_code == reads
    body = {"order_id": str(order.pk)}
    assert client.post(path_of(report, "/accept"), body).status_code == decides
