from __future__ import annotations

import base64
import logging
from datetime import UTC, date, datetime, timedelta
from io import BytesIO

import pikepdf
import pytest
import time_machine
from django.core.signing import Signer
from django.utils import timezone
from PIL import Image

from accounts.models import AuditEntry
from labs.documents.labels import LabelStock
from labs.documents.links import LINK_TTL, get_requisition_link_url
from labs.gateways.results import ReportedGap, ReportedSample
from labs.models import LabAccount
from labs.operations.documents.order_documents import (
    LABELS_AT_MOST,
    open_requisition_link,
    reissue_requisition_link,
    render_order_instructions,
    render_order_specimen_labels,
    render_panel_instructions,
    render_requisition_as_first_printed,
    render_results_report,
)
from labs.operations.order_status.status import advance_order
from labs.operations.orders.placing import cancel_order
from labs.operations.orders.requisitions import create_requisition
from labs.operations.results.deliveries import store_result_delivery
from labs.queries.orders.orders import get_order_with_details
from labs.queries.results.results import get_results_of_order
from tests.audit import audited, changes_of
from tests.factories.accounts import ACTOR
from tests.factories.labs import (
    PATIENT,
    comment_lab,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.results import (
    delivery,
    make_order_awaiting_results,
    make_reported_result,
)
from tests.labs.holdings import holdings, refused
from tests.labs.printed import pages_of

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
DAY = date(2026, 11, 23)


@pytest.fixture
def clock():
    with time_machine.travel(NOW, tick=False) as travelling:
        yield travelling


def made(tenant, **wanted):
    """An order whose requisition is made."""
    order = make_order(tenant=tenant, **wanted)
    create_requisition(tenant=tenant, actor=ACTOR, order_id=order.pk)
    return read(order)


def read(order):
    return get_order_with_details(tenant=order.tenant, order_id=order.pk)


def token_of(order):
    return get_requisition_link_url(order).partition("?token=")[2]


def opened(order_or_token):
    given = order_or_token
    token = given if isinstance(given, str) else token_of(given)
    return open_requisition_link(token=token, address="192.0.2.7")


def images_of(document):
    return [
        each
        for each in document.objects
        if isinstance(each, pikepdf.Stream) and each.get("/Subtype") == "/Image"
    ]


def signature(color="blue", size=(60, 20)):
    file = BytesIO()
    Image.new("RGB", size, color).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def test_a_requisition_says_what_is_asked_for_whom_and_who_pays(alice_tenant):
    lab = comment_lab()
    question = {
        "id": 7,
        "code": "purpose",
        "required": True,
        "type": "choice",
        "value": "Purpose of the test",
        "answers": [{"id": 1, "code": "I", "value": "Initial"}],
    }
    marker = make_marker(
        lab=lab, name="Lead", provider_id="T-599", aoe_questions=[question]
    )
    panel = make_lab_test(
        tenant=alice_tenant, lab=lab, name="Metals", markers=(marker,)
    )
    make_lab_account(
        tenant=alice_tenant,
        lab=lab,
        provider_account_id="ACC-77",
        account_name="Clinic",
        default_clinical_notes="Call us.",
    )

    order = made(
        alice_tenant,
        lab_test=panel,
        comments="Butterfly needle.",
        icd_codes=("E11.9", "Z99.99"),
        priority=True,
        physician={"first_name": "Noor", "last_name": "Haddad", "npi": "1234567893"},
        aoe_answers=({"marker_id": marker.pk, "question_id": 7, "answer": "I"},),
    )
    paper = render_requisition_as_first_printed(order)

    (text,) = pages_of(paper.body)
    assert paper.name == f"requisition-{str(order.pk)[:8]}.pdf"
    for said in (
        "Northgate",
        "Example, Ada",
        "17 May 1990",
        "Female",
        "1 Sample Street Phoenix, AZ 85004",
        "ACC-77",
        "Clinic",
        "Alice Health",
        "Noor Haddad",
        "1234567893",
        "Tests ordered: Metals",
        "T-599 Lead Serum",
        "1 test in total",
        "E11.9 Type 2 diabetes mellitus without complications",
        "Z99.99",
        "Lead: Purpose of the test Initial",
        "Comments Call us. Butterfly needle.",
        "STAT: collect and process with priority",
        "SANDBOX: not a real order",
        f"Order {order.pk} Sample {order.sample_id} Page 1 of 1",
    ):
        assert said in text, said
    assert render_requisition_as_first_printed(read(order)).body == paper.body


def test_a_long_order_goes_over_pages_that_each_name_it(alice_tenant):
    lab = comment_lab()
    markers = tuple(
        make_marker(lab=lab, name=f"Marker with a rather long name {n}")
        for n in range(40)
    )
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=markers)
    order = made(
        alice_tenant,
        lab_test=panel,
        icd_codes=tuple(f"E11.{n}" for n in range(20)),
        comments="Butterfly needle. " * 55,
    )

    pages = pages_of(render_requisition_as_first_printed(order).body)

    assert len(pages) == 3
    for number, page in enumerate(pages, 1):
        assert f"Page {number} of 3" in page
        assert str(order.pk) in page
        assert "Example, Ada" in page
    whole = " ".join(pages)
    assert all(f"long name {n} " in whole for n in range(40))
    assert all(f"E11.{n} " in whole for n in range(20))
    assert whole.count("Butterfly needle.") == 55


