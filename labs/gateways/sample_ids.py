"""Sample IDs that Assay assigns, for labs that assign none."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs.models import Order

_LENGTH = 12


def make_sample_id(order: Order) -> str:
    """Return twelve letters and digits made from the order's ID, always the same.

    One has a digit at least: text without any is a word to whoever reads it back.
    """
    digest = hashlib.sha256(order.pk.bytes).digest()
    text = base64.b32encode(digest).decode().rstrip("=")
    windows = (text[at : at + _LENGTH] for at in range(len(text) - _LENGTH + 1))
    return next(
        (one for one in windows if any(sign.isdigit() for sign in one)),
        text[:_LENGTH],
    )
