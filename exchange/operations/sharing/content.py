"""The files of a shared link: FHIR of the results, their PDFs, and the encryption.

A manifest knows three content types, none of which is a PDF: each goes in a
DocumentReference. Source: SMART Health Cards and Links 1.0.0, SMART Health Links
Specification, manifest and encryption.
"""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

import orjson
from django.utils import timezone
from django.utils.translation import gettext as _
from joserfc import jwe
from joserfc.jwk import OctKey

from exchange.queries.laboratory_documents import (
    DocumentIncomplete,
    build_laboratory_document,
)
from exchange.queries.ordered_people import complete_patient, find_ordered_person
from exchange.queries.shareable import build_share_resources
from exchange.resources.binary import read_binary
from exchange.resources.datatypes import (
    LOINC,
    build_coding,
    build_concept,
    build_own_url,
)
from portal.lib.errors import Invalid, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from accounts.models import Tenant
    from exchange.queries.shareable import ShareableReport
    from exchange.resources.base import Json

CONTENT_TYPE = "application/fhir+json"
# Ours: what a browser decrypts and shows without trouble; of all files together.
CONTENT_MAX_BYTES = 20 * 1024 * 1024
_REPORT = build_concept(
    "Laboratory report", build_coding(LOINC, "11502-2", "Laboratory report")
)
# Who reads results needs to know whose they are, and not where they live.
_PATIENT_FIELDS = frozenset(
    {"resourceType", "id", "identifier", "active", "name", "gender", "birthDate"}
)


def build_shared_contents(
    *, tenant: Tenant, reports: Sequence[ShareableReport]
) -> list[bytes]:
    """Return the files of a share in clear: a Bundle, then a file for each document.

    A report alone is the document that Europe's guide describes, where it has what that
    needs. Several are one collection, as a document holds one report, and a viewer
    would show those in a document and in a collection twice. Raises: share_too_large
    (422).
    """
    attachments: list[Json] = []
    shared = [_take_attachments(one, attachments) for one in reports]
    reduce = partial(
        _reduce_patient, find_ordered_person(tenant, [one.id for one in reports])
    )
    bundle = _build_bundle(tenant, shared, reduce)
    contents = [orjson.dumps(bundle)]
    size = len(contents[0])
    for attachment in attachments:
        document = _build_document(tenant, attachment)
        if document is None:
            continue
        size += len(document)
        if size > CONTENT_MAX_BYTES:
            raise Invalid(
                "share_too_large",
                _("These reports are too large for one link. Share fewer."),
                "reports",
            )
        contents.append(document)
    return contents


def _build_bundle(
    tenant: Tenant, shared: Sequence[Json], reduce: Callable[[Json], Json]
) -> Json:
    if len(shared) == 1:
        try:
            return build_laboratory_document(
                tenant=tenant, report=shared[0], reduce=reduce
            )
        except DocumentIncomplete:
            pass
    resources = build_share_resources(tenant=tenant, reports=shared)
    return {
        "resourceType": "Bundle",
        "type": "collection",
        "timestamp": timezone.now().isoformat(),
        "entry": [_build_entry(reduce(one)) for one in resources],
    }


def encrypt_content(content: bytes, key: bytes) -> str:
    """Encrypt a file as a compact JWE: dir, A256GCM, compressed. A new IV each time."""
    header = {"alg": "dir", "enc": "A256GCM", "cty": CONTENT_TYPE, "zip": "DEF"}
    return jwe.encrypt_compact(
        header, content, OctKey.import_key(key), algorithms=["dir", "A256GCM", "DEF"]
    )


def _take_attachments(report: ShareableReport, attachments: list[Json]) -> Json:
    """Note the documents of a report; return it without their addresses."""
    resource = report.resource
    title = " ".join(filter(None, [report.title, report.collected_on]))
    attachments.extend(
        {
            **form,
            "title": title,
            "of": f"DiagnosticReport/{report.id}",
            "subject": resource["subject"],
        }
        for form in resource.get("presentedForm", [])
    )
    return {name: part for name, part in resource.items() if name != "presentedForm"}


def _build_document(tenant: Tenant, attachment: Json) -> bytes | None:
    """Return the DocumentReference of a document; None where there is no file."""
    try:
        file = read_binary(tenant=tenant, id_=attachment["url"].rpartition("/")[2])
    except NotFound:
        return None
    return orjson.dumps(
        {
            "resourceType": "DocumentReference",
            "id": str(uuid5(NAMESPACE_URL, attachment["url"])),
            "status": "current",
            "type": _REPORT,
            "subject": attachment["subject"],
            "content": [
                {
                    "attachment": {
                        "contentType": file.content_type,
                        "data": base64.b64encode(file.content).decode(),
                        "title": attachment["title"],
                    }
                }
            ],
            "context": {"related": [{"reference": attachment["of"]}]},
        }
    )


def _reduce_patient(ordered: Json, resource: Json) -> Json:
    """Leave out of a Patient what a reader does not need."""
    if resource["resourceType"] != "Patient":
        return resource
    kept = {name: part for name, part in resource.items() if name in _PATIENT_FIELDS}
    return complete_patient(ordered, kept)


def _build_entry(resource: Json) -> Json:
    path = f"R4/{resource['resourceType']}/{resource['id']}"
    return {"fullUrl": build_own_url(path), "resource": resource}
