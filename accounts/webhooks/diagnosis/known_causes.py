"""Known causes of failure: a title and advice for each fault and response code.

A code or fault without an entry here is described by its number or as a broken
connection.
"""

from __future__ import annotations

from accounts.webhooks.states import DeliveryFault
from portal.lib.translation import gettext_lazy

FAULTS: dict[DeliveryFault, tuple[str, str]] = {
    DeliveryFault.DNS: (
        gettext_lazy("Host name could not be resolved"),
        gettext_lazy("Check the spelling of the URL and the DNS record of its host."),
    ),
    DeliveryFault.BLOCKED: (
        gettext_lazy("Host name resolves to a private address"),
        gettext_lazy(
            "Events are sent to public addresses only. Check the host's DNS record."
        ),
    ),
    DeliveryFault.REFUSED: (
        gettext_lazy("Connection refused"),
        gettext_lazy("Start the receiver, or check its port and firewall."),
    ),
    DeliveryFault.TLS: (
        gettext_lazy("TLS handshake failed"),
        gettext_lazy("Enable TLS 1.2 or later on this port."),
    ),
    DeliveryFault.CERTIFICATE: (
        gettext_lazy("Invalid TLS certificate"),
        gettext_lazy(
            "The certificate has expired, is for another host or lacks its chain."
            " Renew it."
        ),
    ),
    DeliveryFault.TIMEOUT: (
        gettext_lazy("No response within 15 seconds"),
        gettext_lazy("Respond with 2xx at once, then process the event."),
    ),
    DeliveryFault.RESET: (
        gettext_lazy("Connection closed before a response"),
        gettext_lazy("Check the receiver and its proxy for a crash or a limit."),
    ),
    DeliveryFault.GARBAGE: (
        gettext_lazy("Response is not HTTP"),
        gettext_lazy("Check which service listens on this port."),
    ),
}
CODES: dict[int, tuple[str, str]] = {
    401: (
        gettext_lazy("Receiver requires authentication"),
        gettext_lazy(
            "Add the header it requires, or let it verify the signature instead."
        ),
    ),
    403: (
        gettext_lazy("Receiver denies access"),
        gettext_lazy("Check its firewall and how it verifies the signature."),
    ),
    404: (
        gettext_lazy("Path not found"),
        gettext_lazy("Check the path of the URL."),
    ),
    405: (
        gettext_lazy("Path does not accept POST"),
        gettext_lazy("Check the path of the URL."),
    ),
    413: (
        gettext_lazy("Receiver rejects large events"),
        gettext_lazy("Raise the size limit of the receiver or its proxy."),
    ),
    415: (
        gettext_lazy("Receiver does not accept JSON"),
        gettext_lazy("Accept application/json in the receiver."),
    ),
}
