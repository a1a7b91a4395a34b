"""URL paths below /v3/, in the order of contract 6, literals first."""

from __future__ import annotations

from labs.api.v3.appointments.views import (
    CenterAppointmentView,
    CenterAvailabilityView,
    CenterBookingView,
    CenterCancellationView,
    CenterReasonsView,
    CenterReschedulingView,
    HomeAppointmentView,
    HomeAvailabilityView,
    HomeBookingView,
    HomeCancellationView,
    HomeReasonsView,
    HomeRequestView,
    HomeReschedulingView,
)
from labs.api.v3.catalogue.account_views import LabAccountsView
from labs.api.v3.catalogue.views import (
    LabMarkerView,
    LabsView,
    LabTestListView,
    LabTestsView,
    LabTestView,
    MarkersView,
    OrderSetPricesView,
    PanelMarkersView,
    SetMarkersView,
)
from labs.api.v3.compendium.views import (
    CompendiumConvertView,
    CompendiumSearchView,
    OrderableTestsView,
)
from labs.api.v3.documents import (
    AbnPdfView,
    LabelsPdfView,
    OrderInstructionsPdfView,
    OrderResultPdfView,
    PanelInstructionsPdfView,
    RequisitionPdfView,
    TransactionResultPdfView,
)
from labs.api.v3.insurance.views import (
    DiagnosisCheckView,
    DiagnosisSearchView,
    PayorSearchView,
    PayorsView,
)
from labs.api.v3.orders.communication import OrderCommunicationView
from labs.api.v3.orders.replacements import OrderReplaceKitView
from labs.api.v3.orders.shipments import OrderShipmentEventsView
from labs.api.v3.orders.tracking import OrderTrackingView
from labs.api.v3.orders.views import (
    KitOrdersView,
    KitRegistrationView,
    OrderCancelView,
    OrderCreateView,
    OrderDrawView,
    OrderImportView,
    OrderListView,
    OrderRecreateView,
    OrderResendView,
    OrderSimulationView,
    OrdersView,
    OrderTransactionView,
    OrderView,
)
from labs.api.v3.results.views import (
    OrderResultMetadataView,
    OrderResultView,
    TransactionResultView,
)
from labs.api.v3.service_centers.views import (
    AreaView,
    CentersNearOrderView,
    CentersView,
)
from labs.api.v3.unmatched_results.views import (
    UnmatchedResultAcceptView,
    UnmatchedResultListView,
    UnmatchedResultResolveView,
    UnmatchedResultView,
)
from portal.lib.api.views import mount_api_view

