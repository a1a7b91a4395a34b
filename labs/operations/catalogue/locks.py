"""Keep updates of a catalogue and the orders placed from it apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portal.lib.database.rows import fetch_rows

if TYPE_CHECKING:
    from portal.lib.tenancy import HasPrimaryKey

# The tenant is the second key; 0 is the shared catalogue.
_UPDATE = "SELECT pg_advisory_xact_lock(hashtext('labs catalogue'), %(owner)s::int)"
_ORDER = (
    "SELECT pg_advisory_xact_lock_shared(hashtext('labs catalogue'), 0),"
    " pg_advisory_xact_lock_shared(hashtext('labs catalogue'), %(owner)s::int)"
)


def lock_catalogue_for_update(owner: HasPrimaryKey | None) -> None:
    """Wait until no order is being placed, and let none begin before the commit.

    Two updates at once would both make a row that neither finds. That of a tenant's own
    labs waits for its orders alone. `owner` None: the catalogue that all share.
    """
    fetch_rows(_UPDATE, {"owner": owner.pk if owner else 0})


def lock_catalogue_for_order(tenant: HasPrimaryKey) -> None:
    """Wait until no update is being applied, and let none begin before the commit.

    So the moment of an order says which catalogue it was placed with.
    """
    fetch_rows(_ORDER, {"owner": tenant.pk})
