"""Keep updates of the catalogue and the orders placed from it apart."""

from __future__ import annotations

from portal.lib.database.rows import fetch_rows

_UPDATE = "SELECT pg_advisory_xact_lock(hashtext('labs catalogue'))"
_ORDER = "SELECT pg_advisory_xact_lock_shared(hashtext('labs catalogue'))"


def lock_catalogue_for_update() -> None:
    """Wait until no order is being placed, and let none begin before the commit.

    Two updates at once would both make a row that neither finds.
    """
    fetch_rows(_UPDATE, {})


def lock_catalogue_for_order() -> None:
    """Wait until no update is being applied, and let none begin before the commit.

    So the moment of an order says which catalogue it was placed with.
    """
    fetch_rows(_ORDER, {})
