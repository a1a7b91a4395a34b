"""Queue of critical results and the dialog that acknowledges one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_form
from accounts.web.rights import require_right
from labs.models.critical import ACTION_MAX_LENGTH, NOTIFIED_PERSON_MAX_LENGTH
from labs.operations.results.critical import Acknowledgement, acknowledge_critical_alert
from labs.queries.results.critical import (
    get_critical_alert,
    list_acknowledged_critical_alerts,
    list_critical_results,
    list_reports_of_critical_alerts,
    list_unacknowledged_critical_alerts,
)
from labs.states.critical import NotificationMethod
from portal.lib.errors import Conflict, DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import (
    is_page_fragment_requested,
    page_url,
    redirect_browser,
    render_page,
)
from portal.ui.pills import format_wire_value_as_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Tenant
    from accounts.web.requests import TenantRequest
    from labs.models import CriticalAlert, InboundReport, Result

# How often the page looks at its clocks, and how many acknowledged ones it shows.
POLL_SECONDS = 20
ACKNOWLEDGED_SHOWN = 50
# A clock with less than this left is about to run out.
_NEARLY_DUE = timedelta(minutes=15)


class AcknowledgeForm(forms.Form):
    """The action taken and who was informed; times in the reader's zone."""

    action = forms.CharField(
        max_length=ACTION_MAX_LENGTH,
        required=False,
        strip=True,
        label=gettext_lazy("Action taken"),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    notification_method = forms.ChoiceField(
        choices=NotificationMethod.choices,
        required=False,
        label=gettext_lazy("How was the treating clinician informed?"),
        widget=forms.RadioSelect,
    )
    notified_person = forms.CharField(
        max_length=NOTIFIED_PERSON_MAX_LENGTH,
        required=False,
        label=gettext_lazy("Who was informed"),
    )
    notified_at = forms.DateTimeField(
        required=False,
        label=gettext_lazy("When"),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
        ),
        error_messages={"invalid": gettext_lazy("Enter a date and a time.")},
    )
    was_read_back = forms.BooleanField(
        required=False, label=gettext_lazy("They read the result back correctly")
    )

    def acknowledgement(self) -> Acknowledgement:
        """Return the acknowledgement of a valid form."""
        return Acknowledgement(**self.cleaned_data)


@dataclass(frozen=True, slots=True)
class Countdown:
    """The time left to acknowledge a critical result."""

    family: str
    words: str


@dataclass(frozen=True, slots=True)
class AlertRow:
    """A critical result as a table row.

    `results` are those that the order has now, none where they were corrected away, or
    of an alert without order those of its first `report`, or of the uploaded report.
    `took` is how long its
    acknowledgement took, in words.
    """

    alert: CriticalAlert
    results: Sequence[Result | dict[str, Any]]
    countdown: Countdown
    report: InboundReport | None = None
    notification_method: str = ""
    took: str = ""
    was_late: bool = False


@require_GET
@require_right(Area.ORDERS)
def show_critical_result_queue(request: TenantRequest) -> HttpResponse:
    """Show the queue; a poll with the results it has `seen` is not audited."""
    waiting = list_unacknowledged_critical_alerts(tenant=request.tenant)
    seen = ",".join(str(alert.pk) for alert in waiting)
    is_poll = is_page_fragment_requested(request) and "seen" in request.GET
    done = list_acknowledged_critical_alerts(
        tenant=request.tenant, limit=ACKNOWLEDGED_SHOWN
    )
    if not (is_poll and request.GET["seen"] == seen):
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="critical_results",
            subject_id=f"waiting={len(waiting)} acknowledged={len(done)}",
        )
    rows = build_critical_result_rows(request.tenant, [*waiting, *done])
    return render_page(
        request,
        "labs/critical.html",
        fragment="labs/_critical.html",
        section="critical",
        waiting=rows[: len(waiting)],
        done=rows[len(waiting) :],
        seen=seen,
        poll_seconds=POLL_SECONDS,
        limit=request.tenant.critical_result_limit_minutes,
        may_acknowledge=request.rights.allow(Area.SIGN_REPORTS, write=True),
        may_open_reports=request.rights.allow(Area.PATIENT_DETAILS),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.ORDERS)