def test_what_was_printed_stays_when_the_account_changes_its_text(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, lab=comment_lab())
    account = make_lab_account(
        tenant=alice_tenant, lab=panel.lab, default_clinical_notes="Call us."
    )
    order = made(alice_tenant, lab_test=panel)
    before = render_requisition_as_first_printed(order).body

    LabAccount.unscoped.filter(pk=account.pk).update(default_clinical_notes="Don't.")

    assert render_requisition_as_first_printed(read(order)).body == before


def test_a_lab_that_takes_no_comments_prints_none(alice_tenant):
    order = made(alice_tenant, comments="Butterfly needle.")

    (text,) = pages_of(render_requisition_as_first_printed(order).body)

    assert "Butterfly" not in text


def test_a_cancelled_order_says_so_on_its_requisition(alice_tenant):
    order = made(alice_tenant)

    cancel_order(order=order, actor=ACTOR)

    (text,) = pages_of(render_requisition_as_first_printed(read(order)).body)
    assert "CANCELLED: do not collect" in text


def test_a_signature_is_drawn_and_what_is_no_picture_is_left_out(alice_tenant):
    def body(content):
        order.physician = {
            "first_name": "Noor",
            "last_name": "Haddad",
            "npi": "1234567893",
            "signature_image": {"content": content, "content_type": "image/png"},
        }
        return render_requisition_as_first_printed(order).body

    order = made(alice_tenant)

    unsigned = body("")

    assert b"/Image" in body(signature())
    for broken in ("no base64!", base64.b64encode(b"%PDF-1.7").decode()):
        assert body(broken) == unsigned
    assert body(signature()[:60]) == unsigned


def test_a_signature_is_drawn_with_no_more_pixels_than_a_printer_shows(alice_tenant):
    order = made(alice_tenant)
    content = signature(size=(2000, 2000))
    order.physician = {"signature_image": {"content": content}}

    with pikepdf.open(
        BytesIO(render_requisition_as_first_printed(order).body)
    ) as document:
        drawn = [(picture.Width, picture.Height) for picture in images_of(document)]

    assert set(drawn) == {(204, 204)}


@pytest.mark.parametrize("status", ["", "requisition_bypassed", "cancelled"])
def test_without_a_requisition_there_is_no_paper_of_it(alice_tenant, status):
    order = make_order(tenant=alice_tenant)
    if status:
        advance_order(order=order, actor=ACTOR, to=status)
    order = read(order)

    with refused(alice_tenant, "requisition_not_found"):
        render_requisition_as_first_printed(order)
    with refused(alice_tenant, "requisition_not_found"):
        render_order_specimen_labels(order, collected_on=DAY)
    with refused(alice_tenant, "requisition_not_found"):
        reissue_requisition_link(order=order, actor=ACTOR)
    assert get_requisition_link_url(order) is None


def test_documents_name_the_tube_of_each_test_and_the_sample_in_it(alice_tenant):
    lab = make_lab()
    a1c = make_marker(lab=lab, name="Hemoglobin A1c", container="edta")
    lipids = make_marker(lab=lab, name="Lipid panel", container="serum_gel")

    def printed(*markers):
        panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=markers)
        order = made(alice_tenant, lab_test=panel)
        requisition = render_requisition_as_first_printed(order)
        labels = render_order_specimen_labels(order, collected_on=DAY)
        return pages_of(requisition.body)[0], pages_of(labels.body)[0]

    requisition, labels = printed(a1c)
    assert "Hemoglobin A1c Lavender (EDTA), whole blood" in requisition
    assert "Serum" not in requisition
    assert "Female Whole blood" in labels
    requisition, labels = printed(a1c, lipids)
    assert "Lipid panel Gold (gel), serum" in requisition
    assert "Gold (gel), serum; Lavender (EDTA), whole blood." in requisition
    assert "Female Blood" in labels


