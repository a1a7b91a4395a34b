"""The resource types that are served, by name; a new one is copied from a neighbour."""

from __future__ import annotations

from exchange.resources.appointment import APPOINTMENT
from exchange.resources.base import ResourceType
from exchange.resources.device import DEVICE
from exchange.resources.diagnostic_report import DIAGNOSTIC_REPORT
from exchange.resources.document_reference import DOCUMENT_REFERENCE
from exchange.resources.observation import OBSERVATION
from exchange.resources.organization import ORGANIZATION
from exchange.resources.patient import PATIENT
from exchange.resources.provenance import PROVENANCE
from exchange.resources.service_request import SERVICE_REQUEST
from exchange.resources.specimen import SPECIMEN

RESOURCE_TYPES: dict[str, ResourceType] = {
    resource.name: resource
    for resource in (
        PATIENT,
        OBSERVATION,
        DIAGNOSTIC_REPORT,
        SERVICE_REQUEST,
        SPECIMEN,
        APPOINTMENT,
        DEVICE,
        DOCUMENT_REFERENCE,
        PROVENANCE,
        ORGANIZATION,
    )
}

__all__ = ["RESOURCE_TYPES", "ResourceType"]
