"""Messages that fail each time: when to stop repeating one, so that others get by.

Counted in this process's memory: after a restart a message is tried again as often.
"""

from __future__ import annotations

from collections import OrderedDict

from django.db import InterfaceError

from portal.lib.database.outages import is_database_outage, iterate_exception_chain

# Ours: a deadlock or a lock that was waited for in vain does not come so often.
MAX_FAILURES = 5
# What is remembered, the oldest forgotten first.
MAX_REMEMBERED = 1_000
# SQLSTATE class 54, such as a value that is too long for an index.
_LIMIT_EXCEEDED = "54"
_counts: OrderedDict[str, int] = OrderedDict()


def fails_for_good(fault: BaseException, *, key: str) -> bool:
    """Count a failure of what `key` names; return whether to stop repeating it.

    Never for a database that is away. Source: Ours: a sender keeps its messages in
    order, so one that can't be stored would hold up all later ones.
    """
    if is_database_outage(fault) or isinstance(fault, InterfaceError):
        return False
    _counts[key] = _counts.pop(key, 0) + 1
    if len(_counts) > MAX_REMEMBERED:
        _counts.popitem(last=False)
    return _counts[key] >= MAX_FAILURES or _exceeds_limit(fault)


def _exceeds_limit(fault: BaseException) -> bool:
    states = (getattr(one, "sqlstate", None) for one in iterate_exception_chain(fault))
    return any(str(state).startswith(_LIMIT_EXCEEDED) for state in states)
