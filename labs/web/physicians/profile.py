"""Pages of a team's physicians and of a physician's profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.states import Area
from accounts.web.rights import require_right
from accounts.web.sign_in.step_up import (
    require_confirmed_identity,
    require_second_factor,
)
from labs.operations.physicians.profiles import (
    PhysicianProfile,
    save_physician_profile,
)
from labs.queries.physicians import (
    find_physician_profile,
    get_today_of_team,
    is_away,
    list_physicians,
)
from labs.states.accounts import US_STATES
from portal.lib.errors import DomainError, NotAllowed
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.web.requests import TenantRequest
    from labs.models import Physician


class PhysicianForm(forms.Form):
    """A physician's name, NPI, licenses, signature and stand-in."""

    first_name = forms.CharField(
        max_length=50,
        label=gettext_lazy("First name"),
        error_messages={"required": gettext_lazy("Enter your first name.")},
    )
    last_name = forms.CharField(
        max_length=50,
        label=gettext_lazy("Last name"),
        error_messages={"required": gettext_lazy("Enter your last name.")},
    )
    npi = forms.CharField(
        max_length=10,
        label=gettext_lazy("NPI"),
        error_messages={"required": gettext_lazy("Enter your NPI.")},
    )
    licensed_states = forms.CharField(
        max_length=400,
        label=gettext_lazy("Licensed in"),
        error_messages={"required": gettext_lazy("Enter the states of your licenses.")},
    )
    signature = forms.FileField(required=False, label=gettext_lazy("Signature"))
    stand_in = forms.ChoiceField(required=False, label=gettext_lazy("Stand-in"))
    away_from = forms.DateField(
        required=False,
        label=gettext_lazy("Away from"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    away_until = forms.DateField(
        required=False,
        label=gettext_lazy("Last day away"),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )

    def __init__(self, *args: Any, others: Sequence[Physician], **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["stand_in"].choices = [  # type: ignore[attr-defined]  # a choice field
            ("", _("Nobody")),
            *((str(one.pk), f"{one.name}, NPI {one.npi}") for one in others),
        ]

    def clean_licensed_states(self) -> list[str]:
        """Return the two-letter codes; refuse what is none."""
        text: str = self.cleaned_data["licensed_states"]
        states = text.upper().replace(",", " ").split()
        if wrong := sorted(set(states) - US_STATES):
            raise forms.ValidationError(
                _("Not a state: %(codes)s. Enter two-letter codes, such as AZ, NM.")
                % {"codes": ", ".join(wrong)}
            )
        return states

    @property
    def profile(self) -> PhysicianProfile:
        """Return the profile of a valid form."""
        data = self.cleaned_data
        file = data["signature"]
        return PhysicianProfile(
            first_name=data["first_name"],
            last_name=data["last_name"],
            npi=data["npi"],
            licensed_states=data["licensed_states"],
            signature=file.read() if file else None,
            stand_in_id=UUID(data["stand_in"]) if data["stand_in"] else None,
            away_from=data["away_from"],
            away_until=data["away_until"],
        )


@require_GET
@require_right(Area.CATALOGUE)
def show_physicians(request: TenantRequest) -> HttpResponse:
    today = get_today_of_team(request.tenant)
    return render_page(
        request,
        "labs/physicians.html",
        section="approvals",
        rows=[(one, is_away(one, today)) for one in list_physicians(request.tenant)],
        is_physician=request.rights.allow(Area.APPROVE_ORDERS, write=True),
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.APPROVE_ORDERS, write=True)
@require_second_factor
@require_confirmed_identity
def edit_physician_profile(request: TenantRequest) -> HttpResponse:
    """Edit the member's profile; a stored signature stays unless another is chosen."""
    stored = find_physician_profile(tenant=request.tenant, member_id=request.member.pk)
    is_post = request.method == "POST"
    form = PhysicianForm(
        request.POST if is_post else None,
        request.FILES if is_post else None,
        initial=_build_initial(stored) if stored else {},
        others=[
            one
            for one in list_physicians(request.tenant)
            if stored is None or one.pk != stored.pk
        ],
    )
    if is_post and form.is_valid():
        try:
            save_physician_profile(
                tenant=request.tenant, actor=request.actor, profile=form.profile
            )
        except NotAllowed:
            raise
        except DomainError as refusal:
            known = refusal.field if refusal.field in form.fields else None
            form.add_error(known, refusal.message)
        else:
            messages.success(request, _("Profile saved."))
            return redirect_browser(request, page_url(request, "labs:approvals"))
    return render_page(
        request,
        "labs/physician_profile.html",
        status=422 if form.errors else 200,
        section="approvals",
        form=form,
        has_signature=bool(stored and stored.signature),
    )


@require_GET
@require_right(Area.APPROVE_ORDERS, write=True)
@require_second_factor
def show_physician_signature(request: TenantRequest) -> HttpResponse:
    """Return the member's own signature as a PNG."""
    stored = find_physician_profile(tenant=request.tenant, member_id=request.member.pk)
    if stored is None or not stored.signature:
        raise Http404
    response = HttpResponse(bytes(stored.signature), content_type="image/png")
    add_never_cache_headers(response)
    return response


def _build_initial(stored: Physician) -> dict[str, Any]:
    return {
        "first_name": stored.first_name,
        "last_name": stored.last_name,
        "npi": stored.npi,
        "licensed_states": ", ".join(stored.licensed_states),
        "stand_in": str(stored.stand_in_id or ""),
        "away_from": stored.away_from,
        "away_until": stored.away_until,
    }
