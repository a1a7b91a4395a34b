from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from accounts.states import Role
from labs.models import Order
from labs.operations.catalogue.panels import archive_lab_test
from labs.operations.insurance import PayorRequest, create_payor
from labs.states.accounts import LabAccountStatus
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.labs import (
    comment_lab,
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
    make_order,
)
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db

INSURANCE = (
    "payor_code",
    "insurance_id",
    "relationship",
    "responsible_first_name",
    "responsible_last_name",
    "responsible_phone_number",
)
PATIENT = {
    "first_name": "Ada",
    "last_name": "Example",
    "dob": "1990-05-17",
    "gender": "female",
    "phone_number": "+15550101",
    "email": "ada@assay.example",
    "first_line": "1 Sample Street",
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "country": "US",
}


class Wizard:
    """A member's way through the steps; `place` is the page it stands on."""

    def __init__(self, tenant, client):
        self.client = client
        place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
        self.start = self.here = reverse("labs:place_order", kwargs=place)

    def send(self, **values):
        reply = self.client.post(self.here, values)
        if reply.status_code == 302:
            self.here = reply["Location"]
        return reply

    def next(self, **values):
        return self.send(go="next", **values)

    @property
    def step(self):
        return parse_qs(urlsplit(self.here).query).get("step", ["user"])[0]

    def open(self, step=None):
        if step is None:
            return self.client.get(self.here)
        return self.client.get(self.here.replace(f"step={self.step}", f"step={step}"))

    def to_patient(self, user):
        self.send(user=str(user.uuid))

    def to_tests(self, user, lab, *, patient=PATIENT):
        self.to_patient(user)
        self.next(**patient)
        self.send(lab=str(lab.pk))

    def to_lab(self, user, panel, *, patient=PATIENT):
        self.to_tests(user, panel.lab, patient=patient)
        self.send(add=f"panel:{panel.pk}")
        self.next()

    def to_review(self, user, panel, *, patient=PATIENT, place="", **billing):
        insurance = {name: billing.pop(name, "") for name in INSURANCE}
        self.to_lab(user, panel, patient={**patient, **insurance})
        place = place or f"lab:{panel.lab.pk}"
        self.next(**{"place": place, "billing_type": "client_bill", **billing})

    def place(self, **values):
        return self.send(go="place", **values)


@pytest.fixture
def wizard(alice_web, alice_tenant):
    return Wizard(alice_tenant, alice_web)


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_1")


@pytest.fixture
def panel(alice_tenant):
    return make_lab_test(tenant=alice_tenant, lab=make_lab(name="Northgate"))


def test_an_order_is_placed_as_it_was_entered(wizard, alice_tenant, alice, user, panel):
    account = make_lab_account(tenant=alice_tenant, lab=panel.lab)

    wizard.to_review(
        user,
        panel,
        icd_1="E119",
        physician_first_name="Jane",
        physician_last_name="Sample",
        physician_npi="1234567893",
        consents=["telehealth-informed-consent"],
    )
    review = wizard.open()
    placed = wizard.place(comments="Hold the aspirin.")

    order = Order.objects.for_tenant(alice_tenant).get()
    assert review.status_code == 200
    assert placed.status_code == 302
    assert placed["Location"].endswith(f"/orders/{order.pk}/")
    assert (order.user_id, order.lab_test_id) == (user.pk, panel.pk)
    assert (order.lab_account, order.account_reason) == (account, "only_active")
    assert order.patient_details == {
        name: PATIENT[name]
        for name in ("first_name", "last_name", "dob", "gender", "phone_number")
    } | {"email": PATIENT["email"]}
    assert order.patient_address["zip"] == "85004"
    assert order.comments == "Hold the aspirin."
    assert order.icd_codes == ["E11.9"]
    assert order.physician["npi"] == "1234567893"
    assert order.consents == [
        {"consentType": "telehealth-informed-consent", "version": "1.0"}
    ]
    assert order.creator_member_id == alice.pk
    assert emitted_types(alice_tenant) == ["labtest.order.created"]