def test_labels_name_patient_sample_and_day(alice_tenant):
    order = made(alice_tenant)

    sheet = render_order_specimen_labels(order, collected_on=DAY, number=31)
    roll = render_order_specimen_labels(
        order, collected_on=DAY, number=2, stock=LabelStock.ROLL
    )

    first, second = pages_of(sheet.body)
    assert first.count("Example, Ada") == 30
    assert f"{order.sample_id} Collected 23 Nov 2026" in second
    assert "DOB 17 May 1990 Female Serum" in second
    assert "31 of 31" in second
    assert [page.count(order.sample_id) for page in pages_of(roll.body)] == [1, 1]
    assert (
        render_order_specimen_labels(order, collected_on=DAY, number=31).body
        == sheet.body
    )


@pytest.mark.parametrize("number", [0, LABELS_AT_MOST + 1])
def test_labels_are_bounded(alice_tenant, number):
    order = made(alice_tenant)

    with refused(alice_tenant, "labels_out_of_range"):
        render_order_specimen_labels(order, collected_on=DAY, number=number)


@pytest.mark.parametrize(
    ("method", "sample_type", "says"),
    [
        ("testkit", "dried_blood_spot", "Press the lancet"),
        ("testkit", "of_the_future", "Follow the kit's leaflet"),
        ("walk_in_test", "serum", "Bring a photo ID"),
        ("walk_in_test", "urine", "You will get a cup"),
    ],
)
def test_instructions_are_those_of_the_sample(alice_tenant, method, sample_type, says):
    panel = make_lab_test(
        tenant=alice_tenant,
        method=method,
        sample_type=sample_type,
        fasting=True,
        has_collection_instructions=True,
    )

    (text,) = pages_of(render_panel_instructions(panel=panel, tenant=alice_tenant).body)

    assert says in text
    assert "anything but plain water for 8 to 12 hours" in text
    assert str(panel.pk) in text


def test_an_orders_instructions_name_the_order_and_nobody(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, has_collection_instructions=True)
    order = made(alice_tenant, lab_test=panel)

    (text,) = pages_of(render_order_instructions(order).body)

    assert str(order.pk) in text
    assert order.sample_id in text
    assert PATIENT["last_name"] not in text


def test_a_test_without_instructions_has_none(alice_tenant):
    order = made(alice_tenant)

    with refused(alice_tenant, "instructions_not_found"):
        render_order_instructions(order)
    with refused(alice_tenant, "instructions_not_found"):
        render_panel_instructions(panel=order.lab_test, tenant=order.tenant)


def test_a_link_leads_to_the_requisition_and_says_who_came(alice_tenant, clock):
    order = made(alice_tenant)

    paper = opened(order)

    assert paper == render_requisition_as_first_printed(order)
    assert audited(alice_tenant)[-1] == ("read", "requisition", str(order.pk))
    line = AuditEntry.objects.for_tenant(alice_tenant).order_by("-id").first()
    assert (line.actor_label, line.address) == ("requisition_link", "192.0.2.7")


def test_a_link_works_for_seven_days_and_no_moment_more(alice_tenant, clock):
    order = made(alice_tenant)

    clock.move_to(NOW + LINK_TTL - timedelta(microseconds=1))
    assert opened(order).body
    clock.move_to(NOW + timedelta(days=7))

    with refused(alice_tenant, "requisition_link_expired"):
        opened(order)


def test_a_new_link_stops_the_one_before_and_is_in_the_audit(alice_tenant, clock):
    order = made(alice_tenant)
    old = token_of(order)
    clock.move_to(NOW + timedelta(days=8))

    reissue_requisition_link(order=order, actor=ACTOR)

    order = read(order)
    assert opened(order).body
    assert order.requisition_issued_at == order.updated_at == timezone.now()
    assert changes_of(alice_tenant, "reissue_requisition_link") == {
        "requisition_issued_at": [
            NOW.isoformat(),
            (NOW + timedelta(days=8)).isoformat(),
        ]
    }
    with refused(alice_tenant, "requisition_link_unknown"):
        opened(old)


