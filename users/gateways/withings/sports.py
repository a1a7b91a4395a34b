"""Sports of Withings by number (Measure v2 - Getworkouts, category; 2026-11-23)."""

from __future__ import annotations

from django.utils.text import slugify

# Numbers and names as published; those that are no sport are left out.
_SPORTS = """
1 Walk, 2 Run, 3 Hiking, 4 Skating, 5 BMX, 6 Bicycling, 7 Swimming, 8 Surfing,
9 Kitesurfing, 10 Windsurfing, 11 Bodyboard, 12 Tennis, 13 Table tennis, 14 Squash,
15 Badminton, 16 Lift weights, 17 Fitness, 18 Elliptical, 19 Pilates,
20 Basketball, 21 Soccer, 22 Football, 23 Rugby, 24 Volleyball, 25 Water polo,
26 Horse riding, 27 Golf, 28 Yoga, 29 Dancing, 30 Boxing, 31 Fencing, 32 Wrestling,
33 Martial arts, 34 Skiing, 35 Snowboarding, 187 Rowing, 188 Zumba, 191 Baseball,
192 Handball, 193 Hockey, 194 Ice hockey, 195 Climbing, 196 Ice skating,
272 Multi-sport, 306 Indoor walk, 307 Indoor running, 308 Indoor cycling,
455 Standup paddleboarding, 456 Padel, 490 Beach volleyball, 491 Stair stepper,
492 Skateboarding, 493 Parkour, 494 Kayaking, 495 Canoeing, 496 Sailing,
497 Fishing, 498 Trail running, 499 Snowshoeing, 500 Paintball, 501 Archery,
502 Scuba diving, 503 Baseball training, 504 Biathlon, 505 Bocce, 506 Pétanque,
507 Paragliding, 508 Frisbee, 509 Skydiving, 510 Pickleball, 511 Cornhole,
512 Dodgeball, 513 Ultimate, 514 Teqball, 515 Pushing a wheelchair (running pace),
516 Pushing a wheelchair (walking pace), 517 Athletics, 518 Track cycling,
519 Pentathlon, 520 Sport shooting, 521 Triathlon, 522 Diving, 523 Mountain biking,
524 Gravel biking, 525 E-biking, 526 E-mountain biking, 527 Handcycling,
528 Velomobile, 529 Backcountry skiing, 530 Nordic skiing, 531 Roller skiing,
532 Racquetball, 534 Hip hop, 535 Muaythai, 536 Taekwondo, 537 Judo,
538 Trampoline, 539 Standing frame, 540 Seated strength, 541 Seated cardio,
542 Walk with walker, 543 Walk with cane, 544 Breaking, 545 Chores, 546 Crossfit,
547 Spinclass, 548 Cricket, 549 Flamenco dancing, 550 HIIT, 551 Meditation,
552 Stretching, 553 Yard work gardening, 554 Cleaning, 555 Public speaking,
556 Spikeball, 557 Lacrosse, 558 Baby wearing, 559 Dog walking,
560 Breathing exercises, 561 Balance drills, 562 Pushing a stroller,
563 Toddler wearing, 564 Bowling, 565 Lasertag, 566 Nordic walking,
567 Sumo wrestling, 568 Cooking
"""
NO_ACTIVITY = 128
_OTHER: dict[str, int | str] = {"id": 0, "name": "Other", "slug": "other"}


def _parse(text: str) -> dict[int, dict[str, int | str]]:
    found: dict[int, dict[str, int | str]] = {}
    for part in text.replace("\n", " ").split(","):
        number, _, name = part.strip().partition(" ")
        if number:
            slug = slugify(name).replace("-", "_")
            found[int(number)] = {"id": int(number), "name": name, "slug": slug}
    return found


SPORTS = _parse(_SPORTS)


def get_withings_sport(category: object) -> dict[str, int | str]:
    """Return the sport of a number; "other" for an unknown one."""
    return SPORTS.get(category, _OTHER) if isinstance(category, int) else _OTHER
