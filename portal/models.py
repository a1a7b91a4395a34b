"""The floor's one table, entered here so that Django finds it."""

from portal.lib.idempotency import IdempotentAnswer

__all__ = ["IdempotentAnswer"]
