from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from labs.models import ExpectedResult, LabTest
from labs.states.catalogue import (
    CollectionMethod,
    Generation,
    LabTestStatus,
    ResultType,
)
from tests.clients import ApiClient, error_lines
from tests.contract.document import check_answer
from tests.factories.labs import (
    make_lab,
    make_lab_account,
    make_lab_test,
    make_marker,
)
from tests.labs.holdings import holdings

# An id that is nobody's; a constant, as tests are named after it.
NOBODY = "00000000-0000-4000-8000-000000000000"

pytestmark = pytest.mark.django_db
LIST = "/v3/lab_test"
PANELS = "/v3/lab_tests"
MARKERS = "/v3/lab_tests/markers"
ESTIMATE = "/v3/lab_test/estimate_order_set_pricing"


@pytest.fixture
def lab(db):
    return make_lab()


@pytest.fixture
def own_panels(alice_tenant):
    """Three panels that stand in place of the laid ones, a minute apart."""
    LabTest.objects.for_tenant(alice_tenant).delete()
    first = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        make_lab_test(
            tenant=alice_tenant,
            name=f"Panel {number}",
            price=price,
            created_at=first + timedelta(minutes=number),
        )
        for number, price in enumerate(map(Decimal, ("30.00", "10.00", "10.00")))
    ]


def names(reply):
    return [panel["name"] for panel in reply.json()["data"]]


def marker_ids(reply):
    return [marker["id"] for marker in reply.json()["markers"]]


def walk(api, query):
    """The names of all pages of one list, page by page."""
    pages: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        reply = api.get(f"{LIST}?{query}{cursor and '&next_cursor=' + cursor}")
        pages.append(names(reply))
        cursor = reply.json()["next_cursor"]
    return pages


def forge(*parts):
    return urlsafe_b64encode(orjson.dumps(parts)).rstrip(b"=").decode()


# Labs and markers


def test_labs_are_a_bare_list_of_the_reference_set(alice_api):
    reply = alice_api.get("/v3/lab_tests/labs")

    assert len(reply.json()) == 15
    assert reply.json()[0] == {
        "id": 1,
        "slug": "quest",
        "name": "Quest Diagnostics",
        "first_line_address": "500 Plaza Drive",
        "city": "Secaucus",
        "zipcode": "07094",
        "collection_methods": [
            "walk_in_test",
            "at_home_phlebotomy",
            "on_site_collection",
        ],
        "sample_types": ["serum", "urine", "stool"],
        "logo_url": None,
    }
    check_answer(reply, "get", "/v3/lab_tests/labs")


def test_a_marker_tells_its_results_and_their_loinc(alice_api, lab):
    marker = make_marker(lab=lab, name="TSH", slug="tsh", provider_id="899")
    ExpectedResult.objects.create(
        id=marker.pk,
        marker=marker,
        name="TSH",
        slug="tsh",
        provider_id="899",
        loinc_code="3016-3",
        loinc_name="Thyrotropin [Units/volume] in Serum or Plasma",
        unit="m[IU]/L",
        result_type=ResultType.NUMERIC,
    )

    reply = alice_api.get(f"{MARKERS}?lab_slug={lab.slug.upper()}")

    assert reply.json() == {
        "markers": [
            {
                "id": marker.pk,
                "name": "TSH",
                "slug": "tsh",
                "description": None,
                "lab_id": lab.pk,
                "provider_id": "899",
                "type": "biomarker",
                "unit": "mg/dL",
                "price": "12.50",
                "aoe": None,
                "a_la_carte_enabled": True,
                "common_tat_days": 2,
                "worst_case_tat_days": 5,
                "is_orderable": True,
                "expected_results": [
                    {
                        "id": marker.pk,
                        "name": "TSH",
                        "slug": "tsh",
                        "lab_id": lab.pk,
                        "provider_id": "899",
                        "required": True,
                        "loinc": {
                            "id": 3016,
                            "name": "Thyrotropin [Units/volume] in Serum or Plasma",
                            "slug": "tsh",
                            "code": "3016-3",
                            "unit": "m[IU]/L",
                        },
                    }
                ],
            }
        ],
        "total": 1,
        "page": 1,
        "size": 50,
        "pages": 1,
        "pricing": None,
    }
    check_answer(reply, "get", MARKERS)


