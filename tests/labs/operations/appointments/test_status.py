from __future__ import annotations

from functools import partial

import pytest

from labs.models import Appointment, AppointmentEvent
from labs.operations.appointments.status import change_appointment_status
from labs.operations.order_status.status import lock_order
from labs.states.appointments import APPOINTMENT_MOVES, AppointmentStatus
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.appointments import make_appointment, make_bookable_order
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


def test_a_visit_takes_the_moves_of_the_table_and_no_other(alice_tenant):
    visit = make_appointment(order=make_bookable_order(tenant=alice_tenant))
    rows = Appointment.objects.for_tenant(alice_tenant)
    moved = []
    for old in AppointmentStatus:
        for new in AppointmentStatus:
            rows.update(status=old)
            found = rows.get(pk=visit.pk)
            before = AppointmentEvent.unscoped.count(), len(emitted_types(alice_tenant))
            move = partial(
                change_appointment_status,
                appointment=found,
                order=lock_order(visit.order),
                actor=ACTOR,
                to=new,
                verb="test",
                data={},
            )
            if APPOINTMENT_MOVES.allows(old, new):
                move()
                assert rows.get(pk=visit.pk).status == new
                moved.append((old, new))
                continue
            with pytest.raises(DomainError) as refused:
                move()
            now = AppointmentEvent.unscoped.count(), len(emitted_types(alice_tenant))
            kept = rows.get(pk=visit.pk).status
            assert (refused.value.code, kept, now) == (
                *("transition_not_allowed", old, before),
            )

    assert len(moved) == 11


def test_a_visit_that_somebody_else_moved_meanwhile_is_refused(alice_tenant):
    visit = make_appointment(order=make_bookable_order(tenant=alice_tenant))
    Appointment.objects.for_tenant(alice_tenant).update(status="cancelled")

    with pytest.raises(DomainError) as refused:
        change_appointment_status(
            appointment=visit,
            order=lock_order(visit.order),
            actor=ACTOR,
            to=AppointmentStatus.COMPLETED,
            verb="test",
            data={},
        )

    assert refused.value.code == "transition_not_allowed"
