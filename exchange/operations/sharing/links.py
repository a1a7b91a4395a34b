"""Shared links: make, open, revoke and remove them.

A link holds a snapshot: its files are encrypted once, when it is made, with a key that
is then forgotten, so nothing here could encrypt later results for it. That is why no
link has the flag L, and why one that was lost cannot be shown again. Source: SMART
Health Cards and Links 1.0.0, SMART Health Links Specification.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import orjson
from django.contrib.auth.hashers import check_password, make_password
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change, record_read
from exchange.models import SharedFile, SharedLink
from exchange.models.shared_link import (
    LABEL_MAX_LENGTH,
    RECIPIENT_MAX_LENGTH,
    WRONG_PASSCODES_MAX,
)
from exchange.operations.sharing.content import (
    CONTENT_TYPE,
    build_shared_contents,
    encrypt_content,
)
from exchange.queries.shareable import list_shareable_reports
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import (
    DomainError,
    Invalid,
    NotAllowed,
    NotFound,
    TooMany,
    Unavailable,
)
from portal.lib.tenancy import acting_for
from portal.lib.web.links import build_absolute_url
from users.queries import find_live_user, lock_user

if TYPE_CHECKING:
    from collections.abc import Collection
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from users.models import User

LINK_ACTOR = "shared_link"
# Ours: an appointment is reached within these; longer ones are forgotten about.
LIFETIMES = (timedelta(days=1), timedelta(days=7), timedelta(days=30))
LINK_RETENTION = timedelta(days=30)
# Ours: of one user; a person who shares loses sight of more.
OPEN_AT_MOST = 20
PASSCODE_DIGITS = 6
_SECRET_BYTES = 32  # 256 bits, for the address and for the key
# The specification's, of a link's `url`; its codes would not be read beyond.
MANIFEST_URL_MAX_LENGTH = 128


@dataclass(frozen=True, slots=True)
class ShareRequest:
    """What is shared: ids of DiagnosticReports, for how long, with a passcode or not.

    `label` is what readers see before they open it. `is_users_own`: see SharedLink.
    """

    reports: Collection[str]
    lasts: timedelta = LIFETIMES[1]
    label: str = ""
    has_passcode: bool = True
    is_users_own: bool = False


@dataclass(frozen=True, slots=True)
class MadeLink:
    """A new link; `url` holds its key, and neither it nor `passcode` is stored."""

    link: SharedLink
    url: str
    passcode: str


class PasscodeWrong(DomainError):
    """A passcode is wrong or missing; `remaining` more wrong ones end the link."""

    def __init__(self, remaining: int) -> None:
        super().__init__("passcode_wrong", _("The passcode is wrong."), "passcode")
        self.remaining = remaining


@transaction.atomic
def create_shared_link(*, user: User, actor: Actor, request: ShareRequest) -> MadeLink:
    """Make a link to a snapshot of signed reports of a live user.

    Raises: not_found; sharing_disabled (403) for a user whose team lets users share
    nothing; public_url_too_long (503); 422 reports_missing, report_unknown (also one
    that is not signed), lifetime_invalid, label_too_long, share_too_large; links_open
    (429) with OPEN_AT_MOST open ones. Source: SMART Health Links; Ours: the limits.
    """
    user = lock_user(user)
    tenant = user.tenant
    if request.is_users_own and not tenant.user_sharing_enabled:
        raise NotAllowed("sharing_disabled", _("Sharing is turned off."))
    if measure_excess_of_public_url() > 0:
        raise Unavailable(
            "public_url_too_long",
            _("Links need a shorter address of this server. Ask your administrator."),
        )
    if request.lasts not in LIFETIMES:
        raise Invalid("lifetime_invalid", _("Choose how long it works."), "lasts")
    label = request.label.strip() or _("Lab results")
    if len(label) > LABEL_MAX_LENGTH:
        raise Invalid("label_too_long", _("Enter at most 80 characters."), "label")
    if not request.reports:
        raise Invalid("reports_missing", _("Choose at least one report."), "reports")
    known = list_shareable_reports(tenant=tenant, user_uuid=user.uuid)
    reports = [one for one in known if one.id in request.reports]
    if len(reports) < len(set(request.reports)):
        raise Invalid("report_unknown", _("Choose from the list."), "reports")
    open_links = _list_open_links(tenant).filter(user=user)
    if open_links.count() >= OPEN_AT_MOST:
        raise TooMany(
            "links_open", _("Revoke a link first."), wait=timedelta(minutes=1)
        )
    contents = build_shared_contents(tenant=tenant, reports=reports)
    key, token = secrets.token_bytes(_SECRET_BYTES), secrets.token_urlsafe(32)
    passcode = _draw_passcode() if request.has_passcode else ""
    now = timezone.now()
    link = SharedLink(
        tenant=tenant,
        user=user,
        token_hash=_hash_token(token),
        passcode_hash=make_password(passcode) if passcode else "",
        label=label,
        made_by=actor.label,
        is_users_own=request.is_users_own,
        created_at=now,
        expires_at=now + request.lasts,
    )
    link.save(force_insert=True)
    SharedFile.objects.for_tenant(tenant).bulk_create(
        SharedFile(
            tenant=tenant,
            link=link,
            number=number,
            content_type=CONTENT_TYPE,
            jwe=encrypt_content(content, key),
        )
        for number, content in enumerate(contents)
    )
    record_change(
        tenant=tenant,
        actor=actor,
        verb="create_shared_link",
        subject=LINK_ACTOR,
        subject_id=link.pk,
        user_uuid=user.uuid,
        changes={"reports": [None, sorted(set(request.reports))]},
    )
    return MadeLink(link, _build_url(link, token, key), passcode)


def measure_excess_of_public_url() -> int:
    """Return by how many characters PUBLIC_URL is too long for links; 0: it is not.

    Source: SMART Health Links: `url` has at most 128 characters.
    """
    token = _write_base64url(bytes(_SECRET_BYTES))
    return max(0, len(_build_manifest_url(token)) - MANIFEST_URL_MAX_LENGTH)


def open_shared_link(
    *, token: str, passcode: str | None, recipient: str, address: str | None
) -> SharedLink:
    """Count and audit an opening of a link; return it with its files.

    Wrong passcodes are counted with the link locked, so that calls at the same time
    share the same tries; a missing one is refused and not counted. Raises: link_unknown
    (404), also of an ended link and of a deleted user or team; recipient_missing (400);
    PasscodeWrong.
    """
    found = _find_link(token)
    recipient = " ".join(recipient.split())[:RECIPIENT_MAX_LENGTH]
    if not recipient:
        raise DomainError("recipient_missing", _("Say who opens it."), "recipient")
    with acting_for(found.tenant), transaction.atomic():
        rows = SharedLink.objects.for_tenant(found.tenant).filter(pk=found.pk)
        link: SharedLink | None = rows.select_for_update().first()
        if link is None or not link.is_open:
            raise _unknown()
        remaining = _check_passcode(link, passcode)
        if remaining is None:
            rows.update(
                openings=F("openings") + 1,
                last_opened_at=timezone.now(),
                last_recipient=recipient,
            )
            record_read(
                tenant=found.tenant,
                actor=_build_reader(recipient, address),
                subject=LINK_ACTOR,
                subject_id=link.pk,
                user_uuid=found.user.uuid,
            )
        else:
            record_change(
                tenant=found.tenant,
                actor=_build_reader(recipient, address),
                verb="refuse_passcode",
                subject=LINK_ACTOR,
                subject_id=link.pk,
                user_uuid=found.user.uuid,
                changes={"remaining_attempts": [None, remaining]},
            )
    # After the commit: a refusal that was rolled back would give the try back.
    if remaining is not None:
        raise PasscodeWrong(remaining)
    link.tenant, link.user = found.tenant, found.user
    return link


def list_shared_files(link: SharedLink) -> list[SharedFile]:
    """Return the files of a link that was just opened, in order."""
    with acting_for(link.tenant):
        rows = SharedFile.objects.for_tenant(link.tenant).filter(link=link)
        return list(rows.order_by("number"))


def get_shared_file(*, token: str, number: int) -> SharedFile:
    """Return a file of a link that works. Raises: link_unknown (404).

    The caller has checked that a manifest led here.
    """
    link = _find_link(token)
    with acting_for(link.tenant):
        rows = SharedFile.objects.for_tenant(link.tenant).filter(link=link)
        file: SharedFile | None = rows.filter(number=number).first()
    if file is None:
        raise _unknown()
    return file


def revoke_shared_link(
    *, user: User, actor: Actor, link_id: UUID, is_users_own: bool = False
) -> SharedLink:
    """End a link of a user, and remove its files.

    `is_users_own` finds only those that the user made. Raises: not_found, link_ended.
    """
    with transaction.atomic():
        rows = SharedLink.objects.for_tenant(user.tenant).filter(user=user, pk=link_id)
        if is_users_own:
            rows = rows.filter(is_users_own=True)
        link: SharedLink | None = rows.select_for_update().first()
        if link is None:
            raise NotFound("not_found", _("Link not found."))
        if not link.is_open:
            raise DomainError("link_ended", _("This link has ended already."))
        rows.update(revoked_at=timezone.now())
        SharedFile.objects.for_tenant(user.tenant).filter(link=link).delete()
        record_change(
            tenant=user.tenant,
            actor=actor,
            verb="revoke_shared_link",
            subject=LINK_ACTOR,
            subject_id=link.pk,
            user_uuid=user.uuid,
        )
    return link


def delete_ended_shared_links() -> int:
    """Remove files of links that ended, and links LINK_RETENTION later.

    Returns how many links. Over all tenants.
    """
    now = timezone.now()
    SharedFile.unscoped.filter(link__expires_at__lte=now).delete()
    SharedFile.unscoped.filter(link__wrong_passcodes__gte=WRONG_PASSCODES_MAX).delete()
    old = SharedLink.unscoped.filter(expires_at__lt=now - LINK_RETENTION)
    number = old.count()
    old.delete()
    return number


def _list_open_links(tenant: Tenant) -> QuerySet[SharedLink]:
    rows: QuerySet[SharedLink] = SharedLink.objects.for_tenant(tenant)
    return rows.filter(
        revoked_at=None,
        expires_at__gt=timezone.now(),
        wrong_passcodes__lt=WRONG_PASSCODES_MAX,
    )


def _find_link(token: str) -> SharedLink:
    """Return the open link of an address. Raises: link_unknown."""
    rows = SharedLink.unscoped.select_related("tenant__team")
    link: SharedLink | None = rows.filter(
        token_hash=_hash_token(token), tenant__team__deleted_at=None
    ).first()
    if link is None or not link.is_open:
        raise _unknown()
    # A user is read once the tenant is known.
    with acting_for(link.tenant):
        user = find_live_user(tenant=link.tenant, pk=link.user_id)
    if user is None:
        raise _unknown()
    link.user = user
    return link


def _check_passcode(link: SharedLink, passcode: str | None) -> int | None:
    """Count a wrong passcode of a locked link; return what is left, None if right."""
    if not link.passcode_hash:
        return None
    wrong = link.wrong_passcodes
    if passcode:
        if check_password(passcode, link.passcode_hash):
            return None
        wrong += 1
        rows = SharedLink.objects.for_tenant(link.tenant).filter(pk=link.pk)
        rows.update(wrong_passcodes=wrong)
    return WRONG_PASSCODES_MAX - wrong


def _build_url(link: SharedLink, token: str, key: bytes) -> str:
    """Return the address of our viewer with the link in its fragment.

    Browsers send no fragment, so that no server sees the key.
    """
    payload = {
        "url": _build_manifest_url(token),
        "key": _write_base64url(key),
        "exp": int(link.expires_at.timestamp()),
        "flag": "P" if link.passcode_hash else "",
        "label": link.label,
        "v": 1,
    }
    written = _write_base64url(
        orjson.dumps({name: part for name, part in payload.items() if part})
    )
    return f"{build_absolute_url(reverse('shared_viewer'))}#shlink:/{written}"


def _build_manifest_url(token: str) -> str:
    return build_absolute_url(reverse("shared_manifest", args=[token]))


def _draw_passcode() -> str:
    return f"{secrets.randbelow(10**PASSCODE_DIGITS):0{PASSCODE_DIGITS}}"


def _build_reader(recipient: str, address: str | None) -> Actor:
    # What readers call themselves; nobody checks it.
    return Actor(ActorKind.SYSTEM, LINK_ACTOR, recipient, address)


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _write_base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _unknown() -> NotFound:
    return NotFound("link_unknown", _("This link is not valid, or has ended."))
