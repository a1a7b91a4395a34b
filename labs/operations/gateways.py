"""Choice of the lab gateway and booking gateway of an environment."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from labs.gateways.booking_directory import DirectoryBooking
from labs.gateways.booking_sandbox import SandboxBooking
from labs.gateways.by_document import LabByDocument
from labs.gateways.hl7.lab import Hl7Lab
from labs.gateways.sandbox import SandboxLab
from labs.operations.outbound import send_hl7_messages_of_order
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable

    from accounts.models import Tenant
    from labs.gateways.base import LabGateway
    from labs.gateways.booking import BookingGateway
    from labs.models import LabAccount

# By what LAB_GATEWAY names; a sandbox never has one of these.
GATEWAYS: dict[str, Callable[[], LabGateway]] = {
    "hl7": partial(Hl7Lab, send_hl7_messages_of_order)
}


def get_lab_gateway(tenant: Tenant, account: LabAccount | None = None) -> LabGateway:
    """Return the gateway of an account, None for the platform's own.

    By document where the account says so, in a sandbox as well; else the sandbox lab
    in a sandbox, and the one LAB_GATEWAY names in production. Raises:
    lab_gateway_required, where it names none. Source: Contract D23; by document: Ours.
    """
    if account is not None and account.reports_by_document:
        return LabByDocument()
    if tenant.is_sandbox:
        return SandboxLab()
    make_gateway = GATEWAYS.get(settings.LAB_GATEWAY)
    if make_gateway is None:
        raise DomainError(
            "lab_gateway_required",
            _("This installation has no lab gateway. Ask the operator to set one up."),
        )
    return make_gateway()


def get_booking_gateway(tenant: Tenant) -> BookingGateway:
    """Return the sandbox provider in a sandbox, else the built-in directory.

    Source: Ours: a provider's interface takes its place here once there is one.
    """
    return SandboxBooking() if tenant.is_sandbox else DirectoryBooking()