def test_markers_are_filtered_by_every_filter(alice_api, alice_tenant, lab):
    other = make_lab()
    one = make_marker(lab=lab, name="Zinc 100%", provider_id="A_1")
    two = make_marker(lab=lab, name="Iron", a_la_carte_enabled=False)
    three = make_marker(lab=other, name="Iron")
    account = make_lab_account(tenant=alice_tenant, lab=other)
    ours = f"lab_id={lab.pk}&lab_id={other.pk}"

    def found(query):
        return marker_ids(alice_api.get(f"{MARKERS}?{query}"))

    assert found(ours) == [one.pk, two.pk, three.pk]
    assert found(f"lab_id={other.pk}") == [three.pk]
    assert found(f"lab_id={other.pk}&lab_slug={lab.slug}") == [one.pk, two.pk]
    assert found(f"{ours}&name=iRO") == [two.pk, three.pk]
    assert found(f"{ours}&name=a_1") == [one.pk]
    assert found(f"{ours}&name=0%25") == [one.pk]
    assert found(f"{ours}&a_la_carte_enabled=false") == [two.pk]
    assert found(f"{ours}&lab_account_id={account.pk}") == [three.pk]
    assert found(f"{ours}&page=2&size=2") == [three.pk]
    assert found(f"{ours}&page=9") == []
    assert found("lab_slug=nowhere") == []


def test_prices_are_cents_or_say_why_there_is_none(alice_api, lab):
    priced = make_marker(lab=lab, price=Decimal("12.35"))
    unpriced = make_marker(lab=lab, price=None)

    reply = alice_api.get(f"{MARKERS}?lab_id={lab.pk}&include_pricing=true")

    assert reply.json()["pricing"] == {
        "currency": "USD",
        "data": {
            str(priced.pk): {"base_amount_minor": 1235},
            str(unpriced.pk): {"unspecified": "refer_to_contract"},
        },
    }
    check_answer(reply, "get", MARKERS)


@pytest.mark.parametrize(
    ("query", "loc"),
    [
        ("size=101", ["query", "size"]),
        ("page=0", ["query", "page"]),
        ("lab_id=x", ["query", "lab_id", 0]),
        ("lab_id=9999999999", ["query", "lab_id", 0]),
        ("lab_account_id=x", ["query", "lab_account_id"]),
        ("include_pricing=maybe", ["query", "include_pricing"]),
    ],
)
def test_a_query_that_can_not_be_read_is_refused(alice_api, query, loc):
    reply = alice_api.get(f"{MARKERS}?{query}")

    ((place, kind),) = error_lines(reply)
    assert place == loc
    assert (kind == "bool_parsing") == ("pricing" in query)


@pytest.mark.parametrize("path", [LIST, MARKERS])
def test_an_account_that_is_not_linked_is_not_found(alice_api, charlie_tenant, path):
    theirs = make_lab_account(tenant=charlie_tenant, lab=make_lab())

    reply = alice_api.get(f"{path}?lab_account_id={theirs.pk}")

    assert reply.status_code == 404
    assert reply.json()["code"] == "lab_account_not_found"


def test_a_panel_lists_its_markers(alice_api, alice_tenant, lab):
    markers = (make_marker(lab=lab), make_marker(lab=lab))
    make_marker(lab=lab)
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=markers)

    reply = alice_api.get(f"{PANELS}/{panel.pk}/markers?size=1&page=2")

    assert marker_ids(reply) == [markers[1].pk]
    assert (reply.json()["total"], reply.json()["pages"]) == (2, 2)
    check_answer(reply, "get", "/v3/lab_tests/{lab_test_id}/markers")


def test_an_order_set_lists_all_it_holds_once(alice_api, alice_tenant, lab):
    shared, single, added = (make_marker(lab=lab) for _ in range(3))
    make_marker(lab=lab)
    panels = [
        make_lab_test(tenant=alice_tenant, lab=lab, markers=markers, method=method)
        for markers, method in (
            ((shared,), CollectionMethod.WALK_IN_TEST),
            ((shared, single), CollectionMethod.TESTKIT),
        )
    ]

    reply = alice_api.post(
        "/v3/lab_tests/list_order_set_markers?size=10",
        {
            "lab_test_ids": [str(panel.pk) for panel in panels],
            "add_on": {"provider_ids": [added.provider_id]},
        },
    )

    assert marker_ids(reply) == [shared.pk, single.pk, added.pk]
    assert reply.json()["size"] == 10
    check_answer(reply, "post", "/v3/lab_tests/list_order_set_markers")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"lab_test_ids": [str(uuid4())]}, 404, "lab_test_not_found"),
        ({"add_on": {"marker_ids": [1_999_999]}}, 404, "marker_not_found"),
        ({"add_on": {}}, 400, "add_on_invalid"),
        ({"add_on": {"provider_ids": ["1"]}}, 400, "lab_account_missing"),
    ],
)
def test_an_order_set_that_names_nothing_is_refused(alice_api, body, status, code):
    reply = alice_api.post("/v3/lab_tests/list_order_set_markers", body)

    assert (reply.status_code, reply.json()["code"]) == (status, code)


