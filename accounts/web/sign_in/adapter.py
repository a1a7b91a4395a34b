"""Adapt allauth: no open sign-up, own texts, limited sign-in attempts."""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal import ratelimit
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import Member
from accounts.operations.sign_in.attempts import (
    build_sign_in_subject_of_email,
    uncount_correct_sign_in_attempt,
)
from accounts.operations.sign_in.sessions import record_sign_in
from accounts.web.sign_in.attempts import (
    count_sign_in_attempt_or_refuse,
    describe_wait_time,
)
from accounts.web.sign_in.known_devices import (
    list_members_known_on_device,
    mark_device_known_to_member,
)
from accounts.web.sign_in.proofs import is_single_sign_on_session
from accounts.web.sign_in.step_up import is_identity_confirmed
from portal.lib.actor import Actor, ActorKind
from portal.lib.network.addresses import parse_ip_address
from portal.lib.secrets.encryption import decrypt_secret, encrypt_secret
from portal.lib.translation import gettext_lazy
from portal.lib.web.links import (
    build_absolute_url,
    get_public_host,
    is_own_redirect_url,
)

_log = logging.getLogger(__name__)
_WAYS = {
    "reauthenticate": gettext_lazy("Use your password"),
    "mfa_reauthenticate": gettext_lazy("Use a code"),
    "mfa_reauthenticate:webauthn": gettext_lazy("Use a passkey"),
}


class MemberAdapter(DefaultAccountAdapter):
    """Sign in invited members; there is no open sign-up."""

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": gettext_lazy("Email and password do not match."),
        "incorrect_password": gettext_lazy("The password is incorrect."),
        # Of one address, whichever accounts it tries (ACCOUNT_RATE_LIMITS).
        "too_many_login_attempts": gettext_lazy(
            "Too many attempts. Wait 1 minute and try again."
        ),
        "invalid_password_reset": gettext_lazy(
            "This link was used or has expired. Request a new one."
        ),
    }

    def is_open_for_signup(self, request: Any) -> bool:
        return False

    def login(self, request: Any, user: Any) -> None:
        # The one door of every way to sign in, once all of it is given.
        super().login(request, user)
        address = request.META.get("REMOTE_ADDR") or None
        record_sign_in(
            member=user,
            actor=Actor(ActorKind.MEMBER, str(user.pk), user.email, address),
        )

    def get_reset_password_from_key_url(self, key: str) -> str:
        # allauth's own follows the request's host, which is its sender's choice.
        uid, _, token = key.partition("-")
        path = reverse(
            "account_reset_password_from_key", kwargs={"uidb36": uid, "key": token}
        )
        return build_absolute_url(path)

    def is_safe_url(self, url: str) -> bool:
        return is_own_redirect_url(url)

    def get_client_ip(self, request: Any) -> str:
        # What limits of an address count by: a member's own devices are a place of
        # their own, which nobody behind the same address can use up.
        if isinstance(request.user, Member):
            return f"member:{request.user.pk}"
        for member in list_members_known_on_device(request):
            return f"member:{member.pk}"
        return str(super().get_client_ip(request))

    def pre_authenticate(self, request: Any, **credentials: Any) -> None:
        # In place of allauth's own count by account, by which five wrong passwords of
        # anybody shut its member out.
        self._login_failed_rl_usage = ratelimit.consume(
            request, app="allauth.account", action="login_failed"
        )
        if not self._login_failed_rl_usage:
            raise self.validation_error("too_many_login_attempts")
        email = str(credentials.get("email", ""))
        self._try = count_sign_in_attempt_or_refuse(
            request,
            subject=build_sign_in_subject_of_email(email),
            email=email,
            refusal=_("Too many attempts. Wait %(wait)s, or reset your password."),
        )

    def _rollback_login_failed_rl_usage(self) -> None:
        super()._rollback_login_failed_rl_usage()
        uncount_correct_sign_in_attempt(self._try)

    def authentication_failed(self, request: Any, **credentials: Any) -> None:
        email = str(credentials.get("email", "")).strip().lower()
        known = Member.objects.filter(email=email).values_list("pk", flat=True).first()
        _log.warning("wrong password: member %s", known or "unknown")
        # The page says how many tries are left. That tells nobody whether the address
        # is known: unknown ones are counted alike.
        request.tries_left = self._try.left
        request.tries_wait = describe_wait_time(self._try.wait)

    def post_login(self, request: Any, user: Any, **kwargs: Any) -> Any:
        response = super().post_login(request, user, **kwargs)
        mark_device_known_to_member(request, response, user)
        return response

    def send_mail(
        self, template_prefix: str, email: str, context: dict[str, Any]
    ) -> None:
        # Without allauth's site, which is the request's host.
        reset = build_absolute_url(reverse("account_reset_password"))
        context = {"email": email, "reset_page": reset, **context}
        self.render_mail(template_prefix, email, context).send()

    def send_notification_mail(
        self,
        template_prefix: str,
        user: Any,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        # Always sent, and to the member's one address: allauth's own table is empty.
        try:
            self.send_mail(template_prefix, email or user.email, context or {})
        except (OSError, SMTPException):
            # What it tells of is done by now and must not look as if it were not.
            _log.warning(
                "mail %s to member %s could not be sent", template_prefix, user.pk
            )

    def is_reauthentication_required(self, *, app: str) -> bool:
        # allauth counts only what was confirmed again; a fresh sign-in is as good.
        return not is_identity_confirmed(self.request)

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        # The surest first: it is the one that is asked for.
        if is_single_sign_on_session(self.request.session):
            return [
                {
                    "id": "single_sign_on",
                    "description": _("Use single sign-on"),
                    "url": reverse("single_sign_on_confirm"),
                }
            ]
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        for method in methods:
            method["description"] = _WAYS[method["id"]]
        return list(reversed(methods))

    def reauthenticate(self, user: Member, password: str) -> bool:
        # allauth looks for an address in its own table, which members do not use.
        signed_in = self.authenticate(self.request, email=user.email, password=password)
        return signed_in is not None and signed_in.pk == user.pk


class SecondFactorAdapter(DefaultMFAAdapter):
    """Store second factors encrypted."""

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext_lazy(
            "The code is incorrect or has expired. Try again."
        ),
    }

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        count = Authenticator.objects.filter(user_id=user.pk, type=type).count()
        return (
            _("Passkey %(number)d") % {"number": count + 1} if count else _("Passkey")
        )

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        host = get_public_host()
        # Browsers take names alone (Web Authentication 3, 5.1.2): who calls a server
        # on their own machine by address finds passkeys at http://localhost.
        return {"id": "localhost" if parse_ip_address(host) else host, "name": "Assay"}

    def encrypt(self, text: str) -> str:
        return encrypt_secret(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt_secret(encrypted_text)