def test_a_page_before_its_turn_leads_to_the_first_step_that_is_open(
    wizard, user, panel
):
    wizard.to_tests(user, panel.lab)

    early = wizard.open("review")

    assert early.status_code == 200
    assert early.context["step"] == "tests"
    assert [one["name"] for one in early.context["steps"]] == [
        "patient",
        "tests",
        "lab",
        "review",
    ]


def test_the_page_of_a_user_leads_straight_to_their_patient_details(
    wizard, alice_tenant, user, panel
):
    wizard.here = f"{wizard.start}?user=mbr_1"
    page = wizard.open()
    before = dict(wizard.client.session)

    went = wizard.next(**PATIENT)

    assert page.context["step"] == "patient"
    assert "order_wizard_drafts" not in before
    assert (went.status_code, wizard.step) == (302, "tests")
    assert wizard.open().context["entry"].user == user
    wizard.here = f"{wizard.start}?user=mbr"
    assert wizard.open().context["step"] == "user"


def test_back_keeps_what_was_typed_good_or_not(wizard, user, panel):
    wizard.to_patient(user)

    back = wizard.send(go="back", first_name="Ada", zip="x")
    at = wizard.step
    page = wizard.open("patient")

    form = page.context["form"]
    assert (back.status_code, at) == (302, "user")
    assert (form["first_name"].value(), form["zip"].value()) == ("Ada", "x")
    assert not form.errors


def test_back_from_the_review_keeps_comment_and_start(wizard, user, panel):
    wizard.to_review(user, panel)

    wizard.send(go="back", comments="Fasting.", activate_by="2020-01-01")
    at = wizard.step
    form = wizard.open("review").context["form"]

    assert at == "lab"
    assert (form["comments"].value(), form["activate_by"].value()) == (
        "Fasting.",
        "2020-01-01",
    )


def test_a_correction_leads_back_to_the_review(wizard, user, panel):
    wizard.to_review(user, panel)
    wizard.here = wizard.here.replace("step=review", "step=patient")

    corrected = wizard.next(**{**PATIENT, "city": "Mesa"})

    assert corrected.status_code == 302
    assert wizard.step == "review"
    patient = wizard.open().context["wanted"].patient_address
    assert patient["city"] == "Mesa"


def test_a_correction_that_concerns_billing_asks_for_it_again(wizard, user, panel):
    wizard.to_review(user, panel)
    wizard.here = wizard.here.replace("step=review", "step=patient")

    wizard.next(**{**PATIENT, "state": "TX"})

    assert wizard.step == "lab"


def test_a_minor_is_ordered_for_with_a_representative_from_a_later_day(
    wizard, alice_tenant, user, panel
):
    alice_tenant.minor_ordering_enabled = True
    alice_tenant.save(update_fields=["minor_ordering_enabled"])
    later = (timezone.now() + timedelta(days=30)).date()
    wizard.to_patient(user)
    minor = {**PATIENT, "dob": f"{later.year - 10}-01-01"}

    alone = wizard.next(**minor)
    wizard.next(
        **minor,
        proxy_first_name="Eve",
        proxy_last_name="Example",
        proxy_phone_number="+15550102",
    )
    wizard.send(lab=str(panel.lab.pk))
    wizard.send(add=f"panel:{panel.pk}")
    wizard.next()
    wizard.next(place=f"lab:{panel.lab.pk}", billing_type="client_bill")
    wizard.place(activate_by=later.isoformat(), priority="on")

    order = Order.objects.for_tenant(alice_tenant).get()
    assert list(alone.context["form"].errors) == ["proxy_first_name"]
    assert order.patient_details["medical_proxy"] == {
        "first_name": "Eve",
        "last_name": "Example",
        "phone_number": "+15550102",
        "address": order.patient_address,
    }
    assert (order.activate_by, order.priority) == (later, True)


def test_errors_stand_beside_their_fields_and_nothing_goes_on(
    wizard, alice_tenant, user, panel
):
    wizard.to_patient(user)

    page = wizard.next(**{**PATIENT, "zip": "85", "dob": ""})
    kept = wizard.open()

    assert page.status_code == 422
    assert set(page.context["form"].errors) == {"zip", "dob"}
    assert kept.context["form"]["city"].value() == "Phoenix"
    assert wizard.open("review").context["step"] == "patient"


