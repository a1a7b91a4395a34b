"""What happens to reports: uploaded, read, claimed, confirmed, signed, rejected."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.files.uploadedfile import SimpleUploadedFile

from reports.models import Review
from reports.operations.jobs.parsing import open_local_copies_of_files
from reports.operations.review.gates import keep_duplicate_report
from reports.operations.review.reviews import claim_review
from reports.operations.signing.signing import reject_report
from reports.queries import list_report_files
from reports.states import RejectionReason
from tests.factories.reports import make_parsed, make_parsed_result, make_pdf
from tests.reports.desk import NORA, OTTO, decide_all, sign
from tests.reports.uploads import upload

if TYPE_CHECKING:
    from reports.models import ParsingJob
    from reports.parser.report import ParsedReport
    from tests.simulation.world import Side, World

READERS = (NORA, OTTO)
PDF = make_pdf()


def value_of(content: bytes) -> str:
    """What the reader finds in a file: of other bytes another value, never critical."""
    return f"105.{int(hashlib.sha256(content).hexdigest()[:6], 16)}1"


def read_files(job: ParsingJob) -> ParsedReport:
    """Stand in for the parser, which other tests try; it reads the stored file."""
    with open_local_copies_of_files(list_report_files(job)) as (path,):
        value = value_of(path.read_bytes())
    return make_parsed(results=(make_parsed_result(value=value),))


def upload_report(world: World, side: Side) -> None:
    """Upload one; without an answer it is uploaded again, and may be there twice."""
    user = world.pick(side.live_users())
    if user is None:
        return
    content = PDF + f"% {side.name} {world.number()}\n".encode()
    fields = {"needs_human_review": str(world.dice.random() < 0.7)}

    def send() -> Any:
        form = {"user_id": user, **fields}
        side.books.sent[value_of(content)] += 1
        file = SimpleUploadedFile("report.pdf", content, "application/pdf")
        return upload(side.api, form=form | {"file": file})

    reply = world.call(send)
    assert reply.status_code == 200, reply.content
    side.books.reports[reply.json()["id"]] = value_of(content)
    side.books.owners[reply.json()["id"]] = user


def review(world: World, side: Side) -> None:
    """A reader works on a report: claims it, confirms it, signs or rejects it.

    Where none waits to be read by members, the jobs that read reports are run first.
    """
    live = set(side.live_users())
    jobs = [j for j in side.books.reports if side.books.owners[j] in live]
    rows = Review.objects.for_tenant(side.tenant).filter(job_id__in=jobs)
    open_ = rows.filter(status="open").values_list("job_id", flat=True)
    if jobs and not open_.exists():
        world.work(side)
    waiting = {str(each) for each in open_.all()}
    job = world.pick([each for each in jobs if each in waiting] or jobs)
    if job is None:
        return
    rows = rows.filter(job_id=UUID(job))
    found = rows.select_related("job__user").order_by("number").last()
    if found is None:
        return
    found.tenant = found.job.tenant = found.job.user.tenant = side.tenant
    reader = world.dice.choice(READERS)
    wanted = {"tenant": side.tenant, "actor": reader, "review_id": found.id}
    refusal = world.operate(side, partial(claim_review, **wanted))
    if refusal is None:
        refusal = world.operate(side, lambda: decide_all(found, reader))
    if refusal is None:  # what was sent twice is there twice
        keep = partial(keep_duplicate_report, **wanted, reason="Sent twice.")
        refusal = world.operate(side, keep)
    if refusal is None and world.dice.random() < 0.8:
        rejects = world.dice.random() < 0.2
        act = (
            partial(reject_report, **wanted, reason=RejectionReason.NOT_A_REPORT)
            if rejects
            else partial(sign, found, reader)
        )
        refusal = world.operate(side, act)
        # Ended: the first try was done, and its process died.
        if refusal in (None, "review_ended"):
            (side.books.rejected if rejects else side.books.signed).add(job)
    world.note(f"  {refusal or 'done'}")
