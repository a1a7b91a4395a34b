from __future__ import annotations

import pytest

from labs.operations.order_status.status import advance_order
from labs.operations.orders.requisitions import create_requisition
from tests.audit import audited
from tests.clients import error_lines
from tests.factories.accounts import ACTOR
from tests.factories.inbound import make_lab_document
from tests.factories.labs import make_lab_test, make_order
from tests.factories.reports import make_pdf
from tests.factories.results import make_order_awaiting_results, make_results
from tests.labs.holdings import holdings
from tests.labs.printed import pages_of

pytestmark = pytest.mark.django_db
DAY = "2026-11-23"


@pytest.fixture
def order(alice_tenant):
    """An order whose requisition is made, of a test with instructions."""
    panel = make_lab_test(tenant=alice_tenant, has_collection_instructions=True)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)
    return order


def get(client, order, path):
    return client.get(f"/v3/order/{order.pk}/{path}")


@pytest.mark.parametrize(
    ("path", "subject", "says"),
    [
        ("requisition/pdf", "requisition", "Laboratory requisition"),
        (f"labels/pdf?collection_date={DAY}", "labels", "3 of 3"),
        (
            "collection_instruction_pdf",
            "collection_instructions",
            "How to take your sample",
        ),
    ],
)
def test_a_paper_is_a_pdf_and_reading_it_is_audited(
    alice_api, alice_tenant, order, path, subject, says
):
    reply = alice_api.get(f"/v3/order/{order.pk}/{path}", headers={"accept": "text/*"})

    assert (reply.status_code, reply["Content-Type"]) == (200, "application/pdf")
    assert reply["Cache-Control"] == "no-store"
    (text,) = pages_of(reply.content)
    assert says in text
    assert audited(alice_tenant)[-1] == ("read", subject, str(order.pk))


def test_a_panels_instructions_need_no_order(alice_api, alice_tenant):
    has = make_lab_test(tenant=alice_tenant, has_collection_instructions=True)
    has_not = make_lab_test(tenant=alice_tenant)

    found, missing = (
        alice_api.get(f"/v3/lab_test/{panel.pk}/collection_instruction_pdf")
        for panel in (has, has_not)
    )

    assert (found.status_code, found["Content-Type"]) == (200, "application/pdf")
    assert str(has.pk) in pages_of(found.content)[0]
    assert missing.status_code == 404
    assert missing.json()["code"] == "instructions_not_found"


@pytest.mark.parametrize("status", ["", "requisition_bypassed"])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("requisition/pdf", "requisition_not_found"),
        (f"labels/pdf?collection_date={DAY}", "requisition_not_found"),
        ("collection_instruction_pdf", "instructions_not_found"),
        ("abn_pdf", "abn_not_found"),
    ],
)
def test_a_paper_that_is_not_there_is_404(alice_api, alice_tenant, status, path, code):
    order = make_order(tenant=alice_tenant)
    if status:
        advance_order(order=order, actor=ACTOR, to=status)
    before = holdings(alice_tenant)

    reply = get(alice_api, order, path)

    assert (reply.status_code, reply.json()["code"]) == (404, code)
    assert holdings(alice_tenant) == before


def test_an_order_never_has_an_advance_notice(alice_api, order):
    reply = get(alice_api, order, "abn_pdf")

    assert (reply.status_code, reply.json()["code"]) == (404, "abn_not_found")
    assert alice_api.get(f"/v3/order/{order.pk}").json()["has_abn"] is False


def test_results_are_a_paper_of_an_order_and_of_its_transaction(
    alice_api, alice_tenant
):
    order = make_order_awaiting_results(tenant=alice_tenant)
    paths = {
        f"/v3/order/{order.pk}/result/pdf": ("result", order.pk),
        f"/v3/order_transaction/{order.transaction_id}/result/pdf": (
            "transaction_result",
            order.transaction_id,
        ),
    }
    early = [alice_api.get(path) for path in paths]
    make_results(order=order)

    replies = {path: alice_api.get(path) for path in paths}

    for reply in early:
        assert (reply.status_code, reply.json()["code"]) == (404, "results_not_found")
    for reply in replies.values():
        assert (reply.status_code, reply["Content-Type"]) == (200, "application/pdf")
        assert "Glucose 85 mg/dL 65-99" in pages_of(reply.content)[0]
    assert audited(alice_tenant)[-2:] == [
        ("read", subject, str(pk)) for subject, pk in paths.values()
    ]