def estimate(api, *panels, **fields):
    sets = [{"lab_test_ids": [str(one.pk) for one in held]} for held in panels]
    body = {"order_sets": sets, "modality": "walk_in_test", "us_state": "AZ"}
    return api.post(ESTIMATE, body | fields)


def test_order_sets_are_priced_from_the_catalogue(alice_api, alice_tenant, lab):
    one, two = (make_marker(lab=lab, price=Decimal(x)) for x in ("12.35", "20.10"))
    unpriced = make_marker(lab=lab, price=None)
    free = make_marker(lab=lab, price=Decimal())
    cheap, both, open_, gratis = (
        make_lab_test(tenant=alice_tenant, lab=lab, markers=markers, price=price)
        for markers, price in (
            ((one, two), Decimal("30.00")),  # below the sum: its own price
            ((one,), Decimal("12.35")),
            ((two, unpriced), Decimal("20.10")),  # counts the unknown as 0
            ((free,), Decimal()),
        )
    )
    kept = holdings(alice_tenant)

    reply = estimate(alice_api, (cheap,), (cheap, both), (open_,), (gratis,))

    cost = [{"base_amount_minor": amount} for amount in (1235, 2010)]
    unknown = {"unspecified": "refer_to_contract"}
    assert reply.json()["currency"] == "USD"
    pair = {str(one.pk): cost[0], str(two.pk): cost[1]}
    assert [priced["components"] for priced in reply.json()["data"]] == [
        [{"id": "lab_charge", "pricing": pricing, "marker_breakdown": markers}]
        for pricing, markers in (
            ({"base_amount_minor": 3000}, pair),
            ({"base_amount_minor": 3245}, pair),
            (unknown, {str(two.pk): cost[1], str(unpriced.pk): unknown}),
            ({"base_amount_minor": 0}, {str(free.pk): {"base_amount_minor": 0}}),
        )
    ]
    assert [priced["aggregate_pricing"] for priced in reply.json()["data"]] == [
        priced["components"][0]["pricing"] for priced in reply.json()["data"]
    ]
    check_answer(reply, "post", ESTIMATE)
    assert holdings(alice_tenant) == kept


@pytest.mark.parametrize(
    ("method", "billing", "lab_price", "charge"),
    [
        ("testkit", "client_bill", {"base_amount_minor": 1000}, "delivered_kit_charge"),
        (
            *("at_home_phlebotomy", "client_bill", {"base_amount_minor": 1000}),
            "mobile_phlebotomy_charge",
        ),
        ("walk_in_test", "patient_bill", {"unspecified": "price_unavailable"}, None),
    ],
)
def test_a_charge_without_a_price_leaves_the_whole_unknown(
    alice_api, alice_tenant, lab, method, billing, lab_price, charge
):
    marker = make_marker(lab=lab, price=Decimal(10))
    panel = make_lab_test(
        tenant=alice_tenant,
        lab=lab,
        markers=(marker,),
        method=method,
        price=marker.price,
    )

    reply = estimate(alice_api, (panel,), modality=method, billing=billing)

    (priced,) = reply.json()["data"]
    unknown = {"unspecified": "price_unavailable"}
    assert priced["aggregate_pricing"] == unknown
    assert priced["components"][0]["pricing"] == lab_price
    assert priced["components"][0]["marker_breakdown"] == {str(marker.pk): lab_price}
    assert priced["components"][1:] == (
        [{"id": charge, "pricing": unknown}] if charge else []
    )


