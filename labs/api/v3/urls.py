"""URL paths below /v3/, in the order of contract 6, literals first."""

from __future__ import annotations

from labs.api.v3.accounts import LabAccountsView
from labs.api.v3.appointments import (
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
from labs.api.v3.catalogue import (
    LabMarkerView,
    LabsView,
    LabTestListView,
    LabTestsView,
    LabTestView,
    MarkersView,
    PanelMarkersView,
    SetMarkersView,
)
from labs.api.v3.communication import OrderCommunicationView
from labs.api.v3.insurance import (
    DiagnosisCheckView,
    DiagnosisSearchView,
    PayorSearchView,
    PayorsView,
)
from labs.api.v3.orders import (
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
from labs.api.v3.papers import (
    AbnPdfView,
    LabelsPdfView,
    OrderInstructionsPdfView,
    OrderResultPdfView,
    PanelInstructionsPdfView,
    RequisitionPdfView,
    TransactionResultPdfView,
)
from labs.api.v3.results import (
    OrderResultMetadataView,
    OrderResultView,
    TransactionResultView,
)
from labs.api.v3.service_centers import AreaView, CentersNearOrderView, CentersView
from portal.lib.api.views import endpoint

urlpatterns = [
    endpoint("lab_test", LabTestListView, "api-lab-test-list"),
    endpoint("lab_test/lab_account", LabAccountsView, "api-lab-accounts"),
    endpoint(
        "lab_test/<lab_test_id>/collection_instruction_pdf",
        PanelInstructionsPdfView,
        "api-lab-test-instructions",
    ),
    endpoint("lab_tests", LabTestsView, "api-lab-tests"),
    endpoint("lab_tests/labs", LabsView, "api-labs"),
    endpoint("lab_tests/markers", MarkersView, "api-markers"),
    endpoint("lab_tests/list_order_set_markers", SetMarkersView, "api-set-markers"),
    endpoint("lab_tests/<lab_test_id>", LabTestView, "api-lab-test"),
    endpoint(
        "lab_tests/<lab_test_id>/markers", PanelMarkersView, "api-lab-test-markers"
    ),
    endpoint(
        "lab_tests/<lab_id>/markers/<provider_id>", LabMarkerView, "api-lab-marker"
    ),
    endpoint("order", OrdersView, "api-orders-create"),
    endpoint("order/create", OrderCreateView, "api-order-create"),
    endpoint("order/import", OrderImportView, "api-order-import"),
    endpoint("order/resend_events", OrderResendView, "api-order-resend"),
    endpoint("order/testkit", KitOrdersView, "api-order-testkit"),
    endpoint("order/testkit/register", KitRegistrationView, "api-testkit-register"),
    endpoint("order/psc/info", CentersView, "api-psc-info"),
    endpoint("order/area/info", AreaView, "api-area-info"),
    endpoint(
        "order/psc/appointment/availability", CenterAvailabilityView, "api-psc-slots"
    ),
    endpoint(
        "order/phlebotomy/appointment/availability",
        HomeAvailabilityView,
        "api-phlebotomy-slots",
    ),
    endpoint(
        "order/psc/appointment/cancellation-reasons",
        CenterReasonsView,
        "api-psc-reasons",
    ),
    endpoint(
        "order/phlebotomy/appointment/cancellation-reasons",
        HomeReasonsView,
        "api-phlebotomy-reasons",
    ),
    endpoint("orders", OrderListView, "api-orders"),
    endpoint("order/<order_id>", OrderView, "api-order"),
    endpoint(
        "order/<order_id>/communication_settings",
        OrderCommunicationView,
        "api-order-communication",
    ),
    endpoint("order/<order_id>/cancel", OrderCancelView, "api-order-cancel"),
    endpoint("order/<order_id>/recreate", OrderRecreateView, "api-order-recreate"),
    endpoint("order/<order_id>/test", OrderSimulationView, "api-order-test"),
    endpoint("order/<order_id>/draw_completed", OrderDrawView, "api-order-draw"),
    endpoint("order/<order_id>/result", OrderResultView, "api-order-result"),
    endpoint(
        "order/<order_id>/result/metadata",
        OrderResultMetadataView,
        "api-order-result-metadata",
    ),
    endpoint("order/<order_id>/result/pdf", OrderResultPdfView, "api-result-pdf"),
    endpoint(
        "order/<order_id>/requisition/pdf", RequisitionPdfView, "api-requisition-pdf"
    ),
    endpoint("order/<order_id>/labels/pdf", LabelsPdfView, "api-labels-pdf"),
    endpoint(
        "order/<order_id>/collection_instruction_pdf",
        OrderInstructionsPdfView,
        "api-order-instructions",
    ),
    endpoint("order/<order_id>/psc/info", CentersNearOrderView, "api-order-psc-info"),
    endpoint(
        "order/<order_id>/psc/appointment",
        CenterAppointmentView,
        "api-psc-appointment",
    ),
    endpoint(
        "order/<order_id>/psc/appointment/book",
        CenterBookingView,
        "api-psc-appointment-book",
    ),
    endpoint(
        "order/<order_id>/psc/appointment/reschedule",
        CenterReschedulingView,
        "api-psc-appointment-reschedule",
    ),
    endpoint(
        "order/<order_id>/psc/appointment/cancel",
        CenterCancellationView,
        "api-psc-appointment-cancel",
    ),
    endpoint(
        "order/<order_id>/phlebotomy/appointment",
        HomeAppointmentView,
        "api-phlebotomy-appointment",
    ),
    endpoint(
        "order/<order_id>/phlebotomy/appointment/book",
        HomeBookingView,
        "api-phlebotomy-appointment-book",
    ),
    endpoint(
        "order/<order_id>/phlebotomy/appointment/request",
        HomeRequestView,
        "api-phlebotomy-appointment-request",
    ),
    endpoint(
        "order/<order_id>/phlebotomy/appointment/reschedule",
        HomeReschedulingView,
        "api-phlebotomy-appointment-reschedule",
    ),
    endpoint(
        "order/<order_id>/phlebotomy/appointment/cancel",
        HomeCancellationView,
        "api-phlebotomy-appointment-cancel",
    ),
    endpoint("order/<order_id>/abn_pdf", AbnPdfView, "api-abn-pdf"),
    endpoint(
        "order_transaction/<transaction_id>",
        OrderTransactionView,
        "api-order-transaction",
    ),
    endpoint(
        "order_transaction/<transaction_id>/result",
        TransactionResultView,
        "api-order-transaction-result",
    ),
    endpoint(
        "order_transaction/<transaction_id>/result/pdf",
        TransactionResultPdfView,
        "api-order-transaction-result-pdf",
    ),
    endpoint("insurance/search/payor", PayorSearchView, "api-payor-search"),
    endpoint("insurance/search/diagnosis", DiagnosisSearchView, "api-diagnoses"),
    endpoint("insurance/validate_icd_codes", DiagnosisCheckView, "api-icd-check"),
    endpoint("payor", PayorsView, "api-payors"),
]
