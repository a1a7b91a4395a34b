"""Parse the values of a row that files of labs and of service centers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from labs.operations.catalogue.catalogue_rows import CellError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import Model

    from portal.lib.choices import OpenChoices


def clean_row(row: Model, *unchecked: str) -> None:
    """Check a row against its columns. Raises: CellError, with the bound it broke."""
    empty = (one.name for one in row._meta.fields if getattr(row, one.attname) is None)
    try:
        row.clean_fields(exclude={"id", *unchecked, *empty})
    except ValidationError as fault:
        name = min(fault.error_dict)
        raise CellError(name, _describe(name, fault.error_dict[name][0])) from None


def parse_flag(entry: Mapping[str, str], name: str, *, otherwise: bool) -> bool:
    """Parse `true` or `false`. Raises: CellError."""
    text = entry[name].lower()
    if text not in {"", "true", "false"}:
        raise CellError(name, _("%(name)s is neither true nor false") % {"name": name})
    return text == "true" if text else otherwise


def parse_choices(
    entry: Mapping[str, str], name: str, choices: type[OpenChoices]
) -> list[str]:
    """Parse a list of known values, which may be empty. Raises: CellError."""
    parts = split_list(entry[name])
    if any(choices.known(part) is None for part in parts):
        raise CellError(name, _("%(name)s has an unknown value") % {"name": name})
    return parts


def split_list(text: str) -> list[str]:
    """Return the parts of a list that is written with `|`."""
    return [part.strip() for part in text.split("|") if part.strip()]


def _describe(name: str, fault: ValidationError) -> str:
    if fault.code == "max_length" and fault.params:
        return _("%(name)s has %(length)d characters, at most %(most)d are stored") % {
            "name": name,
            "length": fault.params["show_value"],
            "most": fault.params["limit_value"],
        }
    if fault.code == "invalid_choice":
        return _("%(name)s has an unknown value") % {"name": name}
    return _("not valid: %(names)s") % {"names": name}
