"""Fold the changes that count orders."""

from __future__ import annotations

from portal.lib.database import rows

# One statement: whoever counts meanwhile sees all of the old rows or all of the new.
_FOLD = """
    WITH gone AS (
        DELETE FROM labs_ordercount WHERE tenant_id IN (
            SELECT tenant_id FROM labs_ordercount
            GROUP BY tenant_id HAVING count(*) > count(DISTINCT (status, method))
        )
        RETURNING tenant_id, status, method, number
    )
    INSERT INTO labs_ordercount (tenant_id, status, method, number)
    SELECT tenant_id, status, method, sum(number) FROM gone
    GROUP BY tenant_id, status, method HAVING sum(number) <> 0
"""


def fold_order_counts() -> None:
    """Make one row of all changes of a tenant's status and method, over all tenants."""
    with rows.open_database_cursor() as cursor:
        cursor.execute(_FOLD)