def test_what_could_not_be_ordered_is_not_priced(
    alice_api, alice_tenant, charlie_tenant, lab
):
    panel = make_lab_test(tenant=alice_tenant, lab=lab)
    theirs = make_lab_test(tenant=charlie_tenant, lab=lab)
    archived = make_lab_test(
        tenant=alice_tenant, lab=lab, status=LabTestStatus.INACTIVE
    )

    for held, fields, code in (
        ((theirs,), {}, "lab_test_not_found"),
        ((archived,), {}, "lab_test_not_active"),
        ((panel,), {"modality": "testkit"}, "collection_method_mismatch"),
        ((), {}, "order_set_empty"),
    ):
        assert estimate(alice_api, held, **fields).json()["code"] == code
    refused: tuple[tuple[dict[str, object], list[str]], ...] = (
        ({"us_state": "XX"}, ["body", "us_state"]),
        ({"modality": "post"}, ["body", "modality"]),
        ({"order_sets": []}, ["body", "order_sets"]),
        ({"order_sets": [{}] * 21}, ["body", "order_sets"]),
    )
    for invalid, where in refused:
        reply = estimate(alice_api, (panel,), **invalid)
        assert [place for place, _ in error_lines(reply)] == [where]


def test_a_marker_is_read_by_its_labs_code(alice_api, alice_tenant, lab):
    marker = make_marker(lab=lab, provider_id="A-1")
    account = make_lab_account(tenant=alice_tenant, lab=make_lab())
    path = f"{PANELS}/{lab.pk}/markers"

    reply = alice_api.get(f"{path}/A-1")

    assert reply.json()["id"] == marker.pk
    assert "expected_results" not in reply.json()
    check_answer(reply, "get", "/v3/lab_tests/{lab_id}/markers/{provider_id}")
    for missing in (f"{path}/A-2", f"{path}/A-1?lab_account_id={account.pk}"):
        assert alice_api.get(missing).json()["code"] == "marker_not_found"
    assert error_lines(alice_api.get(f"{PANELS}/x/markers/A-1")) == [
        (["path", "lab_id"], "int_parsing")
    ]


def test_labs_and_markers_need_a_key():
    for path in ("/v3/lab_tests/labs", MARKERS, f"{PANELS}/1/markers/6399"):
        assert ApiClient().get(path).status_code == 401


# Panels


def test_a_panel_is_read_whole(alice_api, alice_tenant, lab):
    markers = (
        make_marker(lab=lab, common_tat_days=1, worst_case_tat_days=9),
        make_marker(lab=lab, common_tat_days=4, worst_case_tat_days=None),
    )
    panel = make_lab_test(tenant=alice_tenant, lab=lab, markers=markers)

    reply = alice_api.get(f"{PANELS}/{panel.pk}")

    answer = reply.json()
    assert (answer["lab"]["slug"], answer["price"]) == (lab.slug, 40.0)
    assert [marker["id"] for marker in answer["markers"]] == [m.pk for m in markers]
    assert (answer["common_tat_days"], answer["worst_case_tat_days"]) == (4, 9)
    assert (answer["is_active"], answer["status"]) == (True, "active")
    check_answer(reply, "get", "/v3/lab_tests/{lab_test_id}")


def test_a_panel_of_another_lab_than_the_accounts_is_not_found(
    alice_api, alice_tenant, lab
):
    account = make_lab_account(tenant=alice_tenant, lab=lab)
    ours = make_lab_test(tenant=alice_tenant, lab=lab)
    other = make_lab_test(tenant=alice_tenant)

    for panel, status in ((ours, 200), (other, 404)):
        path = f"{PANELS}/{panel.pk}?lab_account_id={account.pk}"
        assert alice_api.get(path).status_code == status


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("", [["Panel 0", "Panel 1", "Panel 2"]]),
        ("lab_test_limit=3", [["Panel 0", "Panel 1", "Panel 2"]]),
        ("lab_test_limit=2", [["Panel 0", "Panel 1"], ["Panel 2"]]),
        (
            "lab_test_limit=1&order_direction=desc",
            [["Panel 2"], ["Panel 1"], ["Panel 0"]],
        ),
        (
            "lab_test_limit=2&order_key=updated_at",
            [["Panel 0", "Panel 1"], ["Panel 2"]],
        ),
    ],
)
def test_a_cursor_goes_through_all_panels(alice_api, own_panels, query, pages):
    assert walk(alice_api, query) == pages


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_panels_of_one_price_come_once_each(alice_api, own_panels, direction):
    pages = walk(
        alice_api, f"lab_test_limit=1&order_key=price&order_direction={direction}"
    )

    dear, *cheap = sorted(own_panels, key=lambda panel: (-panel.price, panel.pk))
    rising = [panel.name for panel in (*cheap, dear)]
    expected = rising if direction == "asc" else rising[::-1]
    assert pages == [[name] for name in expected]


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "é",
        forge("created_at", "asc"),
        forge("created_at", "asc", 1, NOBODY),
        forge("created_at", "asc", "x", NOBODY),
        forge("created_at", "asc", "2026-01-01T00:00:00", NOBODY),
        forge("created_at", "asc", "2026-01-01T00:00:00+00:00", "x"),
        forge("created_at", "desc", "2026-01-01T00:00:00+00:00", NOBODY),
        forge("price", "asc", "1", NOBODY),
    ],
)
def test_a_cursor_of_another_list_is_refused(alice_api, cursor):
    reply = alice_api.get(LIST, {"next_cursor": cursor})

    assert error_lines(reply) == [(["query", "next_cursor"], "value_error")]


