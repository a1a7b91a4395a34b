"""The page of a member's notification settings.

Each says so for themselves, in each environment.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.notices import change_notice_preferences
from accounts.queries.notices import (
    NoticePreferences,
    Recipient,
    list_team_notice_recipients,
    preview_notice_mails,
)
from accounts.states import (
    Area,
    NoticeKind,
    NoticeLevel,
    list_selectable_notice_levels,
    notice_ignores_quiet_hours,
)
from accounts.web.rights import require_right
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest

_HINTS = {
    NoticeKind.CRITICAL_RESULT: (
        gettext_lazy(
            "If no member chose Immediately, everyone who can acknowledge"
            " results is emailed when one is overdue."
        )
    ),
    NoticeKind.FAILING_ENDPOINT: (
        gettext_lazy(
            "Sent when an endpoint is halfway to being disabled, twice "
            "more, and when it is disabled."
        )
    ),
    NoticeKind.SILENT_SOURCE: (
        gettext_lazy(
            "Users whose data is overdue compared with their usual pace. "
            "Sent at most once a day per source."
        )
    ),
    NoticeKind.FAILED_SOURCE: (
        gettext_lazy(
            "Sources that users have to connect again. "
            "Sent at most once a day per source."
        )
    ),
    NoticeKind.ORDER_APPROVAL: (
        gettext_lazy(
            "Orders that wait for you, also as a stand-in. Sent at most once an hour,"
            " and again after a day while any waits."
        )
    ),
}


class NoticesForm(forms.Form):
    """A level for each kind of notice, quiet hours and the digest hour."""

    quiet_from = forms.TimeField(
        required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M")
    )
    quiet_until = forms.TimeField(
        required=False, widget=forms.TimeInput({"type": "time"}, "%H:%M")
    )
    digest_hour = forms.TypedChoiceField(
        coerce=int,
        choices=[(hour, f"{hour:02}:00") for hour in range(24)],
    )

    def __init__(self, *args: Any, recipient: Recipient, **options: Any) -> None:
        super().__init__(*args, **options)
        self.kinds = list(recipient.preferences.levels)
        for kind in self.kinds:
            self.fields[kind.value] = forms.TypedChoiceField(
                coerce=NoticeLevel,
                choices=[
                    (each.value, each.label)
                    for each in list_selectable_notice_levels(kind)
                ],
                widget=forms.RadioSelect,
                label=kind.label,
                help_text=_HINTS[kind],
            )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        for name, other in (
            ("quiet_from", "quiet_until"),
            ("quiet_until", "quiet_from"),
        ):
            if values.get(other) and name in values and not values[name]:
                self.add_error(
                    name, _("Enter both a start and an end, or leave both empty.")
                )
        return values

    def preferences(self) -> NoticePreferences:
        """Return the settings entered."""
        values = self.cleaned_data
        start, end = values["quiet_from"], values["quiet_until"]
        return NoticePreferences(
            {kind: values[kind.value] for kind in self.kinds},
            (start, end) if start is not None and end is not None else None,
            values["digest_hour"],
        )


@require_http_methods(["GET", "POST"])
@require_right(Area.TEAM)
def edit_notification_settings(request: TenantRequest) -> HttpResponse:
    recipients = list_team_notice_recipients(request.tenant)
    own = next(
        each for each in recipients if each.membership.member_id == request.member.pk
    )
    if request.method == "POST":
        form = NoticesForm(request.POST, recipient=own)
        if form.is_valid():
            try:
                change_notice_preferences(
                    tenant=request.tenant,
                    actor=request.actor,
                    membership=own.membership,
                    preferences=form.preferences(),
                )
            except DomainError as refusal:
                form.add_error(refusal.field, refusal.message)
            else:
                messages.success(request, _("Notification settings saved."))
                return redirect_browser(
                    request, page_url(request, "team:notifications")
                )
        return _render(request, recipients, own, form)
    if "digest_hour" in request.GET:  # a preview of what is not saved
        form = NoticesForm(request.GET, recipient=own)
        if form.is_valid():
            return _render(
                request, recipients, replace(own, preferences=form.preferences()), form
            )
        return _render(request, recipients, own, form)
    return _render(request, recipients, own, None)


def _render(
    request: TenantRequest,
    recipients: list[Recipient],
    recipient: Recipient,
    form: NoticesForm | None,
) -> HttpResponse:
    tenant = request.tenant
    preferences = recipient.preferences
    start, end = preferences.quiet or (None, None)
    initial = {
        **{kind.value: level.value for kind, level in preferences.levels.items()},
        "quiet_from": start,
        "quiet_until": end,
        "digest_hour": preferences.digest_hour,
    }
    shown = form or NoticesForm(initial=initial, recipient=recipient)
    critical = NoticeKind.CRITICAL_RESULT
    return render_page(
        request,
        "accounts/notifications.html",
        fragment="accounts/_notices_preview.html",
        status=422 if form is not None and form.errors else 200,
        section="settings",
        form=shown,
        kinds=[shown[kind.value] for kind in shown.kinds],
        pierces=notice_ignores_quiet_hours(
            kind=critical, environment=tenant.environment
        )
        and critical in shown.kinds,
        is_unsaved=form is not None,
        mails=preview_notice_mails(
            tenant=tenant,
            recipient=recipient,
            recipients=recipients,
            now=timezone.now(),
        ),
        recipients_by_kind=_list_recipients_by_kind(recipients),
    )


def _list_recipients_by_kind(
    recipients: list[Recipient],
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each kind with its recipients, as (label, people)."""
    return [
        (
            kind.label,
            [
                (
                    each.membership.member.name or each.membership.member.email,
                    level.label,
                )
                for each in recipients
                if (level := each.preferences.levels.get(kind, NoticeLevel.OFF))
                != NoticeLevel.OFF
            ],
        )
        for kind in NoticeKind
    ]