def test_a_link_that_is_not_ours_leads_nowhere(alice_tenant, clock):
    order = made(alice_tenant)
    token = token_of(order)
    ticks = 1_000_000 * int(NOW.timestamp())
    strange = Signer(salt="another").sign_object([alice_tenant.pk, order.pk.hex, ticks])

    for other in ("", "nonsense", token[:-1], f"x{token}", strange):
        with refused(alice_tenant, "requisition_link_unknown"):
            opened(other)


def test_a_link_ends_with_its_team_and_its_user(alice_tenant, clock):
    order = made(alice_tenant)
    token = token_of(order)
    team = type(alice_tenant.team).objects.filter(pk=alice_tenant.team_id)

    team.update(deleted_at=NOW)
    with refused(alice_tenant, "requisition_link_unknown"):
        opened(token)
    team.update(deleted_at=None)
    type(order.user).unscoped.filter(pk=order.user_id).update(deleted_at=NOW)

    with refused(alice_tenant, "requisition_link_unknown"):
        opened(token)


def test_no_log_line_of_ours_holds_a_token(client, alice_tenant, clock, caplog):
    order = made(alice_tenant)
    url = get_requisition_link_url(order)
    path = url.partition("127.0.0.1:8000")[2]
    clock.move_to(NOW + timedelta(days=8))
    before = holdings(alice_tenant)

    with caplog.at_level(logging.DEBUG):
        ended = client.get(path)
        lost = client.get(path[:-1])

    assert (ended.status_code, lost.status_code) == (410, 404)
    assert "token" not in caplog.text
    assert token_of(order) not in caplog.text
    assert holdings(alice_tenant) == before


def test_a_result_report_flags_what_stands_out_and_says_how_far_it_is(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    long = "Platelets are adequate in number; a few large forms are seen. " * 3
    version = store_result_delivery(
        order=order,
        actor=ACTOR,
        delivery=delivery(
            make_reported_result("Glucose", "85"),
            make_reported_result(
                "Sodium", "131", unit="mmol/L", reference_range="135-145"
            ),
            make_reported_result(
                "Potassium",
                "6.9",
                unit="mmol/L",
                reference_range="3.5-5.1",
                flag="HH",
                notes="Called to the clinic.",
            ),
            make_reported_result("Smear", long, unit="", reference_range=""),
            status="partial",
        ),
    )
    order = read(order)
    found = get_results_of_order(order=order)

    paper = render_results_report(found=found, tenant=alice_tenant)

    text = " ".join(pages_of(paper.body))
    for said in (
        "Laboratory report",
        "CRITICAL: 1 result",
        "PARTIAL: more results to follow",
        "Ada Example",
        "17 May 1990",
        "Glucose 85 mg/dL 65-99",
        "Sodium 131 Low mmol/L 135-145",
        "Potassium 6.9 CRITICAL high mmol/L 3.5-5.1",
        "Called to the clinic.",
        "Smear See below",
        long.strip(),
        f"Order {order.pk} Report {version.number} of 20 Nov 2026, 15:30 UTC",
    ):
        assert said in text, said
    again = render_results_report(
        found=get_results_of_order(order=order), tenant=alice_tenant
    )
    assert again == paper


def test_a_corrected_report_says_so_and_what_is_missing(alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    gap = ReportedGap(name="Ferritin", failure_type="insufficient_volume", note="QNS")
    sample = ReportedSample(
        "S-9",
        fasting=True,
        notes="Slightly hemolyzed",
        laboratories={
            "NW": {
                "name": "Northwest",
                "medical_director": "Dr Example",
                "address": {"city": "Phoenix", "state": "AZ", "zip": "85004"},
            }
        },
    )
    for text in ("85", "88"):
        store_result_delivery(
            order=order,
            actor=ACTOR,
            delivery=delivery(
                make_reported_result("Glucose", text), missing=(gap,), samples=(sample,)
            ),
        )

    order = read(order)
    paper = render_results_report(
        found=get_results_of_order(order=order), tenant=alice_tenant
    )

    text = " ".join(pages_of(paper.body))
    assert "CORRECTED: report 2 replaces all earlier reports" in text
    assert "Ferritin Insufficient volume QNS" in text
    assert "Sample S-9 Fasting Yes Notes Slightly hemolyzed" in text
    assert "NW, Northwest, Phoenix AZ 85004, director Dr Example" in text
    assert "PARTIAL" not in text
