"""What the installation needs before its teams go live."""

from __future__ import annotations

from accounts.declarations.go_live import (
    GoLiveCheck,
    GoLiveFinding,
    GoLiveGroup,
    GoLiveState,
)
from portal.lib.translation import gettext_lazy
from portal.ops.go_live import (
    read_backup,
    read_encryption_keys,
    read_mail,
    try_encryption_keys,
    try_mail,
)

_BACKUP_GUIDE = "guides/back-up-and-upgrade"

GO_LIVE_CHECKS = (
    GoLiveCheck(
        name="mail",
        group=GoLiveGroup.MESSAGES,
        rank=20,
        title=gettext_lazy("Mail"),
        icon="globe",
        read=read_mail,
        attempt=try_mail,
        guide="guides/go-live",
        findings={
            "connected": GoLiveFinding(
                GoLiveState.READY, gettext_lazy("Signed in to the mail server.")
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No mail server is set, so nothing is mailed."),
                gettext_lazy("An operator sets EMAIL_URL."),
            ),
            "failed": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("The mail server could not be used."),
                gettext_lazy("An operator checks EMAIL_URL with manage.py doctor."),
            ),
        },
    ),
    GoLiveCheck(
        name="encryption_keys",
        group=GoLiveGroup.SAFETY,
        rank=10,
        title=gettext_lazy("Encryption keys"),
        icon="key",
        read=read_encryption_keys,
        attempt=try_encryption_keys,
        guide=_BACKUP_GUIDE,
        findings={
            "newest_key": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy("All stored secrets are under the newest key."),
            ),
            "partly_checked": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy(
                    "The secrets read in the time of the check are under the newest"
                    " key. There are more."
                ),
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy(
                    "Secrets have no keys of their own: they are encrypted with"
                    " SECRET_KEY."
                ),
                gettext_lazy("An operator sets ENCRYPTION_KEYS."),
            ),
            "weak": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("An encryption key is too short to be safe."),
                gettext_lazy("An operator puts a new key first in ENCRYPTION_KEYS."),
            ),
            "old_keys": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("Some stored secrets are not under the newest key."),
                gettext_lazy("An operator runs manage.py rotate_encryption_keys."),
            ),
        },
    ),
    GoLiveCheck(
        name="backup",
        group=GoLiveGroup.SAFETY,
        rank=20,
        title=gettext_lazy("Backup"),
        icon="download",
        read=read_backup,
        guide=_BACKUP_GUIDE,
        findings={
            "recent": GoLiveFinding(
                GoLiveState.READY,
                gettext_lazy("The last backup was made %(hours)s h ago."),
                gettext_lazy(
                    "Restore it once on another machine to see that it works. That is"
                    " not recorded here."
                ),
            ),
            "old": GoLiveFinding(
                GoLiveState.FAILED,
                gettext_lazy("The last backup was made %(hours)s h ago."),
                gettext_lazy("An operator runs manage.py backup every day."),
            ),
            "missing": GoLiveFinding(
                GoLiveState.MISSING,
                gettext_lazy("No backup was made."),
                gettext_lazy("An operator runs manage.py backup every day."),
            ),
        },
    ),
)