def test_another_user_starts_with_an_empty_patient(wizard, alice_tenant, user, panel):
    other = make_user(tenant=alice_tenant)
    wizard.to_review(user, panel)
    wizard.send(go="back", comments="About the first one.")
    wizard.here = wizard.here.replace("step=lab", "step=user")

    wizard.send(user=str(other.uuid))

    at = wizard.step
    draft = wizard.open("patient").context["entry"].draft
    held = {"patient", "insurance", "billing", "questions", "comments"}
    assert at == "patient"
    assert held & set(draft.entries) == set()
    assert draft.entries["tests"]["panels"] == [str(panel.pk)]
    assert draft.done == ("tests",)


def test_an_account_that_takes_no_orders_says_why_and_can_not_be_chosen(
    wizard, alice_tenant, user, panel
):
    waits = make_lab_account(
        tenant=alice_tenant, lab=panel.lab, status=LabAccountStatus.PENDING
    )
    make_lab_account(tenant=alice_tenant, lab=panel.lab)
    wizard.to_lab(user, panel)

    page = wizard.open()
    refused = wizard.next(place=f"account:{waits.pk}", billing_type="client_bill")

    options = {option.value: option for option in page.context["options"]}
    option = options[f"account:{waits.pk}"]
    assert (option.is_open, bool(option.why)) == (False, True)
    assert (refused.status_code, refused.context["step"]) == (422, "lab")
    assert wizard.open("review").context["step"] == "lab"


def test_of_two_active_accounts_one_is_named(wizard, alice_tenant, user, panel):
    first, second = (
        make_lab_account(tenant=alice_tenant, lab=panel.lab) for _ in range(2)
    )
    wizard.to_lab(user, panel)
    options = wizard.open().context["options"]
    unnamed = wizard.next(billing_type="client_bill")
    wizard.next(place=f"account:{second.pk}", billing_type="client_bill")
    wizard.place()

    order = Order.objects.for_tenant(alice_tenant).get()
    assert [option.value for option in options] == [
        f"account:{first.pk}",
        f"account:{second.pk}",
    ]
    assert (order.lab_account, order.account_reason) == (second, "given")
    assert (unnamed.status_code, unnamed.context["step"]) == (422, "lab")


def test_tests_are_those_of_the_lab_and_the_collection(
    wizard, alice_tenant, user, panel
):
    make_lab_test(tenant=alice_tenant)
    kit = make_lab_test(tenant=alice_tenant, lab=panel.lab, method="testkit")
    wizard.to_tests(user, panel.lab)

    walk_in = wizard.send(method="walk_in_test") and wizard.open()
    kits = wizard.send(method="testkit") and wizard.open()

    assert walk_in.context["panels"] == [panel]
    assert kits.context["panels"] == [kit]


def test_nothing_on_the_order_is_refused_at_the_tests(wizard, user, panel):
    wizard.to_tests(user, panel.lab)

    page = wizard.next()

    assert page.status_code == 422
    assert page.context["refusal"].code == "order_set_empty"


@pytest.mark.parametrize(
    "sent",
    [
        {"add": "panel:nothing"},
        {"add": "marker:99999999999999999999"},
        {"add": "marker:1"},
        {"remove": "marker:1"},
        {"method": "teleport"},
        {"go": "search", "q": "a\0b"},
    ],
    ids=["no-uuid", "too-large", "other-lab", "not-there", "no-method", "null"],
)
def test_what_no_page_sends_changes_nothing(wizard, user, panel, sent):
    wizard.to_tests(user, panel.lab)
    wizard.send(add=f"panel:{panel.pk}")

    wizard.send(**sent)

    entry = wizard.open().context["entry"]
    assert (entry.panels, entry.single_markers) == ((panel,), ())
    assert entry.method == "walk_in_test"


def test_a_panel_and_an_added_marker_become_one_order(
    wizard, alice_tenant, user, panel
):
    extra = make_marker(lab=panel.lab)
    wizard.to_tests(user, panel.lab)
    wizard.send(add=f"panel:{panel.pk}")
    wizard.send(add=f"marker:{extra.pk}")
    wizard.next()
    wizard.next(place=f"lab:{panel.lab.pk}", billing_type="client_bill")
    wizard.place()

    order = Order.objects.for_tenant(alice_tenant).get()
    assert set(order.lab_test.markers.all()) == {*panel.markers.all(), extra}


