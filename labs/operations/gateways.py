"""Choice of the lab gateway and booking gateway of an environment."""

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


def get_lab_gateway(tenant: Tenant) -> LabGateway:
    """Return the sandbox lab in a sandbox, else the one LAB_GATEWAY names."""
    return GATEWAYS[SANDBOX if tenant.is_sandbox else settings.LAB_GATEWAY]()


def get_booking_gateway(tenant: Tenant) -> BookingGateway:
    """Return the sandbox provider in a sandbox, else the built-in directory.

    Source: Ours: a provider's interface takes its place here once there is one.
    """
    return SandboxBooking() if tenant.is_sandbox else DirectoryBooking()