def acknowledge_critical_result_dialog(
    request: TenantRequest, alert_id: int
) -> HttpResponse:
    """Acknowledge a critical result; for clinicians."""
    alert = get_critical_alert(tenant=request.tenant, alert_id=alert_id)
    # Only now: what another team has is not there, whatever the role.
    if not request.rights.allow(Area.SIGN_REPORTS, write=True):
        raise PermissionDenied
    form = AcknowledgeForm(
        read_posted(request), initial={"notified_at": timezone.now()}
    )
    if request.method == "POST" and form.is_valid():
        try:
            acknowledge_critical_alert(
                tenant=request.tenant,
                actor=request.actor,
                alert_id=alert_id,
                acknowledgement=form.acknowledgement(),
                name=request.member.name or request.member.email,
            )
        except Conflict as settled:
            messages.error(request, settled.message)
            return _redirect_to_results(request, alert)
        except DomainError as refused:
            known = refused.field if refused.field in form.fields else None
            form.add_error(known, refused.message)
        else:
            messages.success(request, _("Critical result acknowledged."))
            return _redirect_to_results(request, alert)
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="critical_result",
        subject_id=alert.pk,
        user_uuid=alert.person.uuid if alert.person else None,
    )
    (row,) = build_critical_result_rows(request.tenant, [alert])
    return render_form(
        request,
        "labs/_acknowledge.html",
        title=_("Acknowledge critical result"),
        back=page_url(request, "labs:critical"),
        back_words=_("Critical results"),
        status=422 if form.errors else 200,
        form=form,
        row=row,
    )


def build_critical_result_rows(
    tenant: Tenant, alerts: Sequence[CriticalAlert]
) -> list[AlertRow]:
    """Build the rows of alerts with their results; at most two queries."""
    results = list_critical_results(
        tenant=tenant, order_ids=[one.order_id for one in alerts if one.order_id]
    )
    reports = list_reports_of_critical_alerts(
        tenant=tenant, alert_ids=[one.pk for one in alerts if one.order_id is None]
    )
    rows = []
    for alert in alerts:
        current = results.get(alert.order_id, ()) if alert.order_id else ()
        row = build_critical_result_row(alert, current or alert.parsed_results)
        for report in reports.get(alert.pk, ())[:1]:
            row = replace(row, results=report.critical_results, report=report)
        rows.append(row)
    return rows


def build_critical_result_row(
    alert: CriticalAlert, results: Sequence[Result | dict[str, Any]]
) -> AlertRow:
    """Build the table row of a critical result."""
    until = alert.acknowledged_at
    notification_method = NotificationMethod.known(alert.notification_method)
    return AlertRow(
        alert=alert,
        results=results,
        countdown=build_acknowledgement_countdown(alert),
        notification_method=str(notification_method.label)
        if notification_method
        else format_wire_value_as_words(alert.notification_method),
        took=format_duration(until - alert.opened_at) if until else "",
        was_late=bool(until and until > alert.due_at),
    )


def build_acknowledgement_countdown(alert: CriticalAlert) -> Countdown:
    """Build the countdown of a result that is not acknowledged."""
    left = alert.due_at - timezone.now()
    if left <= timedelta():
        return Countdown(
            "bad", _("%(time)s overdue") % {"time": format_duration(-left)}
        )
    return Countdown(
        "warn" if left <= _NEARLY_DUE else "rev",
        _("%(time)s left") % {"time": format_duration(left)},
    )


def format_duration(span: timedelta) -> str:
    """Format a duration: 42 min, 3 h 5 min, 2 days."""
    minutes = int(span.total_seconds() // 60)
    if minutes < 60:
        return _("%(minutes)d min") % {"minutes": minutes}
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        if not rest:
            return _("%(hours)d h") % {"hours": hours}
        return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": rest}
    return _("%(days)d days") % {"days": hours // 24}


def _redirect_to_results(request: TenantRequest, alert: CriticalAlert) -> HttpResponse:
    if alert.order_id is None:
        return redirect_browser(request, page_url(request, "labs:critical"))
    return redirect_browser(
        request, page_url(request, "labs:results", order_id=alert.order_id)
    )
