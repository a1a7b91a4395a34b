"""What the patient does before and while a sample is taken, by kind of sample.

Plain words for patients: no lab's own kit is described, which comes with its leaflet.
Must not be here: how it is laid out (papers.instructions).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from labs.states.catalogue import CollectionMethod, SampleType


@dataclass(frozen=True, slots=True)
class Guide:
    """What to know before, the steps in their order, and what follows."""

    before: tuple[str, ...]
    steps: tuple[str, ...]
    after: tuple[str, ...]


FASTING = (
    "Eat and drink nothing but plain water for 8 to 12 hours before. Take your usual"
    " medicines unless your clinician said otherwise."
)
# The longest fast that the sentence above asks for.
FAST = timedelta(hours=12)
NOT_FASTING = "You may eat and drink as usual before. Drink plenty of water."
# What the person who takes the sample is told, on the requisition.
COLLECTOR = {
    CollectionMethod.WALK_IN_TEST: "The patient comes to a service center with this"
    " paper and a photo id.",
    CollectionMethod.AT_HOME_PHLEBOTOMY: "A phlebotomist takes the sample at the"
    " patient's address. Check a photo id first.",
    CollectionMethod.ON_SITE_COLLECTION: "The sample is taken at the clinic. Note when"
    " and by whom.",
    CollectionMethod.TESTKIT: "The patient takes the sample with a kit and sends it in"
    " its own box.",
}
_WASH = "Wash your hands with warm water and soap, and dry them."
_WRITE = (
    "Write your full name, your birth date, today's date and the time on the label."
)
_KIT = (
    "Open the kit only when you are ready, and check its expiry date. Do not use one"
    " that has expired or is damaged.",
    "Register the kit first if you were asked to: a sample that belongs to nobody can't"
    " be tested.",
    "Take the sample on a day from Monday to Thursday, before the last pickup, so that"
    " it does not wait over a weekend.",
)
_SEND = (
    "Put the closed sample into the bag and the box of the kit, seal it, and send it"
    " the same day with the label that came with it.",
    "Keep the tracking number. Results usually follow some days after the lab has the"
    " sample.",
)
_VISIT_BEFORE = (
    "Bring a photo id and the requisition, on paper or on your phone.",
    "Wear sleeves that roll up easily. Say so if you have fainted at a blood draw"
    " before, bleed easily or take blood thinners.",
)
_VISIT_AFTER = (
    "Press on the spot for a few minutes and leave the plaster on for an hour.",
    "Carry nothing heavy with that arm for the rest of the day.",
)
_KIT_STEPS = {
    SampleType.DRIED_BLOOD_SPOT: (
        _WASH,
        "Warm your hand for two minutes and let the arm hang down, so that blood flows"
        " more easily.",
        "Clean the side of the tip of your ring or middle finger with the wipe, and let"
        " it dry in the air.",
        "Press the lancet on it until it clicks. Wipe the first drop away with the"
        " gauze.",
        "Let one large drop at a time fall on each circle of the card. Do not touch the"
        " card with the finger, and do not add to a spot that has dried.",
        "Fill every circle. Use the second lancet on another finger if blood stops.",
        _WRITE,
        "Let the card dry for at least 30 minutes, open, flat and out of the sun. Do"
        " not heat it.",
    ),
    SampleType.ARM_COLLECTOR: (
        _WASH,
        "Clean the upper arm with the wipe, and let it dry in the air.",
        "Warm the place with the pack of the kit for two minutes.",
        "Stick the collector on the upper arm, with the arm hanging down, and press its"
        " button.",
        "Wait until the tube is filled to its line, or for the time that the leaflet"
        " says.",
        "Take the collector off, close the tube and turn it over gently ten times.",
        _WRITE,
    ),
    SampleType.SALIVA: (
        "Do not eat, drink, smoke, chew gum or brush your teeth for 30 minutes before.",
        _WASH,
        "Let saliva gather in your mouth and spit it into the tube until it reaches the"
        " line. Bubbles do not count.",
        "Close the tube tightly, and mix as the leaflet says.",
        _WRITE,
    ),
    SampleType.URINE: (
        _WASH,
        "Clean yourself with the wipe, from front to back.",
        "Let the first of the urine go, then fill the cup to its line without"
        " stopping.",
        "Close the cup tightly, or fill the tube from it as the leaflet says.",
        _WRITE,
        "Keep the sample cool, not frozen, until you send it.",
    ),
    SampleType.STOOL: (
        "Empty your bladder first: urine must not get into the sample.",
        "Catch the stool with the collector of the kit, before it touches water.",
        "Take small parts of it from several places with the spoon of the tube, up to"
        " the line.",
        "Close the tube tightly and shake it until it is mixed.",
        _WASH,
        _WRITE,
    ),
    SampleType.SERUM: (
        "Go to who draws your blood with the tubes of the kit.",
        "Check that each tube carries your name and birth date before you leave.",
        "Ask that the tubes are spun if the leaflet says so.",
    ),
}
_OTHER_STEPS = (
    _WASH,
    "Follow the leaflet of the kit, step by step.",
    _WRITE,
)
_VISIT_STEPS = {
    SampleType.URINE: (
        "You get a cup. Wash your hands and clean yourself with the wipe.",
        "Let the first of the urine go, then fill the cup to its line.",
        "Check that the label carries your name and birth date.",
    ),
    SampleType.STOOL: (
        "You get a container to take home, and are told where to bring it.",
        "Check that the label carries your name and birth date.",
    ),
}
_DRAW_STEPS = (
    "Say your full name and birth date when you are asked.",
    "Sit down with the arm on the rest. A draw takes a few minutes.",
    "Check that the label on each tube carries your name and birth date before you"
    " leave.",
)


def fast_from(at: datetime) -> datetime:
    """When who has a sample taken `at` a moment begins to fast, in the same zone.

    Hours are hours, also across a change of clocks.
    """
    return (at.astimezone(UTC) - FAST).astimezone(at.tzinfo)


def guide_of(*, method: str, sample_type: str, fasting: bool) -> Guide:
    """The guide for a way of collection and a kind of sample, also unknown ones."""
    eating = FASTING if fasting else NOT_FASTING
    kind = SampleType.known(sample_type)
    if method == CollectionMethod.TESTKIT:
        steps = _KIT_STEPS.get(kind, _OTHER_STEPS) if kind else _OTHER_STEPS
        return Guide((eating, *_KIT), steps, _SEND)
    steps = _VISIT_STEPS.get(kind, _DRAW_STEPS) if kind else _DRAW_STEPS
    after = _VISIT_AFTER if steps is _DRAW_STEPS else ()
    return Guide((eating, *_VISIT_BEFORE), steps, after)
