"""Documents of patients in their language, and of laboratories in English."""

from __future__ import annotations

import pytest

from labs.operations.documents.appointment_documents import (
    render_appointment_sheet,
    render_calendar_entry,
)
from labs.operations.documents.order_documents import (
    render_order_instructions,
    render_panel_instructions,
)
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from tests.factories.accounts import ACTOR
from tests.factories.appointments import booking_lab, make_appointment
from tests.factories.labs import make_lab_test, make_order
from tests.labs.printed import pages_of
from users.models import User

# What the sheet, the calendar entry and the instructions say in each language.
SHEETS = {
    "en": ("Your visit", "Page 1 of 1", "Where", "Take your usual medicines"),
    "es": ("Su cita", "Página 1 de 1", "Dónde", "Tome sus medicamentos habituales"),
    "de": ("Ihr Termin", "Seite 1 von 1", "Wo", "Nehmen Sie Ihre üblichen Medikamente"),
    "fr": (
        "Votre rendez-vous",
        "Page 1 sur 1",
        "Où",
        "Prenez vos médicaments habituel",
    ),
    "pt-br": (
        "Sua visita",
        "Página 1 de 1",
        "Onde",
        "Tome seus medicamentos habituais",
    ),
}
ENTRIES = {
    "en": ("SUMMARY:Lab visit\\, ", "Local time: "),
    "es": ("SUMMARY:Cita de laboratorio\\, ", "Hora local: "),
    "de": ("SUMMARY:Labortermin\\, ", "Ortszeit: "),
    "fr": ("SUMMARY:Rendez-vous au laboratoire\\, ", "Heure locale\u00a0: "),
    "pt-br": ("SUMMARY:Visita ao laboratório\\, ", "Horário local: "),
}
GUIDES = {
    "en": "How to take your sample",
    "es": "Cómo tomar su muestra",
    "de": "So entnehmen Sie Ihre Probe",
    "fr": "Comment prélever votre échantillon",
    "pt-br": "Como coletar sua amostra",
}


@pytest.mark.django_db
def test_a_patient_s_documents_are_in_the_language_of_the_patient(alice_tenant):
    panel = make_lab_test(
        tenant=alice_tenant,
        lab=booking_lab(),
        fasting=True,
        has_collection_instructions=True,
    )
    order = make_order(tenant=alice_tenant, lab_test=panel)
    visit = make_appointment(order=order)

    for language, guide in GUIDES.items():
        User.objects.for_tenant(alice_tenant).update(language=language)
        fresh = get_order_with_details(tenant=alice_tenant, order_id=order.pk)
        (sheet,) = pages_of(
            render_appointment_sheet(order=fresh, appointment=visit).body
        )
        entry = render_calendar_entry(order=fresh, appointment=visit).body.decode()
        (instructions,) = pages_of(render_order_instructions(fresh).body)

        for text in SHEETS[language]:
            assert text in " ".join(sheet.split()), language
        for text in ENTRIES[language]:
            assert text in entry.replace("\r\n ", ""), language
        assert guide in instructions, language
        assert panel.name in instructions  # as in the catalog

    # A panel has no patient: it is handed out in the team's language for patients.
    alice_tenant.patient_language = "fr"
    (handed,) = pages_of(
        render_panel_instructions(panel=panel, tenant=alice_tenant).body
    )
    assert GUIDES["fr"] in handed


@pytest.mark.django_db
def test_a_requisition_stays_in_english_behind_the_patient_s_sheet(alice_tenant):
    panel = make_lab_test(tenant=alice_tenant, lab=booking_lab(), fasting=True)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    visit = make_appointment(order=order)
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)
    User.objects.for_tenant(alice_tenant).update(language="de")
    fresh = get_order_with_details(tenant=alice_tenant, order_id=order.pk)

    first, second = pages_of(
        render_appointment_sheet(order=fresh, appointment=visit).body
    )

    assert "Ihr Termin" in first
    assert "Collection" in second
    assert "For the patient: Do not eat or drink anything" in " ".join(second.split())
    assert "Page 1 of 1" in second