@pytest.mark.parametrize("price", ["x", "NaN", "Infinity"])
def test_a_cursor_without_a_price_is_refused(alice_api, price):
    cursor = forge("price", "asc", price, NOBODY)

    reply = alice_api.get(f"{LIST}?order_key=price&next_cursor={cursor}")

    assert error_lines(reply) == [(["query", "next_cursor"], "value_error")]


def test_panels_are_filtered_by_every_filter(alice_api, alice_tenant, own_panels, lab):
    markers = (make_marker(lab=lab), make_marker(lab=lab, provider_id="B2"))
    mine = make_lab_test(
        tenant=alice_tenant,
        lab=lab,
        markers=markers,
        name="Kidneys",
        method=CollectionMethod.TESTKIT,
        status=LabTestStatus.PENDING_APPROVAL,
    )
    make_lab_test(tenant=alice_tenant, name="Auto", generation=Generation.AUTO)
    account = make_lab_account(tenant=alice_tenant, lab=lab)
    both = "&".join(f"marker_ids={marker.pk}" for marker in markers)
    stray = make_marker(lab=lab)

    def found(query):
        return names(alice_api.get(f"{LIST}?{query}"))

    for query in (
        f"lab_slug={lab.slug}",
        f"lab_account_id={account.pk}",
        "collection_method=testkit",
        "status=pending_approval",
        both,
        "provider_ids=B2",
        f"provider_ids=B2&provider_ids={markers[0].provider_id}",
        "name=DNEY",
    ):
        assert found(query) == [mine.name], query
    assert found(f"{both}&marker_ids={stray.pk}") == []
    assert found("lab_slug=nowhere") == []
    assert found("generation_method=auto") == ["Auto"]
    assert len(found("generation_method=all")) == 5
    assert len(found("")) == 4


def test_panels_tell_their_prices_when_asked(alice_api, own_panels):
    reply = alice_api.get(f"{LIST}?include_pricing=true&lab_test_limit=1")

    assert reply.json()["pricing"] == {
        "currency": "USD",
        "data": {str(own_panels[0].pk): {"pricing": {"base_amount_minor": 3000}}},
    }
    check_answer(reply, "get", LIST)


def test_a_panel_with_a_marker_of_unknown_price_has_none(alice_api, alice_tenant):
    lab = make_lab()
    priced, unpriced = make_marker(lab=lab), make_marker(lab=lab, price=None)
    markers = (priced, unpriced)
    panels = {
        price: make_lab_test(tenant=alice_tenant, lab=lab, markers=markers, price=price)
        for price in ("0.00", "12.50", "80.00")
    }
    free = make_lab_test(tenant=alice_tenant, lab=lab, markers=(unpriced,), price="0")

    reply = alice_api.get(f"{LIST}?include_pricing=true")

    answers = reply.json()["pricing"]["data"]
    unknown = {"unspecified": "refer_to_contract"}
    # 12.50 is what the other marker costs; 80.00 is the panel's own price.
    assert answers[str(panels["12.50"].pk)]["pricing"] == unknown
    assert answers[str(free.pk)]["pricing"] == unknown
    assert answers[str(panels["80.00"].pk)]["pricing"] == {"base_amount_minor": 8000}
    assert answers[str(panels["0.00"].pk)]["pricing"] == {"base_amount_minor": 0}
    check_answer(reply, "get", LIST)


