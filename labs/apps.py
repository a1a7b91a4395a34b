"""The labs app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import AppConfig, apps
from django.db import DEFAULT_DB_ALIAS

# Reference rows can't be laid by a migration: tests flush them, and files change later.
from django.db.models.signals import post_migrate  # noqa: TID251 - see above

if TYPE_CHECKING:
    from django.apps.registry import Apps

_REFERENCE = ("Lab", "Marker", "ExpectedResult", "LabTest")


class LabsConfig(AppConfig):
    """See the package docstring."""

    name = "labs"

    def ready(self) -> None:
        """Enter the events of orders, what erases them, and what pages show of them."""
        from accounts.webhooks.catalogue import EventType, add_event_type
        from labs.operations.demo import load_demo_accounts
        from labs.operations.demo_inbound import load_demo_messages
        from labs.operations.demo_orders import load_demo_orders
        from labs.operations.demo_visits import load_demo_visits
        from labs.operations.erasure import erase_orders
        from labs.operations.reference import lay_panels
        from labs.payloads import CRITICAL_SCHEMA, ORDER_SCHEMA
        from labs.payloads.appointments import APPOINTMENT_SCHEMA
        from portal.lib.registry import demo_loaders, tenant_layers, user_erasers

        user_erasers.add("labs", erase_orders)
        for what, when in (
            ("created", "An order stands at ordered; data is the order."),
            ("updated", "An order took a later step; data is the order."),
        ):
            add_event_type(EventType(f"labtest.order.{what}", when, ORDER_SCHEMA))
        for what, when in (
            ("created", "A visit was booked or asked for; data is the visit."),
            ("updated", "A visit took a later step; data is the visit."),
        ):
            add_event_type(
                EventType(f"labtest.appointment.{what}", when, APPOINTMENT_SCHEMA)
            )
        when = "A lab reported a critical result; data names its order."
        add_event_type(EventType("labtest.result.critical", when, CRITICAL_SCHEMA))
        tenant_layers.add("labs", lay_panels)
        demo_loaders.add("labs", load_demo_accounts)
        demo_loaders.add("labs:orders", load_demo_orders)  # on those accounts
        demo_loaders.add("labs:sent", load_demo_messages)  # of those orders
        # After the messages, which are of an order without a visit.
        demo_loaders.add("labs:visits", load_demo_visits)
        self._enter_pages()
        self._enter_fates()
        self._enter_ends()
        self._enter_data_classes()
        post_migrate.connect(_lay_reference_set, sender=self)

    def _enter_ends(self) -> None:
        from portal.lib.registry import RowEnd, enter_ends

        catalogue = "with its team: what orders name"
        enter_ends(
            "labs",
            {
                "SandboxVisit": RowEnd("90 days", "labs.forget_sandbox_visits"),
                **dict.fromkeys(("LabAccount", "LabTest", "Payor"), catalogue),
                "UserInsurance": "with its user",
            },
        )

    def _enter_fates(self) -> None:
        from portal.lib.registry import TableFate, enter_fates

        reference = "reference data, the same for all"
        enter_fates(
            "labs",
            {
                "InboundMessage": TableFate(
                    ("order__user__uuid", "reports__order__user__uuid")
                ),
                "ExpectedResult": reference,
                "Lab": reference,
                "Marker": reference,
                "ServiceCenter": reference,
                "LabAccount": "of an organisation",
                "LabAccountTeam": "of an organisation",
                "LabTest": "the catalogue of a team",
                "LabTest_markers": "the catalogue of a team",
                "Payor": "insurers that a team entered",
                "SandboxVisit": "numbers of made-up bookings, no person's",
            },
        )

    def _enter_data_classes(self) -> None:
        from labs.operations.ageing import (
            count_messages,
            count_orders,
            remove_messages,
            remove_orders,
        )
        from portal.lib.registry import DataClass, data_classes

        data_classes.add(
            "lab_messages",
            DataClass(
                rank=40,
                title="Messages of labs",
                says="As they came, once nobody has to look at them. The results that"
                " were read of them stay.",
                tables=("labs.InboundMessage", "labs.InboundReport"),
                count=count_messages,
                remove=remove_messages,
                least_days=90,
            ),
        )
        data_classes.add(
            "orders",
            DataClass(
                rank=70,
                title="Orders and results",
                says="Orders that ended, from their last change on, with results,"
                " visits and papers.",
                tables=(
                    *("labs.Order", "labs.OrderEvent", "labs.OrderTransaction"),
                    *("labs.Shipment", "labs.RequisitionWatch", "labs.PatientNotice"),
                    *("labs.ResultVersion", "labs.Result", "labs.MissingResult"),
                    *("labs.SampleData", "labs.CriticalAlert"),
                    *("labs.Appointment", "labs.AppointmentEvent", "labs.SlotPlace"),
                ),
                count=count_orders,
                remove=remove_orders,
                is_record=True,
            ),
        )

    def _enter_pages(self) -> None:
        from accounts.states import Area
        from labs.queries.person_tests import person_tests_of
        from labs.web import inbound_overview
        from labs.web.overview import critical_nav_count, nav_count, overview_part
        from labs.web.palette import find_orders
        from labs.web.user_column import user_column
        from portal.lib.registry import (
            Destination,
            Search,
            destinations,
            nav_counts,
            overview_parts,
            person_tests,
            searches,
            user_columns,
        )

        area = Area.ORDERS
        overview_parts.add("labs", overview_part)
        overview_parts.add("labs:inbound", inbound_overview.overview_part)
        nav_counts.add("orders", nav_count)
        nav_counts.add("unmatched", inbound_overview.nav_count)
        nav_counts.add("critical", critical_nav_count)
        user_columns.add("labs", user_column)
        person_tests.add("labs", person_tests_of)
        searches.add("orders", Search(20, "Orders", "flask", area, find_orders))
        destinations.add(
            "orders",
            Destination(
                25, "Orders", "flask", "labs:orders", area=area, keeps_views=True
            ),
        )
        destinations.add(
            "orders:attention",
            Destination(
                26,
                "Orders that need attention",
                "alert",
                "labs:orders",
                "tab=attention",
                area=area,
            ),
        )
        destinations.add(
            "visits",
            Destination(27, "Visits", "calendar", "labs:visits", area=Area.BOOKINGS),
        )
        destinations.add(
            "critical",
            Destination(27, "Critical results", "alert", "labs:critical", area=area),
        )
        destinations.add(
            "unmatched",
            Destination(28, "Unmatched results", "vial", "labs:unmatched", area=area),
        )
        destinations.add(
            "orders:place",
            Destination(
                110,
                "New order",
                "plus",
                "labs:place_order",
                area=area,
                write=True,
                is_action=True,
                on_overview=True,
            ),
        )
        destinations.add(
            "orders:import",
            Destination(
                111,
                "Import order",
                "upload",
                "labs:import_order",
                area=area,
                write=True,
                is_action=True,
            ),
        )


def _lay_reference_set(*, using: str, **given: Any) -> None:
    from labs.operations.reference import lay_reference_set

    if using == DEFAULT_DB_ALIAS and _is_migrated(given.get("apps") or apps):
        lay_reference_set()


def _is_migrated(state: Apps) -> bool:
    """Whether the tables are those of the code: migrate may have been told to stop."""
    try:
        return all(_columns(state, name) == _columns(apps, name) for name in _REFERENCE)
    except LookupError:
        return False


def _columns(state: Apps, name: str) -> set[str]:
    fields = state.get_model("labs", name)._meta.local_concrete_fields
    return {field.name for field in fields}
