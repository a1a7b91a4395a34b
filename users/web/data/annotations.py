"""Annotations of a user: the page that lists and adds them, forms and charts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django import forms
from django.contrib import messages
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.dialogs import read_posted, render_confirmation, render_form
from accounts.web.rights import require_right
from portal.lib.errors import DomainError, NotFound
from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url, redirect_browser, render_page
from users.models.data.annotation import ANNOTATION_TEXT_MAX_LENGTH
from users.operations.users.annotations import (
    AnnotationRequest,
    add_annotation,
    change_annotation,
    delete_annotation,
)
from users.queries import live_user, user_overview
from users.queries.data.annotations import (
    get_annotation,
    list_annotations,
    name_days,
    number_annotations,
)
from users.states import AnnotationKind

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from users.models import User

# Pages that a form is opened from, and goes back to.
_ORIGINS = {
    "record": "users:page",
    "explorer": "users:explorer",
    "beside": "labs:beside_life",
}
# The field that each refusal is about.
_FIELDS = {
    "ends_before_start": "last_day",
    "day_out_of_range": "first_day",
    "text_missing": "text",
}


class AnnotationForm(forms.Form):
    """Form of an annotation; without a last day it is of one day."""

    kind = forms.ChoiceField(choices=AnnotationKind.offered)
    first_day = forms.DateField(
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={
            "required": gettext_lazy("Enter the first day."),
            "invalid": gettext_lazy("Enter a date as YYYY-MM-DD."),
        },
    )
    last_day = forms.DateField(
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": gettext_lazy("Enter a date as YYYY-MM-DD.")},
    )
    text = forms.CharField(
        max_length=ANNOTATION_TEXT_MAX_LENGTH,
        error_messages={"required": gettext_lazy("Enter what happened.")},
    )

    def read(self) -> AnnotationRequest:
        """Return what was entered, of a valid form."""
        entered = self.cleaned_data
        return AnnotationRequest(
            kind=AnnotationKind(entered["kind"]),
            first_day=entered["first_day"],
            last_day=entered["last_day"] or entered["first_day"],
            text=entered["text"],
        )


@require_GET
@require_right(Area.USERS)
def show_annotations(request: TenantRequest, user_id: str) -> HttpResponse:
    """List a user's annotations, the latest first."""
    overview = user_overview(tenant=request.tenant, user_id=_uuid(user_id))
    listed = number_annotations(list_annotations(user=overview.user))
    if listed:
        _record_read(request, overview.user)
    return render_page(
        request,
        "users/annotations.html",
        overview=overview,
        section="users",
        tab="annotations",
        annotations=listed[::-1],
    )


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def write_annotation(request: TenantRequest, user_id: str) -> HttpResponse:
    """Show the form of a new annotation, and store what is posted.

    `from` names the page to go back to.
    """
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    zone = find_time_zone_by_name(user.fallback_time_zone)
    form = AnnotationForm(
        read_posted(request),
        initial={"first_day": timezone.now().astimezone(zone).date()},
    )
    if request.method == "POST" and form.is_valid():
        try:
            add_annotation(user=user, actor=request.actor, request=form.read())
        except NotFound:
            raise
        except DomainError as refusal:
            form.add_error(_FIELDS.get(refusal.code), refusal.message)
        else:
            messages.success(request, _("Annotation added."))
            return redirect_browser(request, _back(request, user))
    return _render(request, user, form, title=_("Add annotation"))


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def edit_annotation(
    request: TenantRequest, user_id: str, annotation_id: str
) -> HttpResponse:
    """Show an annotation's form, and store what is posted."""
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    annotation = get_annotation(user=user, annotation_id=_uuid(annotation_id))
    is_span = annotation.last_day != annotation.first_day
    form = AnnotationForm(
        read_posted(request),
        initial={
            "kind": annotation.kind,
            "first_day": annotation.first_day,
            "last_day": annotation.last_day if is_span else None,
            "text": annotation.text,
        },
    )
    if request.method == "POST" and form.is_valid():
        try:
            change_annotation(
                user=user,
                actor=request.actor,
                annotation_id=annotation.uuid,
                request=form.read(),
            )
        except NotFound:
            raise
        except DomainError as refusal:
            form.add_error(_FIELDS.get(refusal.code), refusal.message)
        else:
            messages.success(request, _("Annotation changed."))
            return redirect_browser(request, _back(request, user))
    _record_read(request, user)
    return _render(request, user, form, title=_("Edit annotation"))


@require_http_methods(["GET", "POST"])
@require_right(Area.USERS, write=True)
def remove_annotation(
    request: TenantRequest, user_id: str, annotation_id: str
) -> HttpResponse:
    """Ask, then delete an annotation."""
    user = live_user(tenant=request.tenant, user_id=_uuid(user_id))
    annotation = get_annotation(user=user, annotation_id=_uuid(annotation_id))
    if request.method == "POST":
        delete_annotation(user=user, actor=request.actor, annotation_id=annotation.uuid)
        messages.success(request, _("Annotation deleted."))
        return redirect_browser(request, _back(request, user))
    _record_read(request, user)
    return render_confirmation(
        request,
        title=_("Delete annotation"),
        says=_("The annotation of %(days)s leaves every chart of this user.")
        % {"days": name_days(annotation.first_day, annotation.last_day)},
        verb=_("Delete annotation"),
        keep=_("Keep annotation"),
        back=_back(request, user),
        back_words=_("Annotations"),
    )


def _render(
    request: TenantRequest, user: User, form: AnnotationForm, *, title: str
) -> HttpResponse:
    return render_form(
        request,
        "users/_annotation_form.html",
        title=title,
        back=_back(request, user),
        back_words=user.client_user_id,
        status=422 if form.errors else 200,
        form=form,
        origin=_origin(request),
    )


def _origin(request: TenantRequest) -> str:
    """Return the page that the form was opened from; empty for the list."""
    named = (request.POST if request.method == "POST" else request.GET).get("from", "")
    return named if named in _ORIGINS else ""


def _back(request: TenantRequest, user: User) -> str:
    page = _ORIGINS.get(_origin(request), "users:annotations")
    return page_url(request, page, user_id=user.uuid)


def _record_read(request: TenantRequest, user: User) -> None:
    record_read(
        tenant=request.tenant,
        actor=request.actor,
        subject="annotations",
        subject_id=user.uuid,
        user_uuid=user.uuid,
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound("not_found", _("Not found.")) from None
