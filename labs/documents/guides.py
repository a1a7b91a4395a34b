"""Patient instructions for preparing and collecting a sample.

The texts are general: a lab's own kit comes with its own leaflet.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from labs.states.catalogue import CollectionMethod, SampleType
from portal.lib.translation import gettext_lazy


@dataclass(frozen=True, slots=True)
class CollectionGuide:
    """Preparation, numbered steps and aftercare."""

    before: tuple[str, ...]
    steps: tuple[str, ...]
    after: tuple[str, ...]


FASTING = gettext_lazy(
    "Do not eat or drink anything but plain water for 8 to 12 hours before. Take your"
    " usual medicines unless your clinician advised against it."
)
# The longest fast that the sentence above asks for.
FAST = timedelta(hours=12)
NOT_FASTING = gettext_lazy(
    "You may eat and drink as usual before. Drink plenty of water."
)
# What the person who takes the sample is told, on the requisition.
COLLECTOR = {
    CollectionMethod.WALK_IN_TEST: (
        "The patient brings this document and a photo ID to a service center."
    ),
    CollectionMethod.AT_HOME_PHLEBOTOMY: (
        "A phlebotomist collects the sample at the patient's address. Check the"
        " patient's photo ID first."
    ),
    CollectionMethod.ON_SITE_COLLECTION: (
        "The sample is collected at the clinic. Record when and by whom."
    ),
    CollectionMethod.TESTKIT: (
        "The patient collects the sample with a kit and returns it in the kit's box."
    ),
}
_WASH = gettext_lazy("Wash your hands with soap and warm water, then dry them.")
_WRITE = gettext_lazy(
    "Write your full name, date of birth, today's date and the time on the label."
)
_KIT = (
    gettext_lazy(
        "Open the kit only when you are ready. Check its expiration date. Do not"
        " use a kit that is expired or damaged."
    ),
    gettext_lazy(
        "If you were asked to register the kit, do it first: the lab can't test a"
        " sample from an unregistered kit."
    ),
    gettext_lazy(
        "Collect the sample from Monday to Thursday, before the last pickup, so"
        " that it reaches the lab before the weekend."
    ),
)
_SEND = (
    gettext_lazy(
        "Put the closed sample into the kit's bag and box. Seal the box and send it"
        " the same day with the shipping label from the kit."
    ),
    gettext_lazy(
        "Keep the tracking number. Results are usually ready a few days after the"
        " sample reaches the lab."
    ),
)
_VISIT_BEFORE = (
    gettext_lazy("Bring a photo ID and the requisition, on paper or on your phone."),
    gettext_lazy(
        "Wear sleeves that roll up easily. Let the staff know if you have fainted at a"
        " blood draw, bleed easily or take blood thinners."
    ),
)
_VISIT_AFTER = (
    gettext_lazy(
        "Press on the spot for a few minutes. Leave the bandage on for an hour."
    ),
    gettext_lazy("Do not lift anything heavy with that arm for the rest of the day."),
)
_KIT_STEPS = {
    SampleType.DRIED_BLOOD_SPOT: (
        _WASH,
        gettext_lazy(
            "Warm your hand for two minutes and let your arm hang down so that"
            " blood flows more easily."
        ),
        gettext_lazy(
            "Clean the side of the tip of your ring or middle finger with the wipe."
            " Let it air-dry."
        ),
        gettext_lazy(
            "Press the lancet against that spot until it clicks. Wipe away the"
            " first drop with the gauze."
        ),
        gettext_lazy(
            "Let one large drop at a time fall onto each circle of the card. Do not"
            " touch the card with your finger. Do not add blood to a dried spot."
        ),
        gettext_lazy(
            "Fill every circle. If the blood stops, use the second lancet on"
            " another finger."
        ),
        _WRITE,
        gettext_lazy(
            "Leave the card open and flat, out of the sun, for at least 30 minutes"
            " to dry. Do not heat it."
        ),
    ),
    SampleType.ARM_COLLECTOR: (
        _WASH,
        gettext_lazy("Clean your upper arm with the wipe. Let it air-dry."),
        gettext_lazy("Warm that spot with the kit's heat pack for two minutes."),
        gettext_lazy(
            "Let your arm hang down, stick the collector to your upper arm and"
            " press its button."
        ),
        gettext_lazy(
            "Wait until the tube is full to the line, or for the time stated in the"
            " leaflet."
        ),
        gettext_lazy(
            "Remove the collector, close the tube and gently turn it over ten times."
        ),
        _WRITE,
    ),
    SampleType.SALIVA: (
        gettext_lazy(
            "Do not eat, drink, smoke, chew gum or brush your teeth for 30 minutes"
            " before you start."
        ),
        _WASH,
        gettext_lazy(
            "Let saliva gather in your mouth, then spit it into the tube up to the"
            " line. Do not count bubbles."
        ),
        gettext_lazy("Close the tube tightly and mix as described in the leaflet."),
        _WRITE,
    ),
    SampleType.URINE: (
        _WASH,
        gettext_lazy("Clean yourself with the wipe, from front to back."),
        gettext_lazy(
            "Urinate a little into the toilet first. Without stopping, fill the cup"
            " to the line."
        ),
        gettext_lazy(
            "Close the cup tightly, or fill the tube from it as described in the"
            " leaflet."
        ),
        _WRITE,
        gettext_lazy("Keep the sample cool until you send it. Do not freeze it."),
    ),
    SampleType.STOOL: (
        gettext_lazy("Empty your bladder first: no urine may get into the sample."),
        gettext_lazy(
            "Catch the stool with the kit's collector before it touches water."
        ),
        gettext_lazy(
            "Use the tube's spoon to take small amounts from several places, up to"
            " the line."
        ),
        gettext_lazy("Close the tube tightly and shake until mixed."),
        _WASH,
        _WRITE,
    ),
    SampleType.SERUM: (
        gettext_lazy("Take the kit's tubes to the place where your blood is drawn."),
        gettext_lazy(
            "Before you leave, check that each tube shows your name and date of birth."
        ),
        gettext_lazy("If the leaflet says so, ask for the tubes to be spun."),
    ),
}
_OTHER_STEPS = (
    _WASH,
    gettext_lazy("Follow the kit's leaflet step by step."),
    _WRITE,
)
_VISIT_STEPS = {
    SampleType.URINE: (
        gettext_lazy(
            "You will get a cup. Wash your hands and clean yourself with the wipe."
        ),
        gettext_lazy(
            "Urinate a little into the toilet first, then fill the cup to the line."
        ),
        gettext_lazy("Check that the label shows your name and date of birth."),
    ),
    SampleType.STOOL: (
        gettext_lazy(
            "You will get a container to take home and the address to return it to."
        ),
        gettext_lazy("Check that the label shows your name and date of birth."),
    ),
}
_DRAW_STEPS = (
    gettext_lazy("Give your full name and date of birth when asked."),
    gettext_lazy(
        "Sit down with your arm on the armrest. The draw takes a few minutes."
    ),
    gettext_lazy(
        "Before you leave, check that the label on each tube shows your name and"
        " date of birth."
    ),
)


def get_fasting_start(at: datetime) -> datetime:
    """Return when fasting starts for a sample taken `at` a moment, in its zone.

    Hours are hours, also across a change of clocks.
    """
    return (at.astimezone(UTC) - FAST).astimezone(at.tzinfo)


def get_collection_guide(
    *, method: str, sample_type: str, fasting: bool
) -> CollectionGuide:
    """Return the guide of a collection method and sample type, even unknown ones.

    Its texts are in the current language.
    """
    eating = FASTING if fasting else NOT_FASTING
    kind = SampleType.known(sample_type)
    if method == CollectionMethod.TESTKIT:
        steps = _KIT_STEPS.get(kind, _OTHER_STEPS) if kind else _OTHER_STEPS
        return _write_guide((eating, *_KIT), steps, _SEND)
    steps = _VISIT_STEPS.get(kind, _DRAW_STEPS) if kind else _DRAW_STEPS
    after = _VISIT_AFTER if steps is _DRAW_STEPS else ()
    return _write_guide((eating, *_VISIT_BEFORE), steps, after)


def _write_guide(*parts: tuple[str, ...]) -> CollectionGuide:
    return CollectionGuide(*(tuple(str(text) for text in part) for part in parts))
