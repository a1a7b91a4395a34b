"""Parsing jobs and their reviews: read, claimed, signed, rejected, amended."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from reports.models import ParsingJob, ParsingJobTransition, Review, Signature
from reports.operations.jobs import parsing
from reports.operations.jobs.status import mark_parsing_job_started
from reports.operations.reading.extraction import UnreadableReport
from reports.operations.review.gates import cancel_second_read, request_second_read
from reports.operations.review.reviews import (
    claim_review,
    release_review,
    take_over_review,
)
from reports.operations.signing.amending import (
    open_amendment_review,
    withdraw_report_amendment,
)
from reports.operations.signing.signing import reject_report, waive_second_read
from reports.parser.report import FailureReason
from reports.states import RejectionReason
from tests.factories.reports import make_parsed
from tests.factories.users import make_user
from tests.outbox import emitted
from tests.reports.desk import NORA, OTTO, PIA, decide_all, sign
from tests.reports.uploads import traces, upload
from tests.state_machines.contract import read_job_moves
from tests.state_machines.machine import (
    Machine,
    efforts,
    nothing_changes,
    refusal_of,
    walk,
)

MOVES = read_job_moves()
SENT = {"completed", "failed", "pending_review"}  # contract 7.5
PEOPLE = st.sampled_from((NORA, OTTO, PIA))
LEASE_MINUTES = 10  # docs: each change renews it


@dataclass
class Reading:
    """The model of a review: by whom it is claimed, and for how many minutes more."""

    kind: str
    is_amendment: bool = False
    claimed_by: str = ""
    minutes: int = 0
    is_decided: bool = False
    wants_second: bool = False
    readers: set[str] = field(default_factory=set)


class ReviewMachine(Machine):
    """One uploaded report.

    The job's moves are contract 7.3's. Ours (workflow D1): one open review at a time,
    changed by who claimed it alone; a second reader is another person; what is signed
    stays, and another version is another review.
    """

    def __init__(self, tenant, api, reading) -> None:
        super().__init__()
        self.tenant, self.api, self.reading = tenant, api, reading

    @initialize(needs_review=st.booleans(), is_read=st.booleans())
    def submit(self, needs_review, is_read) -> None:
        self.user = make_user(tenant=self.tenant)
        reply = upload(self.api, user=self.user, needs_human_review=str(needs_review))
        assert reply.status_code == 200, reply.content
        self.id = reply.json()["id"]
        self.needs_review = needs_review
        self.status, self.history = "upload_pending", ["upload_pending"]
        self.sent = [("created", "upload_pending")]
        self.open: Reading | None = None
        self.is_reviewed = False
        self.signatures = 0
        if is_read:  # most of what happens comes after it
            self.read("rows")

    def job(self):
        job = ParsingJob.objects.for_tenant(self.tenant).get(id=self.id)
        job.tenant = job.user.tenant = self.tenant
        return job

    def review(self):
        rows = Review.objects.for_tenant(self.tenant).filter(job_id=self.id)
        found = rows.select_related("job__user").latest("number")
        found.tenant = found.job.tenant = found.job.user.tenant = self.tenant
        return found

    def written(self):
        reviews = Review.objects.for_tenant(self.tenant).order_by("pk").values()
        return traces(self.tenant), list(reviews)

    def becomes(self, status) -> None:
        assert status in MOVES[self.status], (self.history, status)
        self.status = status
        self.history.append(status)
        if status in SENT:
            self.sent.append(("updated", status))

    def refused(self, act, *codes):
        with nothing_changes(self.written):
            assert refusal_of(act) in codes

    # The worker.

    @rule()
    def begin_to_read(self) -> None:
        """A worker begins, and may die before it is done."""
        self.wait(seconds=1)

        def act():
            mark_parsing_job_started(job=self.job(), actor=parsing.PARSER)

        if "started" not in MOVES[self.status]:
            self.refused(act, "transition_not_allowed")
            return
        assert refusal_of(act) is None
        self.becomes("started")

    @rule(outcome=st.sampled_from(("rows", "rows", "nothing", "unreadable")))
    def read(self, outcome) -> None:
        """The job runs: at least once, and with the same outcome however often."""
        self.wait(seconds=1)
        self.reading.outcome = outcome

        def act():
            parsing.parse_submitted_report(tenant_pk=self.tenant.pk, job_id=self.id)

        if self.status not in ("upload_pending", "started"):
            self.refused(act, None)
            return
        assert refusal_of(act) is None
        if self.status == "upload_pending":
            self.becomes("started")
        if outcome != "rows":
            self.becomes("failed")
        elif self.needs_review:
            self.becomes("pending_review")
            self.open = Reading("first")
        else:
            self.becomes("completed")

    @rule()
    def give_up_reading(self) -> None:
        self.wait(seconds=1)

        def act():
            parsing.fail_parsing_after_retries(tenant_pk=self.tenant.pk, job_id=self.id)

        if self.status not in ("upload_pending", "started"):
            self.refused(act, None)
            return
        assert refusal_of(act) is None
        self.becomes("failed")

    # The desk.

    def by(self, actor, operation, **inputs):
        review = self.review()
        return lambda: operation(
            tenant=self.tenant, actor=actor, review_id=review.id, **inputs
        )

    def has_review(self) -> bool:
        return Review.objects.for_tenant(self.tenant).filter(job_id=self.id).exists()

    @rule(minutes=st.sampled_from((1, 11)))
    def pause(self, minutes) -> None:
        self.wait(minutes=minutes)
        if self.open:
            self.open.minutes -= minutes

    @rule(actor=PEOPLE)
    def claim(self, actor) -> None:
        if not self.has_review():
            return
        act = self.by(actor, claim_review)
        if self.open is None:
            self.refused(act, "review_ended")
        elif actor.key in self.open.readers:
            self.refused(act, "another_reader_needed")
        elif self.open.claimed_by not in ("", actor.key) and self.open.minutes > 0:
            self.refused(act, "review_claimed")
        else:
            assert refusal_of(act) is None
            self.open.claimed_by, self.open.minutes = actor.key, LEASE_MINUTES

    @rule(actor=PEOPLE)
    def take_over(self, actor) -> None:
        if not self.has_review():
            return
        act = self.by(actor, take_over_review, why="Away")
        if self.open is None:
            self.refused(act, "review_ended")
        elif actor.key in self.open.readers:
            self.refused(act, "another_reader_needed")
        else:
            assert refusal_of(act) is None
            self.open.claimed_by, self.open.minutes = actor.key, LEASE_MINUTES

    def change(self, actor, act) -> bool:
        """Whether a change by the actor is theirs to make; else it is refused."""
        if self.open is None:
            self.refused(act, "review_ended")
            return False
        if self.open.claimed_by != actor.key:
            known = "claim_lost" if self.open.claimed_by else "claim_needed"
            self.refused(act, known)
            return False
        return True

    @rule(actor=PEOPLE)
    def release(self, actor) -> None:
        if not self.has_review():
            return
        act = self.by(actor, release_review)
        if self.change(actor, act):
            assert refusal_of(act) is None
            self.open.claimed_by, self.open.minutes = "", 0

    @rule(actor=PEOPLE)
    def decide(self, actor) -> None:
        """Confirm all rows and see all pages."""
        if not self.open or self.open.claimed_by != actor.key:
            return
        assert refusal_of(lambda: decide_all(self.review(), actor)) is None
        self.open.is_decided, self.open.minutes = True, LEASE_MINUTES

    @rule(actor=PEOPLE, is_wanted=st.booleans())
    def want_second_read(self, actor, is_wanted) -> None:
        if not self.has_review():
            return
        operation = request_second_read if is_wanted else cancel_second_read
        act = self.by(actor, operation)
        if not self.change(actor, act):
            return
        if self.open.kind != "first":
            self.refused(act, "not_a_first_read")
            return
        assert refusal_of(act) is None
        self.open.wants_second, self.open.minutes = is_wanted, LEASE_MINUTES

    @rule(actor=PEOPLE)
    def sign(self, actor) -> None:
        self.wait(seconds=1)
        if not self.has_review():
            return

        def act():
            sign(self.review(), actor)

        if not self.change(actor, act):
            return
        if not self.open.is_decided:
            self.refused(act, "review_not_ready")
            return
        assert refusal_of(act) is None
        self.signatures += 1
        ended = self.open
        if ended.wants_second:
            self.open = Reading("second", ended.is_amendment, readers={actor.key})
        else:
            self.publish()

    def publish(self) -> None:
        self.open, self.is_reviewed = None, True
        if self.status == "completed":
            self.sent.append(("updated", "completed"))
        else:
            self.becomes("completed")

    @rule(actor=PEOPLE, wants_second=st.booleans(), is_hasty=st.booleans())
    def go_through(self, actor, wants_second, is_hasty=False) -> None:
        """What a reader does in one sitting: few walks come so far by single steps."""
        self.claim(actor)
        self.want_second_read(actor, wants_second)
        if is_hasty:
            self.sign(actor)  # before it is read
        self.decide(actor)
        self.sign(actor)

    @rule(first=PEOPLE, second=PEOPLE)
    def read_twice(self, first, second) -> None:
        """Three sittings, of one person twice and perhaps of another."""
        self.go_through(first, wants_second=True)
        self.go_through(first, wants_second=False)
        self.go_through(second, wants_second=False)

    @rule(first=PEOPLE, second=PEOPLE)
    def contend(self, first, second) -> None:
        """Two open one review."""
        self.claim(first)
        self.claim(second)

    @rule(actor=PEOPLE)
    def reject(self, actor) -> None:
        self.wait(seconds=1)
        if not self.has_review():
            return
        act = self.by(actor, reject_report, reason=RejectionReason.NOT_A_REPORT)
        if not self.change(actor, act):
            return
        if self.status == "completed":
            self.refused(act, "transition_not_allowed")
            return
        assert refusal_of(act) is None
        self.open = None
        self.becomes("failed")

    @rule(actor=PEOPLE)
    def waive(self, actor) -> None:
        """Publish what the first reader signed."""
        self.wait(seconds=1)
        if not self.has_review():
            return
        act = self.by(actor, waive_second_read, why="Away")
        if self.open is None:
            self.refused(act, "review_ended")
        elif self.open.kind != "second":
            self.refused(act, "not_a_second_read")
        else:
            assert refusal_of(act) is None
            self.publish()

    @rule(actor=PEOPLE)
    def amend(self, actor) -> None:
        self.wait(seconds=1)

        def act():
            open_amendment_review(
                tenant=self.tenant, actor=actor, job_id=self.id, why="A misread value"
            )

        if self.status != "completed":
            self.refused(act, "report_not_completed")
        elif self.open is not None:
            self.refused(act, "amendment_open")
        else:
            assert refusal_of(act) is None
            self.open = Reading("first", is_amendment=True, is_decided=self.is_reviewed)

    @rule(actor=PEOPLE)
    def withdraw(self, actor) -> None:
        self.wait(seconds=1)
        if not self.has_review():
            return
        act = self.by(actor, withdraw_report_amendment)
        if not self.change(actor, act):
            return
        if not self.open.is_amendment or self.open.kind != "first":
            self.refused(act, "not_an_amendment")
            return
        assert refusal_of(act) is None
        self.open = None

    @invariant()
    def it_is_what_the_contract_says(self) -> None:
        if not hasattr(self, "history"):
            return
        shown = self.api.get(f"/lab_report/v1/parser/job/{self.id}").json()
        assert shown["status"] == self.status
        assert shown["is_reviewed"] == self.is_reviewed
        assert shown["needs_human_review"] == self.needs_review
        has_data = self.status in ("completed", "pending_review")
        assert (shown["data"] is not None) == has_data
        assert (shown["failure_reason"] is not None) == (self.status == "failed")
        moves = ParsingJobTransition.objects.for_tenant(self.tenant).order_by("pk")
        walked = [self.history[0], *moves.values_list("new", flat=True)]
        assert walked == self.history
        assert self.sent == [
            (envelope["event_type"].rpartition(".")[2], envelope["data"]["status"])
            for envelope in emitted(self.tenant)
        ]

    @invariant()
    def one_review_is_open_at_most(self) -> None:
        if not hasattr(self, "history"):
            return
        rows = Review.objects.for_tenant(self.tenant)
        open_ = rows.filter(status="open")
        assert open_.count() == (self.open is not None)
        signed = Signature.objects.for_tenant(self.tenant).count()
        assert signed == self.signatures
        if self.open:
            assert open_.get().claimed_by_key == self.open.claimed_by


class Scripted:
    """Stands in for the parser, which other tests try: the outcome that is next."""

    outcome = "rows"

    def __call__(self, job):
        match self.outcome:
            case "unreadable":
                raise UnreadableReport(FailureReason.LOW_QUALITY)
            case "nothing":
                return make_parsed(results=())
            case _:
                return make_parsed()


@efforts(walks=6, steps=20)
@pytest.mark.django_db
def test_a_report_is_what_the_contract_says(
    effort, alice_tenant, alice_api, monkeypatch
):
    reading = Scripted()
    monkeypatch.setattr(parsing, "parse_uploaded_files", reading)
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.save()

    class Reviews(ReviewMachine):
        def __init__(self) -> None:
            super().__init__(alice_tenant, alice_api, reading)

    walk(Reviews, effort)
