"""Which lab, and which provider of visits, an environment talks to.

Must not be here: any gateway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from labs.gateways.booking_directory import DirectoryBooking
from labs.gateways.booking_sandbox import SandboxBooking
from labs.gateways.hl7.lab import Hl7FileDrop
from labs.gateways.sandbox import SandboxLab

if TYPE_CHECKING:
    from collections.abc import Callable

    from accounts.models import Tenant
    from labs.gateways.base import LabGateway
    from labs.gateways.booking import BookingGateway

SANDBOX = "sandbox"
GATEWAYS: dict[str, Callable[[], LabGateway]] = {
    SANDBOX: SandboxLab,
    "hl7": Hl7FileDrop,
}


def lab_gateway_of(tenant: Tenant) -> LabGateway:
    """The sandbox lab in a sandbox; in production what LAB_GATEWAY names."""
    return GATEWAYS[SANDBOX if tenant.is_sandbox else settings.LAB_GATEWAY]()


def booking_gateway_of(tenant: Tenant) -> BookingGateway:
    """The sandbox's provider in a sandbox; in production the directory's own book.

    Source: Ours: a provider's interface takes its place here once there is one.
    """
    return SandboxBooking() if tenant.is_sandbox else DirectoryBooking()
