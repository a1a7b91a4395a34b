"""What moves a production order into each status."""

from __future__ import annotations

from labs.states.catalogue import CollectionMethod
from labs.states.orders import build_order_status
from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy


class Driver(OpenChoices):
    """How a status of an order is reached outside simulation (contract 6.12)."""

    PLACED = "placed", gettext_lazy("Order placed: API or page")
    IMPORTED = "imported", gettext_lazy("Order imported: API or page")
    KIT_ORDERED = "kit_ordered", gettext_lazy("Kit ordered to register later: API")
    REQUISITION = "requisition", gettext_lazy("Requisition created: background job")
    REGISTERED = "registered", gettext_lazy("Kit registered: API or page")
    BOOKED = "booked", gettext_lazy("Visit booked, requested or confirmed: API or page")
    VISIT_CANCELLED = (
        "visit_cancelled",
        gettext_lazy("Visit cancelled: API, page or provider"),
    )
    DRAWN = "drawn", gettext_lazy("Sample collected: API or page")
    VISIT_COMPLETED = "visit_completed", gettext_lazy("Visit completed: page")
    SHIPPED = (
        "shipped",
        gettext_lazy("Shipment event: API, courier webhook, CSV file or page"),
    )
    LAB_STEP = "lab_step", gettext_lazy("Step reported by the lab: page")
    RESULTS = "results", gettext_lazy("Results of the lab")
    CANCELLED = "cancelled", gettext_lazy("Order cancelled: API or page")


_D = Driver
_EVERYWHERE: dict[str, tuple[Driver, ...]] = {
    "ordered": (_D.PLACED, _D.IMPORTED),
    "requisition_created": (_D.REQUISITION,),
    "requisition_bypassed": (_D.IMPORTED,),
    "completed": (_D.RESULTS,),
    "corrected": (_D.RESULTS,),
    "sample_error": (_D.LAB_STEP,),
    "cancelled": (_D.CANCELLED,),
}
_VISITS: dict[str, tuple[Driver, ...]] = {
    "appointment_pending": (_D.BOOKED,),
    "appointment_scheduled": (_D.BOOKED,),
    "appointment_cancelled": (_D.VISIT_CANCELLED,),
    "partial_results": (_D.RESULTS,),
}
_BY_METHOD: dict[CollectionMethod, dict[str, tuple[Driver, ...]]] = {
    CollectionMethod.WALK_IN_TEST: {**_VISITS, "redraw_available": (_D.LAB_STEP,)},
    CollectionMethod.AT_HOME_PHLEBOTOMY: {
        **_VISITS,
        "draw_completed": (_D.VISIT_COMPLETED, _D.RESULTS),
    },
    CollectionMethod.ON_SITE_COLLECTION: {
        "draw_completed": (_D.DRAWN, _D.RESULTS),
        "partial_results": (_D.RESULTS,),
    },
    CollectionMethod.TESTKIT: {
        "awaiting_registration": (_D.KIT_ORDERED,),
        "registered": (_D.REGISTERED,),
        "transit_customer": (_D.SHIPPED,),
        "out_for_delivery": (_D.SHIPPED,),
        "with_customer": (_D.SHIPPED,),
        "problem_in_transit_customer": (_D.SHIPPED,),
        "failure_to_deliver_to_customer": (_D.SHIPPED,),
        "transit_lab": (_D.SHIPPED,),
        "problem_in_transit_lab": (_D.SHIPPED,),
        "failure_to_deliver_to_lab": (_D.SHIPPED,),
        "delivered_to_lab": (_D.SHIPPED, _D.RESULTS),
        "lost": (_D.SHIPPED,),
        "lab_processing_blocked": (_D.LAB_STEP,),
        "do_not_process": (_D.LAB_STEP,),
    },
}
# Every status, and what moves an order into it in production; none is sandbox only.
ORDER_DRIVERS: dict[str, tuple[Driver, ...]] = {
    build_order_status(method, low): drivers
    for method, own in _BY_METHOD.items()
    for low, drivers in (_EVERYWHERE | own).items()
}
