"""Pages to list, create, change, rotate and revoke API keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.api_keys.api_keys import (
    change_api_key,
    compute_rotated_key_expiry,
    create_api_key,
    revoke_api_key,
    rotate_api_key,
)
from accounts.queries import list_api_keys, list_live_api_keys, list_management_keys
from accounts.queries.api_calls import (
    count_api_calls_by_day,
    summarize_recent_api_calls,
)
from accounts.states import SCOPES, Area
from accounts.web.api_keys.forms import ApiKeyForm
from accounts.web.columns import read_list_columns
from accounts.web.dialogs import (
    read_posted,
    render_confirmation,
    render_form,
    replace_page_after_dialog,
)
from accounts.web.forms import RotateForm
from accounts.web.list_columns import API_KEYS
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    is_identity_confirmed,
    redirect_to_identity_confirmation,
    require_confirmed_identity,
)
from portal.lib.errors import DomainError
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from portal.ui.charts import draw_sparkline
from portal.ui.dates import write_date
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpResponse
    from django.utils.safestring import SafeString

    from accounts.models import ApiKey
    from accounts.web.requests import TenantRequest

# A key that nobody uses for so long is better ended (design guide, keys).
UNUSED_AFTER = timedelta(days=90)
# When the end of a key becomes something to see to; of a short one, halfway.
EXPIRES_SOON = timedelta(days=14)
BACK_WORDS = gettext_lazy("API keys")


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as the page shows it.

    `ends_in` is set while a rotated key still works, `expires_in` where another one
    soon does not. `calls` are those of the last seven days, each of 24 hours.
    """

    key: ApiKey
    is_unused: bool
    ends_in: str
    expires_in: str
    ended_at: datetime | None
    calls: Sequence[int] = ()

    @property
    def number_of_calls(self) -> int:
        """Return the calls of the last seven days."""
        return sum(self.calls)

    @property
    def spark(self) -> SafeString:
        """Draw the calls of the last seven days as a line."""
        summary = _("Highest in a day: %(most)s. Last day: %(last)s.") % {
            "most": format_number(max(self.calls)),
            "last": format_number(self.calls[-1]),
        }
        return draw_sparkline(self.calls, says=summary)

    @property
    def is_live(self) -> bool:
        """Return whether the key works."""
        return self.ended_at is None


def build_api_key_row(key: ApiKey, now: datetime, calls: Sequence[int] = ()) -> KeyRow:
    """Build a key's row at this moment."""
    ended_at = key.revoked_at or (key.expires_at if key.has_expired(now) else None)
    left = key.expires_at - now if key.expires_at and not ended_at else None
    was_rotated = hasattr(key, "replaced_by")
    expires = left is not None and not was_rotated and left <= _warning_period(key)
    return KeyRow(
        key=key,
        is_unused=now - (key.last_used_at or key.created_at) >= UNUSED_AFTER,
        ends_in=_describe_span(left) if left is not None and was_rotated else "",
        expires_in=_describe_span(left) if left is not None and expires else "",
        ended_at=ended_at,
        calls=calls,
    )


@require_GET
@require_right(Area.API_KEYS)
def show_api_keys_page(request: TenantRequest) -> HttpResponse:
    return render_api_keys_page(request)


@require_GET
@require_right(Area.API_KEYS)
def show_api_key_page(request: TenantRequest, api_key_id: str) -> HttpResponse:
    """Show one key: its rules and statistics; its calls are in the API log."""
    key = get_api_key_or_404(request, api_key_id)
    now = timezone.now()
    counts = count_api_calls_by_day(tenant=request.tenant, keys=[key.pk], at=now)
    return render_page(
        request,
        "accounts/api_key.html",
        key=key,
        row=build_api_key_row(key, now, counts.get(key.pk, ())),
        sums=summarize_recent_api_calls(tenant=request.tenant, key_id=key.pk, at=now),
        scopes=describe_api_key_scopes(key),
        default_limit=settings.API_CALLS_PER_KEY,
        may_write=request.rights.allow(Area.API_KEYS, write=True),
        section="api_keys",
    )