def test_another_lab_and_a_test_of_it_in_one_post_are_both_kept(
    wizard, alice_tenant, user, panel
):
    other = make_lab_test(tenant=alice_tenant, lab=make_lab(name="Southgate"))
    wizard.to_tests(user, panel.lab)
    hx = {"HX-Request": "true"}
    both = {"lab": str(other.lab.pk), "add": f"panel:{other.pk}"}

    kept = wizard.client.post(wizard.here, both, headers=hx)
    # The page still shows the first lab's tests, while the draft is at the other.
    stale = {"lab": str(other.lab.pk), "add": f"panel:{panel.pk}"}
    refused = wizard.client.post(wizard.here, stale, headers=hx)

    assert (kept.status_code, kept["HX-Retarget"]) == (200, "#order-tests")
    assert (refused.status_code, refused["HX-Retarget"]) == (422, "#order-tests")
    assert refused.context["refusal"].code == "lab_test_not_found"
    entry = wizard.open().context["entry"]
    assert (entry.lab, entry.panels) == (other.lab, (other,))


@pytest.mark.django_db(transaction=True)
def test_tests_added_at_once_from_one_page_are_all_in_the_order(
    wizard, alice_tenant, user, panel
):
    extra = [make_marker(lab=panel.lab) for _ in range(4)]
    wizard.to_tests(user, panel.lab)

    def add(marker):
        try:
            client = Client()
            client.cookies = wizard.client.cookies
            values = {"add": f"marker:{marker.pk}"}
            return client.post(wizard.here, values).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(add, extra)) == [302] * 4

    assert {*wizard.open().context["entry"].single_markers} == {*extra}


QUESTION = {
    "id": 7,
    "required": True,
    "code": "SOURCE",
    "value": "Source of the specimen",
    "type": "choice",
    "sequence": 1,
    "answers": [{"id": 1, "code": "U", "value": "Urine"}],
}


def test_a_question_that_needs_an_answer_is_asked_in_the_review(
    wizard, alice_tenant, user
):
    lab = make_lab()
    marker = make_marker(lab=lab, aoe_questions=[QUESTION])
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=(marker,))
    name = f"q_{marker.pk}_7"
    wizard.to_review(user, panel)
    before = holdings(alice_tenant)
    page = wizard.open()

    refused = wizard.place(**{name: ""}, comments="Kept.")
    same = holdings(alice_tenant) == before
    kept = wizard.open().context["form"]["comments"].value()
    wizard.place(**{name: "U"})

    assert (page.context["refusal"], page.context["can_place"]) == (None, True)
    assert refused.status_code == 422
    assert list(refused.context["questions"].errors) == [name]
    assert (same, kept) == (True, "Kept.")
    assert Order.objects.for_tenant(alice_tenant).get().aoe_answers == [
        {"marker_id": marker.pk, "question_id": 7, "answer": "U"}
    ]


@pytest.mark.parametrize("day", ["2190-05-17", "0199-05-17"])
def test_a_patient_was_born_within_living_memory(
    wizard, alice_tenant, user, panel, day
):
    alice_tenant.minor_ordering_enabled = True
    alice_tenant.save(update_fields=["minor_ordering_enabled"])
    wizard.to_patient(user)

    page = wizard.next(**{**PATIENT, "dob": day})

    assert list(page.context["form"].errors) == ["dob"]
    assert wizard.open("review").context["step"] == "patient"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"dob": "2020-01-01"}, "dob"),
        ({"state": "Arizona"}, "state"),
        ({"email": "nowhere"}, "email"),
        ({"first_name": " Æ"}, "first_name"),
        ({"proxy_first_name": "Eve"}, "proxy_last_name"),
    ],
)
def test_a_patient_is_refused_at_the_field(wizard, user, panel, changes, field):
    wizard.to_patient(user)

    page = wizard.next(**{**PATIENT, **changes})

    assert page.status_code == 422
    assert field in page.context["form"].errors


