"""Send alerts about failing and disabled endpoints.

A mail names no person: users are told by the id that Assay gave them, the receiver by
its host.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Count, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.operations.notices import (
    NoticeEvent,
    build_notice_settings_link,
    post_notice,
    record_notice_mailed_by_caller,
)
from accounts.queries.languages import group_addresses_by_language
from accounts.states import NoticeKind
from accounts.webhooks.models import Attempt, Delivery, Endpoint
from accounts.webhooks.schedule import DISABLE_AFTER
from accounts.webhooks.states import DeliveryFault, DeliveryStatus, DisabledBy
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.periods import find_time_zone_by_name
from portal.lib.sentences import StoredSentence
from portal.lib.web.links import build_absolute_url
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from accounts.models import Tenant

MAIL_JOB = "webhooks.mail_alert"
# Per cent of DISABLE_AFTER that are over when a mail warns; the last is the end itself.
WARN_PERCENTS = (50, 70, 90)
DISABLED_PERCENT = 100
# Ours: so many users and event types stand in a mail, the others are counted.
NAMED_MAX = 10
_ENDPOINTS_OF_ONE_RUN = 500
_MISSED = (DeliveryStatus.PENDING, DeliveryStatus.FAILED, DeliveryStatus.HELD)
_log = logging.getLogger(__name__)


class MailRefused(Exception):
    """The mail server did not take a mail; the job runs again."""


@transaction.atomic
def enqueue_failing_endpoint_alerts(*, at: datetime) -> int:
    """Enqueue alerts of endpoints that reached a failing step; return how many.

    Over all tenants. Each step is noted with its mail, which is a job in the same
    transaction: of two runs at once one sends it, and a run that dies sends none twice.
    Steps that were slept through are one mail, of the last. Source: Contract 8.5; Ours:
    the steps.
    """
    ended = Q(disabled_by__in=[DisabledBy.FAILING, DisabledBy.GONE])
    failing = Q(disabled_at=None, failing_since__isnull=False)
    found = (
        Endpoint.unscoped.select_for_update(skip_locked=True, of=("self",))
        .select_related("tenant")
        .filter(ended | failing, deleted_at=None, warned_percent__lt=DISABLED_PERCENT)
        .order_by("pk")
    )
    number = 0
    for endpoint in found.iterator():
        percent = _percent(endpoint, at)
        if percent <= endpoint.warned_percent:
            continue
        endpoint.warned_percent = percent
        endpoint.save(update_fields=["warned_percent"])
        enqueue_job(
            MAIL_JOB,
            tenant=endpoint.tenant,
            lock=f"webhook-alert-{endpoint.pk}",
            endpoint_id=str(endpoint.uuid),
            percent=percent,
        )
        number += 1
        if number == _ENDPOINTS_OF_ONE_RUN:
            break
    return number


def send_endpoint_alert_mail(*, tenant: Tenant, endpoint_id: str, percent: int) -> None:
    """Mail members about a failing or disabled endpoint.

    Nothing once it has recovered, was enabled again or deleted. Raises: MailRefused.
    Source: Contract 8.5; Ours: to whom, and what it says.
    """
    endpoint = _failing(tenant, endpoint_id, percent)
    if endpoint is None:
        return
    recipients = record_notice_mailed_by_caller(
        tenant=tenant,
        event=_build_notice_event(tenant, endpoint, percent),
        at=timezone.now(),
    )
    if not recipients:
        return
    for language, addresses in group_addresses_by_language(recipients).items():
        with translation.override(language):
            context = _context(tenant, endpoint, percent)
            subject = render_to_string("webhooks/email/alert_subject.txt", context)
            body = render_to_string("webhooks/email/alert_message.txt", context)
        mail = EmailMessage(subject=" ".join(subject.split()), body=body, to=addresses)
        try:
            mail.send()
        except (OSError, SMTPException):
            _log.warning("mail of endpoint %s was not taken", endpoint.uuid)
            raise MailRefused from None


def post_endpoint_alert_notice(
    *, tenant: Tenant, endpoint_id: str, percent: int
) -> None:
    """Post a notice in place of an alert mail that could not be sent.

    Nothing once it has recovered, as `send_endpoint_alert_mail`.
    """
    endpoint = _failing(tenant, endpoint_id, percent)
    if endpoint is not None:
        post_notice(
            tenant=tenant,
            event=_build_notice_event(tenant, endpoint, percent),
            at=timezone.now(),
        )


def _failing(tenant: Tenant, endpoint_id: str, percent: int) -> Endpoint | None:
    live = Endpoint.objects.for_tenant(tenant).live()
    found: Endpoint | None = live.filter(
        uuid=endpoint_id, warned_percent__gte=percent
    ).first()
    return found


def _build_notice_event(
    tenant: Tenant, endpoint: Endpoint, percent: int
) -> NoticeEvent:
    """Build the notice about a failing or disabled endpoint."""
    host = urlsplit(endpoint.url).hostname
    since = endpoint.failing_since or endpoint.disabled_at
    if percent == DISABLED_PERCENT:
        words = StoredSentence(
            "%(host)s was disabled. Events are on hold.", {"host": host}
        )
    else:
        words = StoredSentence(
            "%(host)s is failing: %(percent)d%% of the time until it is disabled has"
            " passed.",
            {"host": host, "percent": percent},
        )
    return NoticeEvent(
        kind=NoticeKind.FAILING_ENDPOINT,
        key=f"{endpoint.pk}-{percent}-{since and int(since.timestamp())}",
        words=words,
        path=_page_of(tenant, endpoint),
    )


def _page_of(tenant: Tenant, endpoint: Endpoint) -> str:
    place = [tenant.team.slug, tenant.environment, endpoint.uuid]
    return reverse("webhooks:endpoint", args=place)


def _percent(endpoint: Endpoint, at: datetime) -> int:
    """The step that an endpoint has reached, 0 for none."""
    if endpoint.disabled_at is not None:
        return DISABLED_PERCENT
    if endpoint.failing_since is None:
        return 0
    over = (at - endpoint.failing_since) / DISABLE_AFTER * 100
    return max((step for step in WARN_PERCENTS if step <= over), default=0)


def _context(tenant: Tenant, endpoint: Endpoint, percent: int) -> dict[str, object]:
    """What the templates are given."""
    zone = find_time_zone_by_name(tenant.team.time_zone)
    missed = Delivery.objects.for_tenant(tenant).filter(
        endpoint=endpoint,
        status__in=_MISSED,
        created_at__gte=endpoint.last_success_at or endpoint.created_at,
    )
    types = list(
        missed.values_list("event_type")
        .annotate(number=Count("pk"))
        .order_by("-number", "event_type")
    )
    users = missed.values_list("user_uuid", flat=True).distinct()
    number_of_users = users.count()
    named = list(users.order_by("user_uuid")[:NAMED_MAX])
    last = (
        Attempt.objects.for_tenant(tenant)
        .filter(endpoint=endpoint, succeeded=False)
        .order_by("-started_at")
        .first()
    )
    ends_at = endpoint.failing_since and endpoint.failing_since + DISABLE_AFTER
    return {
        "team": tenant.team.name,
        "environment": tenant.get_environment_display(),
        "is_sandbox": tenant.is_sandbox,
        "host": urlsplit(endpoint.url).hostname,
        "is_disabled": percent == DISABLED_PERCENT,
        "is_gone": endpoint.disabled_by == DisabledBy.GONE,
        "percent": percent,
        "since": _moment(endpoint.first_failed_at or endpoint.failing_since, zone),
        "ends_at": _moment(ends_at, zone),
        "days": DISABLE_AFTER // timedelta(days=1),
        "met": _describe_failure(last),
        "number": sum(number for _type, number in types),
        "types": types[:NAMED_MAX],
        "more_types": max(len(types) - NAMED_MAX, 0),
        "number_of_users": number_of_users,
        "users": named,
        "more_users": number_of_users - len(named),
        "retention_days": tenant.team.event_retention_days,
        "link": build_absolute_url(_page_of(tenant, endpoint)),
        "settings_link": build_notice_settings_link(tenant),
    }


def _moment(at: datetime | None, zone: tzinfo) -> str:
    return write_date(at and at.astimezone(zone), "j M Y, H:i T")


def _describe_failure(last: Attempt | None) -> str:
    """What the last failure was, in words."""
    if last is None:
        return ""
    if last.code is not None:
        return _("response with status %(code)d") % {"code": last.code}
    return str(dict(DeliveryFault.choices).get(last.fault, last.fault))