@pytest.mark.parametrize("limit", ["0", "501", "x"])
def test_a_limit_out_of_bounds_is_refused(alice_api, limit):
    reply = alice_api.get(f"{LIST}?lab_test_limit={limit}")

    assert [loc for loc, _ in error_lines(reply)] == [["query", "lab_test_limit"]]


def test_the_deprecated_list_says_what_follows_it(alice_api, own_panels):
    reply = alice_api.get(f"{PANELS}?order_direction=desc")

    assert [panel["name"] for panel in reply.json()] == [
        "Panel 2",
        "Panel 1",
        "Panel 0",
    ]
    assert reply["Deprecation"] == "@1793491200"
    assert reply["Sunset"] == "Mon, 01 Nov 2027 00:00:00 GMT"
    assert reply["Link"] == '</v3/lab_test>; rel="successor-version"'
    check_answer(reply, "get", PANELS)


@pytest.mark.parametrize("path", [LIST, PANELS, MARKERS])
def test_a_list_takes_as_many_queries_for_fifty_as_for_one(
    alice_api, alice_tenant, own_panels, path
):
    def queries():
        with CaptureQueriesContext(connection) as caught:
            assert alice_api.get(path).status_code == 200
        return len(caught)

    queries()  # the key is looked up the first time
    one = queries()
    lab = make_lab()
    markers = tuple(make_marker(lab=lab) for _ in range(5))
    for _ in range(50):
        make_lab_test(tenant=alice_tenant, lab=lab, markers=markers)

    assert queries() == one
    assert one == {LIST: 2, PANELS: 2, MARKERS: 3}[path]


# Making and changing


def test_a_made_panel_waits_for_approval(alice_api, alice_tenant, lab):
    marker = make_marker(lab=lab)

    reply = alice_api.post(
        PANELS,
        {
            "name": "Ours",
            "method": "walk_in_test",
            "description": "",
            "marker_ids": [marker.pk],
            "provider_ids": None,
        },
    )

    answer = reply.json()
    assert reply.status_code == 200
    assert (answer["status"], answer["is_active"]) == ("pending_approval", False)
    assert answer["price"] == 12.5
    assert LabTest.objects.for_tenant(alice_tenant).filter(pk=answer["id"]).exists()
    check_answer(reply, "post", PANELS)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"marker_ids": None}, (["body", "marker_ids"], "missing")),
        ({"provider_ids": ["1"]}, (["body", "marker_ids"], "value_error")),
        (
            {"marker_ids": None, "provider_ids": ["1"]},
            (["body", "lab_slug"], "missing"),
        ),
        ({"method": "by post"}, (["body", "method"], "enum")),
        ({"name": None}, (["body", "name"], "missing")),
        ({"description": None}, (["body", "description"], "missing")),
        ({"fasting": "yes"}, (["body", "fasting"], "bool_parsing")),
        ({"marker_ids": ["1"]}, (["body", "marker_ids", 0], "int_parsing")),
    ],
)
def test_a_body_that_can_not_be_read_is_refused(alice_api, alice_tenant, change, line):
    body = {"name": "Ours", "method": "walk_in_test", "description": "d"}
    before = holdings(alice_tenant)

    reply = alice_api.post(PANELS, {**body, "marker_ids": [1001], **change})

    assert error_lines(reply) == [line]
    assert holdings(alice_tenant) == before


def test_a_patch_renames_archives_and_brings_back(alice_api, alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, status=LabTestStatus.PENDING_APPROVAL)
    path = f"{PANELS}/{panel.pk}"

    archived = alice_api.patch(path, {"name": "New", "active": False})
    again = alice_api.patch(path, {"name": None, "active": False})
    back = alice_api.patch(path, {"active": True})

    states = [(r.json()["name"], r.json()["status"]) for r in (archived, again, back)]
    assert states == [
        ("New", "inactive"),
        ("New", "inactive"),
        ("New", "pending_approval"),
    ]
    check_answer(back, "patch", "/v3/lab_tests/{lab_test_id}")


def test_a_nameless_panel_is_refused(alice_api, alice_tenant):
    panel = make_lab_test(tenant=alice_tenant)
    before = holdings(alice_tenant)

    reply = alice_api.patch(f"{PANELS}/{panel.pk}", {"name": " ", "active": False})

    assert reply.status_code == 400
    assert reply.json()["code"] == "name_missing"
    assert holdings(alice_tenant) == before
