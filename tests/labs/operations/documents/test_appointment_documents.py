from __future__ import annotations

import pytest

from labs.operations.appointments.booking import request_home_appointment
from labs.operations.documents.appointment_documents import (
    format_opening_hours,
    render_appointment_sheet,
    render_calendar_entry,
)
from labs.queries.orders.orders import get_order_with_details
from labs.states.catalogue import CollectionMethod
from labs.states.service_centers import parse_opening_hours
from portal.lib.errors import NotFound
from tests.factories.accounts import ACTOR
from tests.factories.appointments import (
    HOME,
    booking_lab,
    make_appointment,
    make_bookable_order,
)
from tests.factories.labs import make_lab_test, make_order
from tests.labs.printed import pages_of


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "mon-fri 06:30-12:00 12:30-15:30; sat 07:00-11:00",
            [
                ("Monday to Friday", "06:30 to 12:00, 12:30 to 15:30"),
                ("Saturday", "07:00 to 11:00"),
            ],
        ),
        (
            "mon-fri 07:00-12:00; wed",
            [
                ("Monday to Tuesday", "07:00 to 12:00"),
                ("Thursday to Friday", "07:00 to 12:00"),
            ],
        ),
    ],
)
def test_days_that_are_alike_stand_together(written, said):
    assert format_opening_hours(parse_opening_hours(written)) == said


@pytest.mark.django_db
def test_before_the_requisition_the_sheet_stands_alone_and_says_so(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, lab=booking_lab())
    order = make_order(tenant=alice_tenant, lab_test=panel)
    visit = make_appointment(order=order)
    order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)

    paper = render_appointment_sheet(order=order, appointment=visit)

    (page,) = pages_of(paper.body)
    assert paper.name == f"visit-{str(order.pk)[:8]}.pdf"
    assert "NOT CONFIRMED YET" in page


@pytest.mark.django_db
@pytest.mark.parametrize("draw", [render_appointment_sheet, render_calendar_entry])
def test_a_visit_without_a_time_has_no_paper(alice_tenant, draw):
    order = make_bookable_order(
        tenant=alice_tenant, method=CollectionMethod.AT_HOME_PHLEBOTOMY
    )
    visit = request_home_appointment(
        order=order,
        actor=ACTOR,
        provider="phlebfinders",
        address={**HOME, "zip_code": "54650"},
    )
    order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)

    with pytest.raises(NotFound) as refused:
        draw(order=order, appointment=visit)

    assert refused.value.code == "visit_without_time"
