"""Check what an installation needs before its teams go live: mail, keys, backups.

A team learns the state, never a count or name of the installation.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from accounts.declarations.go_live import GoLiveResult
from portal.ops.backup_notes import find_last_backup_time
from portal.ops.health import check_encryption_keys, check_mail_server
from portal.ops.health.files import BACKUP_TOO_OLD
from portal.ops.key_rotation import find_secrets_under_old_keys

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor

# How long one try may read stored secrets.
SECRETS_LIMIT = timedelta(seconds=5)


def read_mail(tenant: Tenant) -> GoLiveResult | None:
    """Report that no mail server was named; else the last try decides."""
    del tenant
    return None if settings.EMAIL_URL else GoLiveResult("missing")


def try_mail(tenant: Tenant, actor: Actor) -> GoLiveResult | None:
    """Sign in to the mail server; send nothing."""
    del actor
    if read_mail(tenant):
        return None
    return GoLiveResult("connected" if check_mail_server().ok else "failed")


def read_encryption_keys(tenant: Tenant) -> GoLiveResult | None:
    """Report keys that are missing or weak; else the last try decides."""
    del tenant
    if check_encryption_keys().ok:
        return None
    return GoLiveResult("weak" if settings.ENCRYPTION_KEYS else "missing")


def try_encryption_keys(tenant: Tenant, actor: Actor) -> GoLiveResult | None:
    """Look for stored secrets that are not under the newest key."""
    del actor
    if read_encryption_keys(tenant):
        return None
    match find_secrets_under_old_keys(limit=SECRETS_LIMIT):
        case True:
            return GoLiveResult("old_keys")
        case False:
            return GoLiveResult("newest_key")
        case _:
            return GoLiveResult("partly_checked")


def read_backup(tenant: Tenant) -> GoLiveResult:
    """Report the age of the last backup."""
    del tenant
    made_at = find_last_backup_time()
    if made_at is None:
        return GoLiveResult("missing")
    age = timezone.now() - made_at
    hours = {"hours": f"{age / timedelta(hours=1):.0f}"}
    return GoLiveResult("old" if age > BACKUP_TOO_OLD else "recent", hours)
