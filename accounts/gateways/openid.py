"""Discover OpenID providers, build sign-in URLs and verify ID tokens.

The authorisation code flow with PKCE (OpenID Connect Core 1.0, 3.1; RFC 7636). Must not
be here: whom a team lets in (accounts.operations.sign_in.single_sign_on_entry).
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import jwt
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts.gateways.base import (
    Claims,
    NotVouched,
    Provider,
    ProviderRefused,
    ProviderUnavailable,
)
from accounts.gateways.openid_http import (
    compute_openid_call_deadline,
    request_json_without_redirects,
)
from portal.lib.network.addresses import AddressRefused, parse_and_check_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.gateways.base import Client

_ABOUT = "/.well-known/openid-configuration"
_HOUR = 3600
# Keys are asked for anew when a token names an unknown one, and no more often.
_KEYS_PAUSE_S = 60
# How far the provider's clock may be from ours.
LEEWAY_S = 60
# Signed by a key of the provider's own; never by the client secret, never unsigned.
_ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
_REQUIRED = ["iss", "sub", "aud", "exp", "iat", "nonce"]
_EMAIL_MAX_LENGTH = 254  # RFC 5321, 4.5.3.1.3
# What a library meets in a header, claim or key that its author made to break it.
_UNREADABLE = (
    *(jwt.PyJWTError, ArithmeticError, AttributeError, LookupError),
    *(RecursionError, TypeError, ValueError),
)


def check_provider_address_is_public(url: str) -> None:
    """Refuse an address of the server's own network. Raises: AddressRefused."""
    parse_and_check_url(url, local_hosts=settings.SINGLE_SIGN_ON_LOCAL_HOSTS)


def find_openid_provider_metadata(
    issuer: str, *, deadline: float | None = None
) -> Provider:
    """Return the metadata of this issuer's provider, cached for an hour.

    A slash at the end does not count. `deadline` is that of the exchange it belongs
    to, None for one of its own (openid_http.compute_openid_call_deadline). Raises:
    AddressRefused, ProviderUnavailable, ProviderRefused. Source: OpenID Connect
    Discovery 1.0, 4.
    """
    check_provider_address_is_public(issuer)
    place = f"openid:provider:{_hash_text(issuer)}"
    document = cache.get(place)
    if document is not None:
        return _parse_provider(issuer, document)
    about = f"{issuer.rstrip('/')}{_ABOUT}"
    document = request_json_without_redirects(
        "GET",
        about,
        deadline=compute_openid_call_deadline() if deadline is None else deadline,
    )
    provider = _parse_provider(issuer, document)
    cache.set(place, document, _HOUR)
    return provider


def build_openid_sign_in_url(
    provider: Provider,
    client: Client,
    *,
    redirect_url: str,
    state: str,
    nonce: str,
    challenge: str,
    is_fresh: bool = False,
) -> str:
    """Build the provider's sign-in URL; `is_fresh` requires a new sign-in."""
    fields = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect_url,
        "scope": "openid email profile",
        "state": state,
        "nonce": nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    if is_fresh:
        # `max_age` also has the provider tell the time (Core 1.0, 3.1.2.1).
        fields |= {"prompt": "login", "max_age": "0"}
    separator = "&" if "?" in provider.sign_in_url else "?"
    return f"{provider.sign_in_url}{separator}{urlencode(fields)}"


def exchange_code_for_openid_claims(
    provider: Provider,
    client: Client,
    *,
    code: str,
    redirect_url: str,
    verifier: str,
    nonce: str,
    deadline: float,
) -> Claims:
    """Exchange a code for the claims of a verified ID token.

    An address that the token leaves out is asked for at the userinfo endpoint. Raises:
    ProviderUnavailable, ProviderRefused, NotVouched.
    """
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_url,
        "code_verifier": verifier,
    }
    basic = None
    if provider.takes_basic:
        # Each of them encoded (RFC 6749, 2.3.1).
        basic = (quote(client.client_id, ""), quote(client.client_secret, ""))
    else:
        form |= {"client_id": client.client_id, "client_secret": client.client_secret}
    answer = request_json_without_redirects(
        "POST", provider.token_url, deadline=deadline, form=form, basic=basic
    )
    token = answer.get("id_token")
    if not isinstance(token, str):
        raise ProviderRefused("no_token")
    document = verify_id_token(
        provider, client, token=token, nonce=nonce, deadline=deadline
    )
    access_token = answer.get("access_token")
    if not document.get("email") and provider.userinfo_url and access_token:
        more = request_json_without_redirects(
            "GET", provider.userinfo_url, deadline=deadline, bearer=str(access_token)
        )
        # Core 1.0, 5.3.2: an answer about somebody else must not be used.
        if more.get("sub") == document["sub"]:
            document = {**more, **document}
    return _parse_claims(document)


