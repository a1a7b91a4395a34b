"""The failure of a connection to another system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.gateways.base import LabUnavailable

if TYPE_CHECKING:
    from labs.states.connections import TransportFault


class ConnectionFailed(LabUnavailable):
    """The other side was not reached or did not answer; `fault` says how."""

    def __init__(self, fault: TransportFault) -> None:
        super().__init__(str(fault))
        self.fault = fault