def test_the_ways_to_pay_are_those_the_account_allows_in_the_state(
    wizard, alice_tenant, user, panel
):
    make_lab_account(
        tenant=alice_tenant,
        lab=panel.lab,
        allowed_billing={"client_bill": ["TX"], "patient_bill": ["AZ"]},
        delegated_flow="order_delegated",
    )
    wizard.to_lab(user, panel)

    page = wizard.open()
    place = f"lab:{panel.lab.pk}"
    wrong = wizard.next(place=place, billing_type="client_bill")
    nobody = wizard.next(place=place, billing_type="patient_bill")

    offered = page.context["form"].fields["billing_type"].choices
    assert [value for value, _ in offered] == ["patient_bill"]
    assert list(wrong.context["form"].errors) == ["billing_type"]
    assert list(nobody.context["form"].errors) == ["physician"]


def test_another_account_shows_who_it_may_bill_and_keeps_what_was_entered(
    wizard, alice_tenant, user, panel
):
    only = {"allowed_billing": {"patient_bill": ["AZ"]}}
    make_lab_account(tenant=alice_tenant, lab=panel.lab)
    other = make_lab_account(tenant=alice_tenant, lab=panel.lab, **only)
    wizard.to_lab(user, panel)

    part = wizard.client.post(
        wizard.here,
        {"go": "account", "place": f"account:{other.pk}", "icd_1": "E119"},
        headers={"HX-Request": "true"},
    )

    form = part.context["form"]
    assert [value for value, _ in form.fields["billing_type"].choices] == [
        "patient_bill"
    ]
    assert (form["icd_1"].value(), form.errors) == ("E119", {})
    assert wizard.open("review").context["step"] == "lab"
    wizard.send(go="account", place=f"account:{other.pk}", icd_1="E11.9")
    assert wizard.open().context["form"]["icd_1"].value() == "E11.9"


def test_insurance_names_insurer_member_and_diagnosis(
    wizard, alice_tenant, user, panel
):
    place = {"place": f"lab:{panel.lab.pk}", "billing_type": "commercial_insurance"}
    insured = {"payor_code": "SBX001", "insurance_id": "M-1", "relationship": "Self"}
    wizard.to_patient(user)

    half = wizard.next(**PATIENT, relationship="Spouse")
    wizard.next(**PATIENT)
    wizard.send(lab=str(panel.lab.pk))
    wizard.send(add=f"panel:{panel.pk}")
    wizard.next()
    uninsured = wizard.next(**place)
    wizard.here = wizard.here.replace("step=lab", "step=patient")
    wizard.next(**PATIENT, **insured)
    usual = wizard.open().context["form"]["billing_type"].value()
    wizard.next(**place, icd_1="E11.9 Type 2 diabetes mellitus without complications")
    wizard.place()

    assert set(half.context["insurance"].errors) == set(INSURANCE) - {"relationship"}
    assert half.status_code == 422
    assert set(uninsured.context["form"].errors) == {"billing_type", "icd_1"}
    assert usual == "commercial_insurance"
    assert Order.objects.for_tenant(alice_tenant).get().health_insurance == {
        "payor_code": "SBX001",
        "insurance_id": "M-1",
        "responsible_relationship": "Self",
        "diagnosis_codes": ["E11.9"],
    }


def test_diagnoses_are_checked_where_they_are_entered(wizard, user, panel):
    wizard.to_lab(user, panel)

    page = wizard.next(
        place=f"lab:{panel.lab.pk}",
        billing_type="client_bill",
        icd_1="E119",
        icd_2="sugar",
        icd_3="E11.9",
    )

    assert set(page.context["form"].errors) == {"icd_2", "icd_3"}


def test_a_comment_is_shown_as_it_prints_and_bounded(wizard, alice_tenant, user):
    panel = make_lab_test(tenant=alice_tenant, lab=comment_lab())
    make_lab_account(
        tenant=alice_tenant, lab=panel.lab, default_clinical_notes="Call us."
    )
    wizard.to_review(user, panel)
    before = holdings(alice_tenant)

    wizard.send(go="print", comments="Fasting.")
    shown = wizard.open()
    long = wizard.place(comments="x" * 1001)
    past = wizard.place(comments="", activate_by="2020-01-01")

    assert holdings(alice_tenant) == before
    assert shown.context["printed"] == "Call us.\nFasting."
    assert (long.status_code, list(long.context["form"].errors)) == (422, ["comments"])
    assert list(past.context["form"].errors) == ["activate_by"]


