"""Actions on several reviews of the queue: claim, assign, return them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.operations.audit.entries import record_read
from accounts.queries import list_team_members
from accounts.states import Area, roles_allow_access
from accounts.web.bulk import BulkAction, BulkRow, read_chosen_ids, serve_bulk_action
from accounts.web.rights import require_right
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import NotFound
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import page_url
from reports.operations.review.reviews import (
    assign_review,
    claim_review,
    unassign_review,
)
from reports.queries.review_queue import list_reviews_by_id
from reports.states import ReviewStatus

if TYPE_CHECKING:
    from django.http import HttpResponse

    from accounts.web.requests import TenantRequest
    from reports.models import Review


def _refuse(request: TenantRequest, review: Review) -> str:
    if review.status != ReviewStatus.OPEN:
        return _("This review has ended.")
    if review.is_leased and review.claimed_by_key != request.actor.key:
        return _("%(name)s is reviewing it.") % {"name": review.claimed_by_label}
    return ""


def _refuse_returning(request: TenantRequest, review: Review) -> str:
    if not review.claimed_by_key:
        return _("Nobody has it.")
    return _refuse(request, review)


def _claim(request: TenantRequest, review: Review) -> None:
    claim_review(tenant=request.tenant, actor=request.actor, review_id=review.pk)


def _return(request: TenantRequest, review: Review) -> None:
    unassign_review(tenant=request.tenant, actor=request.actor, review_id=review.pk)


def _list_reviewers(request: TenantRequest) -> list[tuple[str, str]]:
    """List the members who may sign in this environment, by key and name."""
    return [
        (str(each.member.pk), each.member.name or each.member.email)
        for each in list_team_members(request.tenant.team)
        if roles_allow_access(
            roles=each.roles,
            area=Area.SIGN_REPORTS,
            write=True,
            environment=request.tenant.environment,
        )
    ]


def _assign(request: TenantRequest, review: Review) -> None:
    chosen = request.POST["choice"]
    for each in list_team_members(request.tenant.team):
        if str(each.member.pk) == chosen:
            assign_review(
                tenant=request.tenant,
                actor=request.actor,
                review_id=review.pk,
                reviewer=Actor(ActorKind.MEMBER, chosen, each.member.email),
            )
            return
    raise NotFound("member_not_found", _("This member has left the team."))


REVIEW_ACTIONS = {
    action.key: action
    for action in (
        BulkAction(
            key="claim",
            title=gettext_lazy("Claim reviews"),
            verb=gettext_lazy("Claim reviews"),
            says=gettext_lazy(
                "They are yours for 10 minutes, and longer while you work on them."
            ),
            undo=gettext_lazy("You can return them to the queue."),
            refuse=_refuse,
            run=_claim,
            undone_by="return",
        ),
        BulkAction(
            key="assign",
            title=gettext_lazy("Assign reviews"),
            verb=gettext_lazy("Assign reviews"),
            says=gettext_lazy(
                "They are listed under Mine for the reviewer you choose. Others can"
                " still claim them."
            ),
            undo=gettext_lazy("You can return them to the queue."),
            refuse=_refuse,
            run=_assign,
            choose=_list_reviewers,
            choose_label=gettext_lazy("Reviewer"),
            undone_by="return",
        ),
        BulkAction(
            key="return",
            title=gettext_lazy("Return to queue"),
            verb=gettext_lazy("Return to queue"),
            says=gettext_lazy("They have no reviewer then. Saved changes are kept."),
            undo=gettext_lazy("You can claim or assign them again."),
            refuse=_refuse_returning,
            run=_return,
        ),
    )
}


@require_http_methods(["GET", "POST"])
@require_right(Area.SIGN_REPORTS, write=True)
def act_on_reviews(request: TenantRequest) -> HttpResponse:
    """Plan an action on the chosen reviews, or carry it out."""
    sent = request.POST if request.method == "POST" else request.GET
    reviews = list_reviews_by_id(
        tenant=request.tenant, ids=read_chosen_ids(sent.getlist("review"))
    )
    if request.method == "GET":
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject="review_queue",
            subject_id=f"selected={len(reviews)}",
        )
    return serve_bulk_action(
        request,
        actions=REVIEW_ACTIONS,
        rows=[
            BulkRow(
                review,
                str(review.job_id)[:8],
                review.job.user.client_user_id,
                page_url(request, "reports:review", review_id=review.pk),
            )
            for review in reviews
        ],
        field="review",
        back=page_url(request, "reports:reviews"),
        back_words=_("Reviews"),
        section="reviews",
    )
