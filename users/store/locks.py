"""The lock of a user's samples: the user's row."""

from __future__ import annotations

from django.utils.translation import gettext as _

from portal.lib.database.prepared import PreparedStatement
from portal.lib.errors import NotFound

_LOCK = PreparedStatement(
    "lock_samples_of_user",
    "SELECT 1 FROM users_user WHERE id = $1 FOR NO KEY UPDATE",
)


def lock_samples_of_user(user_id: int) -> None:
    """Lock a user's row until the transaction ends. Raises: not_found.

    Batches, packing, retention and erasure take it before they touch a sample.
    """
    if not _LOCK.fetch_rows((str(user_id),)):
        raise NotFound("not_found", _("User not found."))