urlpatterns = [
    mount_api_view("lab_test", LabTestListView, "api-lab-test-list"),
    mount_api_view(
        "lab_test/estimate_order_set_pricing",
        OrderSetPricesView,
        "api-order-set-prices",
    ),
    mount_api_view("lab_test/lab_account", LabAccountsView, "api-lab-accounts"),
    mount_api_view(
        "lab_test/<lab_test_id>/collection_instruction_pdf",
        PanelInstructionsPdfView,
        "api-lab-test-instructions",
    ),
    mount_api_view("lab_tests", LabTestsView, "api-lab-tests"),
    mount_api_view("lab_tests/labs", LabsView, "api-labs"),
    mount_api_view("lab_tests/markers", MarkersView, "api-markers"),
    mount_api_view(
        "lab_tests/list_order_set_markers", SetMarkersView, "api-set-markers"
    ),
    mount_api_view("lab_tests/<lab_test_id>", LabTestView, "api-lab-test"),
    mount_api_view(
        "lab_tests/<lab_test_id>/markers", PanelMarkersView, "api-lab-test-markers"
    ),
    mount_api_view(
        "lab_tests/<lab_id>/markers/<provider_id>", LabMarkerView, "api-lab-marker"
    ),
    mount_api_view("compendium/search", CompendiumSearchView, "api-compendium-search"),
    mount_api_view(
        "compendium/convert", CompendiumConvertView, "api-compendium-convert"
    ),
    mount_api_view(
        "compendium/search_orderable_tests",
        OrderableTestsView,
        "api-compendium-orderable",
    ),
    mount_api_view("order", OrdersView, "api-orders-create"),
    mount_api_view("order/create", OrderCreateView, "api-order-create"),
    mount_api_view("order/import", OrderImportView, "api-order-import"),
    mount_api_view("order/resend_events", OrderResendView, "api-order-resend"),
    mount_api_view("order/testkit", KitOrdersView, "api-order-testkit"),
    mount_api_view(
        "order/testkit/register", KitRegistrationView, "api-testkit-register"
    ),
    mount_api_view("order/psc/info", CentersView, "api-psc-info"),
    mount_api_view("order/area/info", AreaView, "api-area-info"),
    mount_api_view(
        "order/psc/appointment/availability", CenterAvailabilityView, "api-psc-slots"
    ),
    mount_api_view(
        "order/phlebotomy/appointment/availability",
        HomeAvailabilityView,
        "api-phlebotomy-slots",
    ),
    mount_api_view(
        "order/psc/appointment/cancellation-reasons",
        CenterReasonsView,
        "api-psc-reasons",
    ),
    mount_api_view(
        "order/phlebotomy/appointment/cancellation-reasons",
        HomeReasonsView,
        "api-phlebotomy-reasons",
    ),
    mount_api_view("orders", OrderListView, "api-orders"),
    mount_api_view("order/<order_id>", OrderView, "api-order"),
    mount_api_view(
        "order/<order_id>/communication_settings",
        OrderCommunicationView,
        "api-order-communication",
    ),
    mount_api_view("order/<order_id>/cancel", OrderCancelView, "api-order-cancel"),
    mount_api_view(
        "order/<order_id>/recreate", OrderRecreateView, "api-order-recreate"
    ),
    mount_api_view(
        "order/<order_id>/replace_kit", OrderReplaceKitView, "api-order-replace-kit"
    ),
    mount_api_view("order/<order_id>/test", OrderSimulationView, "api-order-test"),
    mount_api_view("order/<order_id>/draw_completed", OrderDrawView, "api-order-draw"),
    mount_api_view(
        "order/<order_id>/shipment_events",
        OrderShipmentEventsView,
        "api-order-shipment-events",
    ),
    mount_api_view(
        "order/<order_id>/tracking", OrderTrackingView, "api-order-tracking"
    ),
    mount_api_view("order/<order_id>/result", OrderResultView, "api-order-result"),
    mount_api_view(
        "order/<order_id>/result/metadata",
        OrderResultMetadataView,
        "api-order-result-metadata",
    ),
    mount_api_view("order/<order_id>/result/pdf", OrderResultPdfView, "api-result-pdf"),
    mount_api_view(
        "order/<order_id>/requisition/pdf", RequisitionPdfView, "api-requisition-pdf"
    ),
    mount_api_view("order/<order_id>/labels/pdf", LabelsPdfView, "api-labels-pdf"),
    mount_api_view(
        "order/<order_id>/collection_instruction_pdf",
        OrderInstructionsPdfView,
        "api-order-instructions",
    ),
    mount_api_view(
        "order/<order_id>/psc/info", CentersNearOrderView, "api-order-psc-info"
    ),
    mount_api_view(
        "order/<order_id>/psc/appointment",
        CenterAppointmentView,
        "api-psc-appointment",
    ),
    mount_api_view(
        "order/<order_id>/psc/appointment/book",
        CenterBookingView,
        "api-psc-appointment-book",
    ),
    mount_api_view(
        "order/<order_id>/psc/appointment/reschedule",
        CenterReschedulingView,
        "api-psc-appointment-reschedule",
    ),
    mount_api_view(
        "order/<order_id>/psc/appointment/cancel",
        CenterCancellationView,
        "api-psc-appointment-cancel",
    ),
    mount_api_view(
        "order/<order_id>/phlebotomy/appointment",
        HomeAppointmentView,
        "api-phlebotomy-appointment",
    ),
    mount_api_view(
        "order/<order_id>/phlebotomy/appointment/book",
        HomeBookingView,
        "api-phlebotomy-appointment-book",
    ),
    mount_api_view(
        "order/<order_id>/phlebotomy/appointment/request",
        HomeRequestView,
        "api-phlebotomy-appointment-request",
    ),
    mount_api_view(
        "order/<order_id>/phlebotomy/appointment/reschedule",
        HomeReschedulingView,
        "api-phlebotomy-appointment-reschedule",
    ),
    mount_api_view(
        "order/<order_id>/phlebotomy/appointment/cancel",
        HomeCancellationView,
        "api-phlebotomy-appointment-cancel",
    ),
    mount_api_view("order/<order_id>/abn_pdf", AbnPdfView, "api-abn-pdf"),
    mount_api_view(
        "order_transaction/<transaction_id>",
        OrderTransactionView,
        "api-order-transaction",
    ),
    mount_api_view(
        "order_transaction/<transaction_id>/result",
        TransactionResultView,
        "api-order-transaction-result",
    ),
    mount_api_view(
        "order_transaction/<transaction_id>/result/pdf",
        TransactionResultPdfView,
        "api-order-transaction-result-pdf",
    ),
    mount_api_view(
        "unmatched_result", UnmatchedResultListView, "api-unmatched-results"
    ),
    mount_api_view(
        "unmatched_result/<raw_result_id>", UnmatchedResultView, "api-unmatched-result"
    ),
    mount_api_view(
        "unmatched_result/<raw_result_id>/accept",
        UnmatchedResultAcceptView,
        "api-unmatched-result-accept",
    ),
    mount_api_view(
        "unmatched_result/<raw_result_id>/resolve",
        UnmatchedResultResolveView,
        "api-unmatched-result-resolve",
    ),
    mount_api_view("insurance/search/payor", PayorSearchView, "api-payor-search"),
    mount_api_view("insurance/search/diagnosis", DiagnosisSearchView, "api-diagnoses"),
    mount_api_view("insurance/validate_icd_codes", DiagnosisCheckView, "api-icd-check"),
    mount_api_view("payor", PayorsView, "api-payors"),
]
