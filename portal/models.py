"""The tables of floor and roof, entered here so that Django finds them."""

from portal.backup_notes import BackupNote
from portal.demo.models import DemoData
from portal.isolation.models import IsolationRun
from portal.lib.idempotency import IdempotentAnswer

__all__ = ["BackupNote", "DemoData", "IdempotentAnswer", "IsolationRun"]