def describe_api_key_scopes(key: ApiKey) -> list[tuple[str, str]]:
    """Return a key's areas, each with its access; empty for full access."""
    found: dict[str, str] = {}
    for scope in key.scopes or ():
        area, access = SCOPES[scope]
        # Writing, which comes after reading, includes it.
        found[str(area.label)] = _("read") if access == "read" else _("read and write")
        if area == Area.DELETE_USERS:
            found[str(area.label)] = _("allowed")
    return list(found.items())


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
@require_confirmed_identity
def create_api_key_page(request: TenantRequest) -> HttpResponse:
    taken = list_live_api_keys(tenant=request.tenant, at=timezone.now())
    form = ApiKeyForm(read_posted(request), taken=taken)
    if request.method == "POST" and form.is_valid():
        try:
            key, text = create_api_key(
                tenant=request.tenant,
                actor=request.actor,
                label=form.cleaned_data["label"],
                rules=form.rules(),
            )
        except DomainError as refusal:
            _add_field_error(form, refusal)
        else:
            return _show_new_key(request, key, text)
    return render_form(
        request,
        "accounts/_create_key.html",
        title=_("Create API key"),
        back=page_url(request, "team:api_keys"),
        back_words=BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
        verb=_("Create key"),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
def edit_api_key_page(request: TenantRequest, api_key_id: str) -> HttpResponse:
    key = get_api_key_or_404(request, api_key_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    back = page_url(request, "team:api_key", api_key_id=key.pk)
    form = ApiKeyForm(read_posted(request), key=key, end_words=_describe_expiry(key))
    if request.method == "POST" and form.is_valid():
        try:
            key = change_api_key(
                key=key,
                actor=request.actor,
                label=form.cleaned_data["label"],
                rules=form.rules(),
            )
        except DomainError as refusal:
            _add_field_error(form, refusal)
        else:
            messages.success(
                request,
                _("%(name)s is updated. The change applies from the next call.")
                % {"name": key.label},
            )
            return redirect_browser(request, back)
    return render_form(
        request,
        "accounts/_create_key.html",
        title=_("Edit %(name)s") % {"name": key.label},
        back=back,
        back_words=key.label,
        status=422 if form.errors else 200,
        form=form,
        verb=_("Save key"),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
def rotate_api_key_page(request: TenantRequest, api_key_id: str) -> HttpResponse:
    key = get_api_key_or_404(request, api_key_id)
    if not is_identity_confirmed(request):
        return redirect_to_identity_confirmation(request)
    form = RotateForm(read_posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            new, text = rotate_api_key(
                key=key, actor=request.actor, overlap=form.cleaned_data["overlap"]
            )
        except DomainError as refusal:
            form.add_error(
                "overlap",
                _("%(reason)s No key was created.") % {"reason": refusal.message},
            )
        else:
            return _show_new_key(request, new, text)
    return render_form(
        request,
        "accounts/_rotate_key.html",
        title=_("Rotate %(name)s?") % {"name": key.label},
        back=page_url(request, "team:api_keys"),
        back_words=BACK_WORDS,
        status=422 if form.errors else 200,
        form=form,
        key=key,
        new_ends_at=compute_rotated_key_expiry(key, timezone.now()),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.API_KEYS, write=True)
def revoke_api_key_page(request: TenantRequest, api_key_id: str) -> HttpResponse:
    key = get_api_key_or_404(request, api_key_id)
    back = page_url(request, "team:api_keys")
    # A rotated key has a successor and an end already: ending it early asks no name.
    match = "" if hasattr(key, "replaced_by") else key.label
    typed = request.POST.get("typed_name", "").strip()
    error = ""
    if request.method == "POST":
        if match and typed != match:
            error = _("The name does not match. Nothing was revoked.")
        else:
            try:
                revoke_api_key(key=key, actor=request.actor)
            except DomainError as refusal:
                messages.error(request, refusal.message)
            else:
                messages.success(
                    request,
                    _("%(name)s (%(masked)s) is revoked.")
                    % {"name": key.label, "masked": key.masked},
                )
            return redirect_browser(request, back)
    return render_confirmation(
        request,
        title=_("Revoke %(name)s?") % {"name": key.label}
        if match
        else _("End the old %(name)s now?") % {"name": key.label},
        says=(
            _("Calls with %(masked)s fail immediately.") % {"masked": key.masked}
            if match
            else _("Calls with %(masked)s fail immediately. The new key keeps working.")
            % {"masked": key.masked}
        ),
        verb=_("Revoke key") if match else _("End key"),
        keep=_("Keep key"),
        back=back,
        back_words=BACK_WORDS,
        match=match,
        match_label=_("Key name"),
        error=error,
    )


def render_api_keys_page(request: TenantRequest, **news: Any) -> HttpResponse:
    """Render the page; `news` is shown once, about a new key."""
    now = timezone.now()
    manages = request.rights.allow(Area.TEAM, write=True)
    keys = list(list_api_keys(request.tenant))
    counts = count_api_calls_by_day(
        tenant=request.tenant, keys=[key.pk for key in keys], at=now
    )
    counts_calls = settings.API_CALL_LOG_DAYS > 0
    shown = tuple(
        each for each in API_KEYS.columns if counts_calls or each.key != "calls"
    )
    columns = read_list_columns(request, replace(API_KEYS, columns=shown))
    rows = [build_api_key_row(key, now, counts.get(key.pk, ())) for key in keys]
    return render_page(
        request,
        "accounts/api_keys.html",
        columns=columns,
        live=columns.sort_rows(row for row in rows if row.is_live),
        ended=[row for row in rows if not row.is_live],
        manages=manages,
        management_keys=list_management_keys(request.tenant.team) if manages else (),
        unused_days=UNUSED_AFTER.days,
        counts_calls=counts_calls,
        public_url=settings.PUBLIC_URL,
        section="api_keys",
        **news,
    )


def _show_new_key(request: TenantRequest, key: ApiKey, text: str) -> HttpResponse:
    response = render_api_keys_page(request, made=key, text=text)
    return replace_page_after_dialog(
        request, response, url=page_url(request, "team:api_keys")
    )


def get_api_key_or_404(request: TenantRequest, api_key_id: str) -> ApiKey:
    """Return the key of the path, in this environment."""
    try:
        key_id = UUID(api_key_id)
    except ValueError:
        raise Http404 from None
    key: ApiKey | None = list_api_keys(request.tenant).filter(pk=key_id).first()
    if key is None:
        raise Http404
    return key


def _warning_period(key: ApiKey) -> timedelta:
    """Return how long before its expiry a key shows a warning."""
    if key.expires_at is None:
        return EXPIRES_SOON
    return min(EXPIRES_SOON, (key.expires_at - key.created_at) / 2)


def _add_field_error(form: ApiKeyForm, refusal: DomainError) -> None:
    """Add a refusal to the field it is about."""
    fields = {"scopes": "reach", "expires_at": "lasting"}
    name = fields.get(refusal.field or "", refusal.field)
    form.add_error(name if name in form.fields else "label", refusal.message)


def _describe_expiry(key: ApiKey) -> str:
    if key.expires_at is None:
        return ""
    return _("Keep current: %(time)s") % {
        "time": write_date(timezone.localtime(key.expires_at), "j M Y, H:i")
    }


def _describe_span(left: timedelta) -> str:
    """Return a duration in its two largest units."""
    minutes = int(left.total_seconds() // 60)
    days, hours = divmod(minutes // 60, 24)
    if days:
        return _("%(days)d d %(hours)d h") % {"days": days, "hours": hours}
    if hours:
        return _("%(hours)d h %(minutes)d min") % {
            "hours": hours,
            "minutes": minutes % 60,
        }
    return _("%(minutes)d min") % {"minutes": minutes}
