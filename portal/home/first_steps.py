"""A new team's checklist: what is done, by what is stored, and what is next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Literal

from django.conf import settings
from django.db.models import Exists

from accounts.declarations.pages import list_first_steps
from accounts.models import Tenant
from accounts.operations.members.guides import Guide, is_guide_hidden
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from accounts.declarations.pages import FirstStep
    from accounts.web.requests import TenantRequest


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step as the checklist shows it; `state` is a key of PILLS."""

    step: FirstStep
    state: Literal["step_done", "step_next", "step_open"]
    says: str
    verb: str
    url: str


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The steps that the member's roles can take, in order; `done` of them are."""

    rows: tuple[StepRow, ...]
    done: int
    public_url: str


def build_first_steps(request: TenantRequest) -> FirstSteps | None:
    """Build the checklist; None when it is hidden, through or not for these roles.

    One query. Source: Ours (design guide, onboarding).
    """
    tenant = request.tenant
    steps = [
        step
        for step in list_first_steps()
        if request.rights.allow(step.area, write=True)
    ]
    if not steps or is_guide_hidden(
        member=request.member, tenant=tenant, guide=Guide.FIRST_STEPS
    ):
        return None
    done, begun = _look(tenant, steps)
    if len(done) == len(steps):
        return None
    first = next(step.key for step in steps if step.key not in done)
    return FirstSteps(
        rows=tuple(
            _build_row(
                request,
                step,
                "step_done"
                if step.key in done
                else "step_next"
                if step.key == first
                else "step_open",
                is_begun=step.key in begun and step.key not in done,
            )
            for step in steps
        ),
        done=len(done),
        public_url=settings.PUBLIC_URL,
    )


def _look(tenant: Tenant, steps: list[FirstStep]) -> tuple[set[str], set[str]]:
    """Return the keys of steps that are done, and of those that are half done."""
    asked = {
        f"done_{step.key}": reduce(or_, (Exists(rows) for rows in step.rows(tenant)))
        for step in steps
    }
    asked |= {
        f"begun_{step.key}": Exists(step.begun(tenant)) for step in steps if step.begun
    }
    found = Tenant.objects.filter(pk=tenant.pk).values(**asked).get()
    true = {name for name, value in found.items() if value}
    return (
        {step.key for step in steps if f"done_{step.key}" in true},
        {step.key for step in steps if f"begun_{step.key}" in true},
    )


def _build_row(
    request: TenantRequest,
    step: FirstStep,
    state: Literal["step_done", "step_next", "step_open"],
    *,
    is_begun: bool,
) -> StepRow:
    if is_begun:
        return StepRow(
            step,
            state,
            step.begun_says,
            step.begun_verb,
            page_url(request, step.begun_path_name),
        )
    return StepRow(step, state, step.says, step.verb, page_url(request, step.path_name))
