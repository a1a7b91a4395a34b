"""Import of public lists: ICD-10-CM codes and insurers. All of a file, or nothing."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from labs.models import DiagnosisCode, ListedPayor
from labs.operations.catalogue.diagnoses import insert_diagnosis_code_point
from labs.states.accounts import US_STATES
from labs.states.patients import ZIP_CODE
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The list that contract numbers are of.
MEDICARE_ADVANTAGE = "cms_ma"
PAYOR_COLUMNS = (
    "Contract Number",
    "Legal Entity Name",
    "Organization Marketing Name",
    "Parent Organization",
    "Legal Entity Street",
    "Legal Entity Street2",
    "Legal Entity City",
    "Legal Entity State Code",
    "Legal Entity Zip",
)
_CODE = re.compile(r"[A-Z][0-9][0-9A-Z][0-9A-Z]{0,4}", re.ASCII)
_ORDER_NUMBER = re.compile(r"[0-9]{5}", re.ASCII)
# Letter and digits; a cost contract of 1974 in the file of June 2025 has digits alone.
_CONTRACT = re.compile(r"[A-Z0-9][0-9]{4}", re.ASCII)
_ZIP = re.compile(ZIP_CODE, re.ASCII)
_ROWS_MAX = 200_000
_NAME_MAX, _DESCRIPTION_MAX = 200, 400
_WRITTEN_AT_ONCE = 5_000
_FAULTS_SHOWN = 20


def import_diagnosis_codes(*, lines: Iterable[str]) -> int:
    """Replace the imported ICD-10-CM by that of a file; return how many codes it has.

    The file is the "order file" of CMS: order number (columns 1 to 5), code without
    point (7 to 13), 1 for a billable code or 0 for a header (15), short (17 to 76) and
    long description (from 78). Headers are left out: they can't be billed. Raises:
    public_list_invalid (the lines and their faults). Source: the columns as several
    public programs read this file (looked up on 2026-11-24).
    """
    found: dict[str, DiagnosisCode] = {}
    headers: set[str] = set()
    faults: list[str] = []
    for number, line in enumerate(lines, start=1):
        if number > _ROWS_MAX:
            raise _refusal([_("The file has more than %(most)d lines.") % _MOST])
        text = line.rstrip("\r\n")
        if not text.strip():
            continue
        order, code, flag = text[:5], text[6:13].rstrip(), text[14:15]
        long = text[77:].strip()
        if not (
            _ORDER_NUMBER.fullmatch(order)
            and _CODE.fullmatch(code)
            and flag in {"0", "1"}
            and text[5:6] == text[13:14] == text[15:16] == text[76:77] == " "
        ):
            fault = _("not a line of the ICD-10-CM order file")
        elif not 0 < len(long) <= _DESCRIPTION_MAX:
            fault = _("the long description is missing or too long")
        elif code in found or code in headers:
            fault = _("code %(code)s is listed twice") % {"code": code}
        elif flag == "0":
            headers.add(code)
            continue
        else:
            pointed = insert_diagnosis_code_point(code)
            found[code] = DiagnosisCode(code=pointed, description=long)
            continue
        faults.append(_at_line(number, fault))
    _require_rows(found, faults)
    with transaction.atomic():
        DiagnosisCode.objects.all().delete()
        DiagnosisCode.objects.bulk_create(found.values(), batch_size=_WRITTEN_AT_ONCE)
    return len(found)


def import_listed_payors(*, lines: Iterable[str]) -> int:
    """Replace production's listed insurers by those of a file; return how many.

    The file is the CSV of CMS' Medicare Advantage contract directory: one line a
    contract, of which the legal entity is the insurer, with its marketing name and
    parent as aliases. Contact persons are not read. Raises: public_list_invalid (the
    lines and their faults). Source: Read_Me_MA_Contract_Directory_2025.txt (CMS, April
    2025).
    """
    reader = csv.DictReader(lines, restkey="more", strict=True)
    found: dict[str, ListedPayor] = {}
    faults: list[str] = []
    try:
        missing = [n for n in PAYOR_COLUMNS if n not in (reader.fieldnames or ())]
        if missing:
            raise _refusal(
                [
                    _("Add the missing columns to the header: %(columns)s.")
                    % {"columns": ", ".join(missing)}
                ]
            )
        for row in reader:
            if len(found) >= _ROWS_MAX:
                raise _refusal([_("The file has more than %(most)d lines.") % _MOST])
            values = {n: (row.get(n) or "").strip() for n in PAYOR_COLUMNS}
            number = values["Contract Number"]
            fault = _find_payor_fault(row, values)
            if not fault and number in found:
                fault = _("contract %(number)s is listed twice") % {"number": number}
            if fault:
                faults.append(_at_line(reader.line_num, fault))
            else:
                found[number] = _build_listed_payor(values)
    except csv.Error as broken:
        raise _refusal([_at_line(reader.line_num + 1, str(broken))]) from None
    _require_rows(found, faults)
    with transaction.atomic():
        ListedPayor.objects.filter(provider=MEDICARE_ADVANTAGE).delete()
        ListedPayor.objects.bulk_create(found.values(), batch_size=_WRITTEN_AT_ONCE)
    return len(found)


_MOST = {"most": _ROWS_MAX}


def _find_payor_fault(row: Mapping[str, object], values: Mapping[str, str]) -> str:
    """Return what is wrong with a line, empty for nothing."""
    if row.get("more"):
        return _("more values than columns")
    if not _CONTRACT.fullmatch(values["Contract Number"]):
        return _("Contract Number is not a letter or digit and four digits")
    for name in (
        *("Legal Entity Name", "Legal Entity Street", "Legal Entity City"),
        *("Legal Entity State Code", "Legal Entity Zip"),
    ):
        if not values[name]:
            return _("%(name)s is missing") % {"name": name}
    if long := [name for name, text in values.items() if len(text) > _NAME_MAX]:
        return _("%(name)s is too long") % {"name": long[0]}
    if values["Legal Entity State Code"] not in US_STATES:
        return _("Legal Entity State Code is not a US state")
    if not _ZIP.fullmatch(_format_zip(values["Legal Entity Zip"])):
        return _("Legal Entity Zip is not a US ZIP code")
    return ""


def _build_listed_payor(values: Mapping[str, str]) -> ListedPayor:
    name, number = values["Legal Entity Name"], values["Contract Number"]
    named = (values["Organization Marketing Name"], values["Parent Organization"])
    aliases = [one for one in dict.fromkeys(named) if one and one != name]
    return ListedPayor(
        payor_code=f"CMS-{number}",
        name=name,
        aliases=aliases,
        address={
            "first_line": values["Legal Entity Street"],
            "second_line": values["Legal Entity Street2"] or None,
            "city": values["Legal Entity City"],
            "state": values["Legal Entity State Code"],
            "zip": _format_zip(values["Legal Entity Zip"]),
            "country": "US",
            "access_notes": None,
        },
        provider=MEDICARE_ADVANTAGE,
        number=number,
        search_text="\n".join((name, *aliases)).lower(),
    )


def _format_zip(text: str) -> str:
    """Return a ZIP code with the hyphen that files leave out of nine digits."""
    return f"{text[:5]}-{text[5:]}" if len(text) == 9 and text.isdigit() else text


def _require_rows(found: Mapping[str, object], faults: list[str]) -> None:
    if faults or not found:
        raise _refusal(faults or [_("The file has no rows.")])


def _at_line(number: int, fault: str) -> str:
    return _("Line %(line)d: %(fault)s.") % {"line": number, "fault": fault}


def _refusal(faults: list[str]) -> DomainError:
    shown = faults[:_FAULTS_SHOWN]
    if len(faults) > len(shown):
        shown.append(_("And %(number)d more.") % {"number": len(faults) - len(shown)})
    return DomainError("public_list_invalid", " ".join(shown))