def verify_id_token(
    provider: Provider, client: Client, *, token: str, nonce: str, deadline: float
) -> dict[str, Any]:
    """Verify an ID token and return its claims (OIDC Core 1.0, 3.1.3.7).

    Raises: NotVouched; ProviderUnavailable, ProviderRefused (its keys).
    """
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg", "")
        if algorithm not in provider.algorithms:
            raise NotVouched("algorithm")
        document: dict[str, Any] = jwt.decode(
            token,
            key=_find_key(provider, header, deadline),
            algorithms=[algorithm],
            issuer=provider.issuer,
            audience=client.client_id,
            leeway=LEEWAY_S,
            # Of RSA 2048 bits (RFC 7518, 3.3).
            options={"require": _REQUIRED, "enforce_minimum_key_length": True},
        )
    except _UNREADABLE as error:
        raise NotVouched(type(error).__name__) from None
    if not hmac.compare_digest(_read_text(document, "nonce").encode(), nonce.encode()):
        raise NotVouched("nonce")
    is_for_several = isinstance(document["aud"], list) and len(document["aud"]) > 1
    if (is_for_several or "azp" in document) and document.get(
        "azp"
    ) != client.client_id:
        raise NotVouched("azp")
    return document


def _parse_provider(issuer: str, document: Mapping[str, Any]) -> Provider:
    own = document.get("issuer")
    if not isinstance(own, str) or own.rstrip("/") != issuer.rstrip("/"):
        raise ProviderUnavailable("other_issuer")
    names = ["authorization_endpoint", "token_endpoint", "jwks_uri"]
    if "userinfo_endpoint" in document:
        names.append("userinfo_endpoint")
    for name in names:
        try:
            check_provider_address_is_public(str(document.get(name)))
        except AddressRefused:
            raise ProviderUnavailable("address") from None
    # Left out, these mean what Discovery 1.0, 3 says.
    methods = document.get(
        "token_endpoint_auth_methods_supported", ["client_secret_basic"]
    )
    signed = document.get("id_token_signing_alg_values_supported", ["RS256"])
    if not isinstance(methods, list) or not isinstance(signed, list):
        raise ProviderUnavailable("metadata")
    return Provider(
        issuer=own,
        sign_in_url=str(document["authorization_endpoint"]),
        token_url=str(document["token_endpoint"]),
        keys_url=str(document["jwks_uri"]),
        userinfo_url=str(document.get("userinfo_endpoint", "")),
        takes_basic="client_secret_post" not in methods,
        algorithms=tuple(name for name in _ALGORITHMS if name in signed),
        names_itself=document.get("authorization_response_iss_parameter_supported")
        is True,
    )


def _parse_claims(document: Mapping[str, Any]) -> Claims:
    verified = document.get("email_verified")
    at = document.get("auth_time")
    email = _read_text(document, "email").strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        email = ""
    return Claims(
        subject=_read_text(document, "sub"),
        email=email if len(email) <= _EMAIL_MAX_LENGTH else "",
        # Some write it as text. What says neither is no yes.
        email_verified=None
        if verified is None
        else verified is True or verified == "true",
        name=_read_text(document, "name").strip(),
        auth_time=at if type(at) is int else None,
    )


def _read_text(document: Mapping[str, Any], name: str) -> str:
    """Return a text of the document; empty if it is none, or none that is stored.

    JSON may name half a letter, which has no bytes, and NUL, which PostgreSQL refuses.
    """
    text = document.get(name)
    if not isinstance(text, str) or "\0" in text:
        return ""
    return text if text.isascii() or _has_bytes(text) else ""


def _has_bytes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _find_key(
    provider: Provider, header: Mapping[str, Any], deadline: float
) -> jwt.PyJWK:
    """Return the signing key; fetch the key set again if it is unknown."""
    place = f"openid:keys:{_hash_text(provider.keys_url)}"
    document = cache.get(place)
    found = _pick_key(document, header) if document else None
    if found is None and (
        not document or cache.add(f"{place}:asked", 1, _KEYS_PAUSE_S)
    ):
        document = request_json_without_redirects(
            "GET", provider.keys_url, deadline=deadline
        )
        found = _pick_key(document, header)
        cache.set(place, document, _HOUR)
    if found is None:
        raise NotVouched("unknown_key")
    return found


def _pick_key(
    document: Mapping[str, Any], header: Mapping[str, Any]
) -> jwt.PyJWK | None:
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise ProviderUnavailable("no_keys")
    fits = [
        key
        for key in keys
        if isinstance(key, dict)
        and key.get("use", "sig") == "sig"
        and key.get("kty") != "oct"
        and key.get("alg", header["alg"]) == header["alg"]
        and ("kid" not in header or key.get("kid") == header["kid"])
    ]
    # A token that names no key is taken where there is one alone.
    return jwt.PyJWK(fits[0], algorithm=header["alg"]) if len(fits) == 1 else None


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
