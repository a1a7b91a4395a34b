"""List the tables of portal for Django, and the rules of the libraries' tables."""

from portal.demo.models import DemoData
from portal.lib.idempotency import IdempotentAnswer
from portal.lib.table_rules import RetentionRule, TableRules, declare_table_rules
from portal.ops.backup_notes import BackupNote
from portal.ops.isolation.models import IsolationRun

__all__ = ["BackupNote", "DemoData", "IdempotentAnswer", "IsolationRun"]

_arguments = "arguments are ids; gone 7 days after the job"
_finished = RetentionRule("7 days after the job ended", "portal.remove_finished_jobs")
declare_table_rules(
    {
        "admin.LogEntry": TableRules(
            without_user="what operators changed, never of users",
            retention="for good: what operators changed",
        ),
        "contenttypes.ContentType": TableRules(without_user="names of tables"),
        "procrastinate.ProcrastinateEvent": TableRules(
            without_user=_arguments, retention=_finished
        ),
        "procrastinate.ProcrastinateJob": TableRules(
            without_user=_arguments, retention=_finished
        ),
        "procrastinate.ProcrastinatePeriodicDefer": TableRules(
            without_user="times of periodic jobs"
        ),
        "procrastinate.ProcrastinateWorker": TableRules(
            without_user="which workers live",
            retention="each worker removes the dead ones",
        ),
        "sessions.Session": TableRules(
            without_user="order drafts, encrypted and at most 12 hours old",
            retention=RetentionRule(
                "14 days after its last use", "accounts.forget_sessions"
            ),
        ),
    }
)