def test_the_same_order_within_a_day_is_asked_about_first(
    wizard, alice_tenant, user, panel
):
    twin = make_order(tenant=alice_tenant, user=user, lab_test=panel)
    wizard.to_review(user, panel)
    before = holdings(alice_tenant)

    page = wizard.open()
    refused = wizard.send(go="place")
    same = holdings(alice_tenant) == before
    meant = wizard.send(go="place", repeat="yes")

    assert page.context["twins"] == [twin]
    assert (refused.status_code, refused.context["refusal"].code) == (
        422,
        "order_repeated",
    )
    assert same
    assert meant.status_code == 302
    assert Order.objects.for_tenant(alice_tenant).count() == 2


def test_what_changed_since_is_refused_beside_its_step(
    wizard, alice_tenant, user, panel
):
    wizard.to_review(user, panel)
    archive_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)
    before = holdings(alice_tenant)

    refused = wizard.send(go="place")

    assert refused.status_code == 422
    assert refused.context["refusal"].code == "lab_test_not_active"
    assert refused.context["refused_step"] == "tests"
    assert holdings(alice_tenant) == before


@pytest.mark.django_db(transaction=True)
def test_presses_at_once_place_one_order(wizard, alice_tenant, user, panel):
    wizard.to_review(user, panel)

    def press(_):
        try:
            client = Client()
            client.cookies = wizard.client.cookies
            return client.post(wizard.here, {"go": "place"})["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        targets = set(pool.map(press, range(6)))

    order = Order.objects.for_tenant(alice_tenant).get()
    assert len(emitted_types(alice_tenant)) == 1
    assert targets <= {wizard.here, wizard.open()["Location"]}
    assert wizard.open()["Location"].endswith(f"/orders/{order.pk}/")


def test_a_placed_draft_leads_to_its_order_and_keeps_no_patient(
    wizard, alice_tenant, user, panel
):
    wizard.to_review(user, panel)
    wizard.send(go="place")
    order_page = wizard.here

    sent = wizard.client.session["order_wizard_drafts"]
    order = Order.objects.for_tenant(alice_tenant).get()
    assert order_page.endswith(f"/orders/{order.pk}/")
    assert "Example" not in str(sent)
    assert [set(kept) for kept in sent.values()] == [{"tenant", "at", "sealed"}]


def test_what_is_kept_of_the_user_fills_the_form_and_the_read_is_audited(
    wizard, alice_api, alice_tenant, user, panel
):
    info = {
        **{k: PATIENT[k] for k in list(PATIENT)[:6]},
        "address": {
            "first_line": "1 Sample Street",
            "city": "Phoenix",
            "state": "az",
            "zip": "85004",
            "country": "US",
        },
    }
    alice_api.patch(f"/v2/user/{user.uuid}/info", info)
    wizard.to_patient(user)

    insured = {k: PATIENT[k] for k in list(PATIENT)[:6]} | {"address": info["address"]}
    insurance = {
        "payor_code": "SBX001",
        "member_id": "M-1",
        "relationship": "Spouse",
        "insured": {**insured, "first_name": "Eve"},
    }
    alice_api.post(f"/v2/user/{user.uuid}/insurance", insurance)

    page = wizard.open().context
    patient, billing = page["form"], page["insurance"]

    assert (patient["first_name"].value(), patient["state"].value()) == ("Ada", "AZ")
    assert (billing["payor_code"].value(), billing["insurance_id"].value()) == (
        "SBX001",
        "M-1",
    )
    assert billing["responsible_first_name"].value() == "Eve"
    reads = [line for line in audited(alice_tenant) if line[0] == "read"]
    assert reads[-2:] == [
        ("read", "user_info", str(user.uuid)),
        ("read", "insurance", str(user.uuid)),
    ]


def test_a_draft_is_of_one_environment_and_one_member(
    wizard, alice_tenant, alice_production, user, panel
):
    wizard.to_patient(user)
    other = Client()
    other.force_login(make_member(team=alice_tenant.team, roles=(Role.LAB_STAFF,)))

    elsewhere = wizard.client.get(wizard.here.replace("sandbox", "production"))
    foreign = other.get(wizard.here)

    assert elsewhere["Location"].endswith("/production/orders/place/")
    assert foreign["Location"] == wizard.start


def test_a_draft_ends_after_12_hours(wizard, user):
    with time_machine.travel("2026-03-02T12:00:00Z", tick=False) as clock:
        wizard.send(user=str(user.uuid))
        clock.shift(timedelta(hours=11))
        kept = wizard.open()
        clock.shift(timedelta(hours=1))
        ended = wizard.open()

    assert kept.context["step"] == "patient"
    assert ended["Location"] == wizard.start


def test_the_newest_five_drafts_stay(wizard, user):
    opened = []
    for _ in range(6):
        wizard.here = wizard.start
        wizard.send(user=str(user.uuid))
        opened.append(wizard.here)

    answers = [wizard.client.get(here).status_code for here in opened]

    assert answers == [302, 200, 200, 200, 200, 200]


def test_a_user_of_strangers_can_not_be_chosen(wizard, charlie_tenant):
    page = wizard.send(user=str(make_user(tenant=charlie_tenant).uuid))

    assert page.status_code == 422
    assert page.context["entry"].draft.entries == {}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER, Role.CLINICIAN])
