"""An application at a source: its credentials, and what else a source asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """An application at a source; secrets are in the clear, never logged.

    `more` are its values of the gateway's CredentialFields, by name.
    """

    client_id: str
    client_secret: str = field(repr=False)
    more: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class CredentialField:
    """What a source asks of an application beside a client ID and secret.

    A secret, unless it has `choices`: pairs of a value and its words.
    """

    name: str
    label: str
    hint: str = ""
    is_required: bool = True
    choices: tuple[tuple[str, str], ...] = ()
