"""The lock of a user's samples, which is the user's row, and whose they are."""

from __future__ import annotations

from django.utils.translation import gettext as _

from portal.lib.database import rows
from portal.lib.database.prepared import PreparedStatement
from portal.lib.errors import NotFound

# A condition that holds for a user of the connection's tenant, and notes the user, so
# that row-level security (users 0029) compares the rows of samples with a number and
# looks up nobody for each.
IS_OF_TENANT = "assay_is_user_of_tenant(%(user_id)s::bigint)"
_LOCK = PreparedStatement(
    "lock_samples_of_user",
    "SELECT assay_is_user_of_tenant(id), users_mark_commit() FROM users_user"
    " WHERE id = $1 FOR NO KEY UPDATE",
)
_NOTE_AND_MARK = PreparedStatement(
    "change_samples_of_user",
    "SELECT assay_is_user_of_tenant($1::bigint), users_mark_commit()",
)


def note_user_of_samples(user_id: int) -> None:
    """Look a user up before statements about many of their samples.

    Nothing but their time depends on it.
    """
    rows.fetch_rows(f"SELECT {IS_OF_TENANT}", {"user_id": user_id})


def note_change_of_samples(user_id: int) -> None:
    """Look a locked user up before statements that change their samples.

    Deletes by callers with a lock of their own begin with it: where samples are spread
    over machines all that the transaction changes is then committed as one.
    """
    _NOTE_AND_MARK.execute((str(user_id),))


def lock_samples_of_user(user_id: int) -> None:
    """Lock a user's row until the transaction ends, and note it. Raises: not_found.

    Batches, packing, retention and erasure take it before they touch a sample.
    """
    if not _LOCK.fetch_rows((str(user_id),)):
        raise NotFound("not_found", _("User not found."))
