"""The pagination styles of contract 1.4, as query inputs.

Ground needs the offset style; page and cursor come with the endpoints that use them.
"""

from __future__ import annotations

from portal.lib.api.fields import Inputs, QueryInt

OFFSET_LIMIT_MAX = 500  # Spec 8
# PostgreSQL's bigint; past it there is no row to skip to.
OFFSET_MAX = 2**63 - 1 - OFFSET_LIMIT_MAX


class OffsetInputs(Inputs):
    """`offset` (default 0) and `limit` (default 100, 1 to 500); over it: 422 (D20)."""

    offset = QueryInt(default=0, min_value=0, max_value=OFFSET_MAX)
    limit = QueryInt(default=100, min_value=1, max_value=OFFSET_LIMIT_MAX)