def test_who_may_not_order_gets_no_form(alice_tenant, role):
    client = Client()
    client.force_login(make_member(team=alice_tenant.team, roles=(role,)))

    assert client.get(Wizard(alice_tenant, client).start).status_code == 403


def test_a_list_of_tests_takes_as_many_queries_for_ten_as_for_one(
    wizard, alice_tenant, user, panel
):
    wizard.to_tests(user, panel.lab)
    wizard.open()  # the first request does more
    with CaptureQueriesContext(connection) as one:
        wizard.open()
    for _ in range(9):
        make_lab_test(tenant=alice_tenant, lab=panel.lab)
    with CaptureQueriesContext(connection) as ten:
        wizard.open()

    assert len(one) == len(ten) == 13


def test_production_says_what_is_not_set_up_at_the_tests(
    alice_web, alice_production, settings
):
    settings.LAB_GATEWAY = ""
    make_lab(name="Northgate", tenant=alice_production)
    member = make_user(tenant=alice_production, client_user_id="mbr_2")
    production = Wizard(alice_production, alice_web)
    production.to_patient(member)
    production.next(**PATIENT)
    before = holdings(alice_production)

    page = alice_web.get(production.here).content.decode()
    refused = production.next()

    assert "This installation has no lab gateway." in page
    assert "Link a lab account with Northgate" in page
    assert "Set up lab accounts" in page
    assert "Quest Diagnostics" not in page
    assert refused.status_code == 422
    assert holdings(alice_production) == before


def test_production_offers_insurance_once_an_insurer_is_set_up(
    alice_web, alice_production
):
    states = ["AZ"]
    lab = make_lab(name="Northgate", tenant=alice_production)
    make_lab_account(
        tenant=alice_production,
        lab=lab,
        allowed_billing={"client_bill": states, "commercial_insurance": states},
    )
    panel = make_lab_test(tenant=alice_production, lab=lab)
    member = make_user(tenant=alice_production)
    production = Wizard(alice_production, alice_web)
    production.to_lab(member, panel)
    words = "no insurer is set up"

    without = production.open()
    patient = production.open("patient").content.decode()
    refused = production.next(
        place=f"lab:{lab.pk}", billing_type="commercial_insurance"
    )
    payor = create_payor(
        tenant=alice_production,
        actor=ACTOR,
        request=PayorRequest(name="Desert Mutual", address={}),
    )
    shown = production.open()

    def offered(page):
        return [
            value for value, _ in page.context["form"].fields["billing_type"].choices
        ]

    assert offered(without) == ["client_bill"]
    assert words in without.content.decode()
    assert 'name="payor_code"' not in patient
    assert refused.status_code == 422
    assert "billing_type" in refused.context["form"].errors
    assert offered(shown) == ["client_bill", "commercial_insurance"]
    assert words not in shown.content.decode()
    insurers = production.open("patient").content.decode()
    assert payor.payor_code in insurers