def test_the_pdf_of_results_is_the_lab_s_where_it_sent_one(alice_api, alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_results(order=order)
    first, second = make_pdf(), make_pdf(pages=2)
    none = get(alice_api, order, "result/pdf?source=lab")
    for content in (first, second):
        make_lab_document(order=order, content=content, results_version=1)

    replies = {
        query: get(alice_api, order, f"result/pdf{query}")
        for query in ("", "?source=lab", "?version=1", "?source=assay&version=1")
    }

    assert (none.status_code, none.json()["code"]) == (404, "lab_document_not_found")
    assert {reply["Content-Type"] for reply in replies.values()} == {"application/pdf"}
    *labs, ours = (reply.content for reply in replies.values())
    assert labs == [second, second, first]
    assert "Glucose 85 mg/dL 65-99" in pages_of(ours)[0]
    assert replies[""]["Content-Disposition"] == (
        f'inline; filename="lab-document-{str(order.pk)[:8]}-2.pdf"'
    )
    assert audited(alice_tenant)[-4:] == [("read", "result", str(order.pk))] * 4


def test_a_source_and_a_version_that_cannot_be_are_refused(alice_api, alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    before = holdings(alice_tenant)

    places = [
        error_lines(get(alice_api, order, f"result/pdf?{query}"))[0][0]
        for query in ("source=fax", "version=0", "version=x", "version=9999999999")
    ]

    assert places == [["query", "source"], *[["query", "version"]] * 3]
    assert holdings(alice_tenant) == before


def test_a_lab_document_of_strangers_is_not_there(charlie_api, alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    make_lab_document(order=order)

    reply = get(charlie_api, order, "result/pdf?source=lab")

    assert (reply.status_code, reply.json()["code"]) == (404, "order_not_found")


@pytest.mark.parametrize(
    ("query", "field", "kind"),
    [
        ("", "collection_date", "missing"),
        ("?collection_date=", "collection_date", "date_from_datetime_parsing"),
        (
            "?collection_date=2026-13-01",
            "collection_date",
            "date_from_datetime_parsing",
        ),
        (f"?collection_date={DAY}&number_of_labels=0", "number_of_labels", None),
        (f"?collection_date={DAY}&number_of_labels=91", "number_of_labels", None),
        (f"?collection_date={DAY}&number_of_labels=x", "number_of_labels", None),
        (f"?collection_date={DAY}&stock=rock", "stock", "enum"),
    ],
    ids=lambda value: str(value).replace("?", "") or "nothing",
)
def test_labels_ask_for_their_day_and_a_number_in_bounds(
    alice_api, alice_tenant, order, query, field, kind
):
    before = holdings(alice_tenant)

    ((loc, found),) = error_lines(get(alice_api, order, f"labels/pdf{query}"))

    assert loc == ["query", field]
    assert kind is None or found == kind
    assert holdings(alice_tenant) == before


def test_labels_take_the_day_of_a_date_time_and_any_number(alice_api, order):
    reply = get(
        alice_api,
        order,
        "labels/pdf?collection_date=2026-11-23T23:30:00-07:00&number_of_labels=2"
        "&stock=ROLL",
    )

    pages = pages_of(reply.content)
    assert ["Collected 23 Nov 2026" in page for page in pages] == [True, True]


def test_the_order_holds_the_link_from_its_requisition_on(
    alice_api, alice_tenant, client
):
    order = make_order(tenant=alice_tenant)
    path = f"/v3/order/{order.pk}"
    before = alice_api.get(path).json()["requisition_form_url"]
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)

    url = alice_api.get(path).json()["requisition_form_url"]
    reply = client.get(url.replace("http://127.0.0.1:8000", ""))

    assert before is None
    assert alice_api.get(path).json()["requisition_form_url"] == url
    assert (reply.status_code, reply["Content-Type"]) == (200, "application/pdf")
    assert reply.content == get(alice_api, order, "requisition/pdf").content
    assert "no-store" in reply["Cache-Control"]
    assert reply["Referrer-Policy"] == "no-referrer"
    assert not reply.cookies
