"""Tables of lab testing: catalog, lab accounts, orders, results, appointments."""

from labs.models.account import LabAccount, LabAccountTeam
from labs.models.appointment import (
    Appointment,
    AppointmentEvent,
    SandboxVisit,
    SlotPlace,
)
from labs.models.calendar_feed import CalendarFeed
from labs.models.catalogue import ExpectedResult, Lab, LabTest, Marker
from labs.models.catalogue_version import (
    CatalogueUpdate,
    LabTestVersion,
    MarkerVersion,
)
from labs.models.connection import Hl7Connection, Hl7OutboundMessage
from labs.models.courier import CourierConnection, CourierMessage
from labs.models.critical import CriticalAlert
from labs.models.inbound import InboundMessage, InboundReport
from labs.models.insurance import DiagnosisCode, ListedPayor, Payor, UserInsurance
from labs.models.kit_stock import KitStock
from labs.models.lab_document import LabDocument
from labs.models.order import Order, OrderEvent, OrderTransaction, Shipment
from labs.models.order_count import OrderCount
from labs.models.patient_notice import PatientNotice
from labs.models.physician import OrderApproval, Physician
from labs.models.requisition_watch import RequisitionWatch
from labs.models.result import MissingResult, Result, ResultVersion, SampleData
from labs.models.result_review import ResultReview
from labs.models.service_center import ServiceCenter
from labs.models.shipment import ShipmentEvent
from labs.models.text_provider import TextProvider

__all__ = [
    "Appointment",
    "AppointmentEvent",
    "CalendarFeed",
    "CatalogueUpdate",
    "CourierConnection",
    "CourierMessage",
    "CriticalAlert",
    "DiagnosisCode",
    "ExpectedResult",
    "Hl7Connection",
    "Hl7OutboundMessage",
    "InboundMessage",
    "InboundReport",
    "KitStock",
    "Lab",
    "LabAccount",
    "LabAccountTeam",
    "LabDocument",
    "LabTest",
    "LabTestVersion",
    "ListedPayor",
    "Marker",
    "MarkerVersion",
    "MissingResult",
    "Order",
    "OrderApproval",
    "OrderCount",
    "OrderEvent",
    "OrderTransaction",
    "PatientNotice",
    "Payor",
    "Physician",
    "RequisitionWatch",
    "Result",
    "ResultReview",
    "ResultVersion",
    "SampleData",
    "SandboxVisit",
    "ServiceCenter",
    "Shipment",
    "ShipmentEvent",
    "SlotPlace",
    "TextProvider",
    "UserInsurance",
]
