"""Sample IDs that Assay assigns, for labs that assign none."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs.models import Order

_LENGTH = 12


def make_sample_id(order: Order) -> str:
    """Return twelve letters and digits made from the order's ID, always the same."""
    digest = hashlib.sha256(order.pk.bytes).digest()
    return base64.b32encode(digest).decode()[:_LENGTH]
