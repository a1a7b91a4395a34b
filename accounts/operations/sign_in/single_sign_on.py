"""Configure a team's OpenID provider and its sign-in requirements."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, field
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.gateways.base import Client, ProviderFailed
from accounts.gateways.openid import find_openid_provider_metadata
from accounts.models import Member, SignInRules, SingleSignOn
from accounts.models.sign_in import CLIENT_ID_MAX_LENGTH, ISSUER_MAX_LENGTH
from accounts.operations.audit.entries import record_team_change
from accounts.operations.members.granting import (
    check_actor_may_grant_roles,
    lock_team_membership,
    validate_roles,
)
from accounts.queries.languages import get_mail_language
from accounts.states import Role
from portal.lib.errors import DomainError, NotFound
from portal.lib.network.addresses import AddressRefused
from portal.lib.secrets.encryption import decrypt_secret, encrypt_secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from accounts.models import Team
    from portal.lib.actor import Actor

_log = logging.getLogger(__name__)
MAX_DOMAINS = 20
SECRET_MAX_LENGTH = 1000
_DOMAIN = re.compile(
    r"(?=.{4,253}\Z)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}"
)
# Who joins by an address alone is never one of these.
ROLES_BY_INVITATION = frozenset({Role.OWNER.value, Role.ADMIN.value})


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """A provider's settings; an empty `client_secret` keeps the current one.

    `roles` are those of whoever joins by an address of `domains`; none: nobody does.
    """

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    domains: Sequence[str] = ()
    roles: Sequence[str] = ()


def configure_single_sign_on(
    *, team: Team, actor: Actor, provider: ProviderSettings
) -> SingleSignOn:
    """Set or change a team's OpenID provider, after fetching its metadata.

    With another issuer or client nobody is known there any more: each member shows anew
    who they are. Owners are mailed. Raises: not_allowed, issuer_refused,
    issuer_unavailable, client_missing, secret_missing, domain_invalid, domains_limit,
    role_unknown, role_too_high. Source: Ours (specification silent); OpenID Connect
    Discovery 1.0.
    """
    check_actor_may_grant_roles(team=team, actor=actor, roles=())
    client_id, secret = provider.client_id.strip(), provider.client_secret.strip()
    if not client_id or len(client_id) > CLIENT_ID_MAX_LENGTH:
        raise DomainError(
            "client_missing",
            _("Enter a client ID of at most %(most)d characters.")
            % {"most": CLIENT_ID_MAX_LENGTH},
            "client_id",
        )
    if len(secret) > SECRET_MAX_LENGTH:
        raise DomainError(
            "secret_missing",
            _("Enter a client secret of at most %(most)d characters.")
            % {"most": SECRET_MAX_LENGTH},
            "client_secret",
        )
    domains = _check_domains(provider.domains)
    roles = validate_roles(provider.roles) if provider.roles else []
    if ROLES_BY_INVITATION.intersection(roles):
        raise DomainError(
            "role_too_high",
            _("Owners and admins can only join by invitation."),
            "roles",
        )
    # Outside any transaction: it may take seconds.
    issuer = _discover_issuer(provider.issuer.strip())
    with transaction.atomic():
        lock_team_membership(team)
        found = SingleSignOn.objects.filter(team=team).first()
        present = found or SingleSignOn(team=team)
        before = _audited_settings(present) if found else {}
        is_other = (present.issuer, present.client_id) != (issuer, client_id)
        if not secret and (found is None or is_other):
            raise DomainError(
                "secret_missing", _("Enter the client secret."), "client_secret"
            )
        if is_other and found:
            present.round += 1
            present.identities.all().delete()
        present.issuer, present.client_id = issuer, client_id
        present.domains, present.roles = domains, roles
        if secret:
            present.client_secret = encrypt_secret(secret)
        after = _audited_settings(present)
        changes: dict[str, object] = {
            name: [before.get(name), value]
            for name, value in after.items()
            if before.get(name) != value
        }
        if secret:
            changes["fields"] = ["client_secret"]
        if found and not changes:
            return present
        present.save()
        if is_other and found:
            # The new one has to show that it works before anybody depends on it.
            SignInRules.objects.filter(team=team).update(requires_single_sign_on=False)
        record_team_change(
            team=team,
            actor=actor,
            verb="configure_single_sign_on",
            subject="team",
            subject_id=team.pk,
            changes=changes,
        )
    _mail_owners(team, actor, "single_sign_on_changed")
    return present


def remove_single_sign_on(*, team: Team, actor: Actor) -> None:
    """Remove a team's provider; members without a password need to set one.

    Owners are mailed. Raises: not_allowed, not_found.
    """
    with transaction.atomic():
        lock_team_membership(team)
        check_actor_may_grant_roles(team=team, actor=actor, roles=())
        present = SingleSignOn.objects.filter(team=team).first()
        if present is None:
            raise NotFound("not_found", _("The team has no single sign-on."))
        SignInRules.objects.filter(team=team).update(requires_single_sign_on=False)
        present.delete()
        record_team_change(
            team=team,
            actor=actor,
            verb="remove_single_sign_on",
            subject="team",
            subject_id=team.pk,
            changes={"issuer": [present.issuer, None]},
        )
    _mail_owners(team, actor, "single_sign_on_removed")


@transaction.atomic
def change_sign_in_rules(
    *,
    team: Team,
    actor: Actor,
    requires_second_factor: bool,
    requires_single_sign_on: bool,
    mark: str = "",
) -> SignInRules:
    """Set a team's sign-in requirements, from the next request on.

    `mark` is that of the provider which has vouched for the actor: who has not come by
    it can't require it of all, as nobody might get in. API keys are not concerned.
    Raises: not_allowed, single_sign_on_missing, single_sign_on_unproven. Source: Ours.
    """
    lock_team_membership(team)
    check_actor_may_grant_roles(team=team, actor=actor, roles=())
    rules = SignInRules.objects.filter(team=team).first() or SignInRules(team=team)
    if requires_single_sign_on and not rules.requires_single_sign_on:
        present = SingleSignOn.objects.filter(team=team).first()
        if present is None:
            raise DomainError(
                "single_sign_on_missing",
                _("Set up single sign-on first."),
                "requires_single_sign_on",
            )
        if present.mark != mark:
            raise DomainError(
                "single_sign_on_unproven",
                _("Sign in with single sign-on yourself first, to test it."),
                "requires_single_sign_on",
            )
    new_rules = {
        "requires_second_factor": requires_second_factor,
        "requires_single_sign_on": requires_single_sign_on,
    }
    changes = {
        name: [getattr(rules, name), value]
        for name, value in new_rules.items()
        if getattr(rules, name) != value
    }
    if changes:
        for name in changes:
            setattr(rules, name, new_rules[name])
        rules.save()
        record_team_change(
            team=team,
            actor=actor,
            verb="change_sign_in_rules",
            subject="team",
            subject_id=team.pk,
            changes=changes,
        )
    return rules


def build_openid_client(single_sign_on: SingleSignOn) -> Client:
    """Build the client registration of a provider, its secret decrypted."""
    return Client(
        client_id=single_sign_on.client_id,
        client_secret=decrypt_secret(single_sign_on.client_secret),
    )


def _discover_issuer(issuer: str) -> str:
    """Return the canonical issuer. Raises: issuer_refused, issuer_unavailable."""
    if len(issuer) > ISSUER_MAX_LENGTH:
        raise DomainError(
            "issuer_refused",
            _("Enter at most %(most)d characters.") % {"most": ISSUER_MAX_LENGTH},
            "issuer",
        )
    try:
        provider = find_openid_provider_metadata(issuer)
    except AddressRefused as refused:
        raise DomainError("issuer_refused", str(refused), "issuer") from None
    except ProviderFailed as failed:
        raise DomainError(
            "issuer_unavailable",
            _("No OpenID provider found at this URL (%(reason)s).")
            % {"reason": failed.reason},
            "issuer",
        ) from None
    if not provider.algorithms:
        raise DomainError(
            "issuer_unavailable",
            _("The provider offers no supported signature algorithm."),
            "issuer",
        )
    return provider.issuer


def _check_domains(entered: Sequence[str]) -> list[str]:
    """Return domains in order, each once. Raises: domain_invalid, domains_limit."""
    domains = sorted({domain.strip().lower().lstrip("@") for domain in entered} - {""})
    if len(domains) > MAX_DOMAINS:
        raise DomainError(
            "domains_limit",
            _("Enter at most %(most)d domains.") % {"most": MAX_DOMAINS},
            "domains",
        )
    if not all(_DOMAIN.fullmatch(domain) for domain in domains):
        raise DomainError(
            "domain_invalid", _("Enter domains such as north.example."), "domains"
        )
    return domains


def _audited_settings(single_sign_on: SingleSignOn) -> dict[str, object]:
    return {
        name: getattr(single_sign_on, name)
        for name in ("issuer", "client_id", "domains", "roles")
    }


def _mail_owners(team: Team, actor: Actor, template: str) -> None:
    """Email the team's owners, after the transaction; log failures only."""
    owners = Member.objects.filter(
        is_active=True,
        memberships__team=team,
        memberships__roles__contains=[Role.OWNER],
    )
    context = {"team": team.name, "actor": actor.label}
    for owner in owners.order_by("email"):
        with translation.override(get_mail_language(owner)):
            subject = render_to_string(
                f"accounts/email/{template}_subject.txt", context
            )
            text = render_to_string(f"accounts/email/{template}_message.txt", context)
        try:
            send_mail(" ".join(subject.split()), text, None, [owner.email])
        except (OSError, SMTPException):
            _log.warning("mail %s of team %s could not be sent", template, team.pk)
