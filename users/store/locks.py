"""The lock of a user's samples: the user's row."""

from __future__ import annotations

from django.utils.translation import gettext as _

from portal.lib.database import rows
from portal.lib.errors import NotFound


def lock_samples_of_user(user_id: int) -> None:
    """Lock a user's row until the transaction ends. Raises: not_found.

    Batches, packing, retention and erasure take it before they touch a sample.
    """
    found = rows.fetch_rows(
        "SELECT 1 FROM users_user WHERE id = %s FOR NO KEY UPDATE", [user_id]
    )
    if not found:
        raise NotFound("not_found", _("User not found."))
