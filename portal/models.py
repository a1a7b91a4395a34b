"""The tables of floor and roof, entered here so that Django finds them."""

from portal.demo.models import DemoData
from portal.lib.idempotency import IdempotentAnswer
from portal.ops.backup_notes import BackupNote
from portal.ops.isolation.models import IsolationRun

__all__ = ["BackupNote", "DemoData", "IdempotentAnswer", "IsolationRun"]
