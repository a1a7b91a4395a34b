"""Names of Suunto's sports, by the number of a workout's `activityId`.

As open-wearables lists them after Suunto's own list (Activities), 2026-11-27.
"""

from __future__ import annotations

from typing import Any

# From 0 on; 4 to 9 are sports that their user named, 89 is not used.
_NAMES = """
Walking, Running, Cycling, Cross-country skiing, Sports, Sports, Sports, Sports,
Sports, Sports, Mountain biking, Hiking, Roller skating, Downhill skiing, Paddling,
Rowing, Golfing, Indoor sports, Parkour, Ball games, Outdoor gym, Swimming, Trail
running, Gym, Nordic walking, Horseback riding, Motorsports, Skateboarding, Water
sports, Climbing, Snowboarding, Ski touring, Fitness class, Soccer, Tennis,
Basketball, Badminton, Baseball, Volleyball, American football, Table tennis,
Racquetball, Squash, Floorball, Handball, Softball, Bowling, Cricket, Rugby, Ice
skating, Ice hockey, Yoga and pilates, Indoor cycling, Treadmill, Crossfit,
Crosstrainer, Roller skiing, Indoor rowing, Stretching, Track and field, Orienteering,
Stand-up paddling, Combat sport, Kettlebell, Dancing, Snowshoeing, Frisbee golf,
Futsal, Multisport, Aerobics, Trekking, Sailing, Kayaking, Circuit training,
Triathlon, Padel, Cheerleading, Boxing, Scuba diving, Freediving, Adventure racing,
Gymnastics, Canoeing, Mountaineering, Telemark skiing, Open water swimming,
Windsurfing, Kitesurfing, Paragliding, -, Snorkeling, Surfing, Swimrun, Duathlon,
Aquathlon, Obstacle racing, Fishing, Hunting, Transition, Gravel cycling, Mermaiding,
Spearfishing, Jump rope, Track running, Calisthenics, E-biking, E-mountain biking,
Backcountry skiing, Wheelchair sport, Hand cycling, Splitboarding, Biathlon,
Meditation, Field hockey, Cyclocross, Vertical running, Ski mountaineering, Skate
skiing, Classic skiing, Chores, Pilates, Yoga
"""


def find_suunto_sport(number: object) -> dict[str, Any] | None:
    """Return a sport with Suunto's number; None for one that is not listed."""
    names = " ".join(_NAMES.split()).split(", ")
    if type(number) is not int or not 0 <= number < len(names) or names[number] == "-":
        return None
    name = names[number]
    slug = name.lower().replace(" ", "_").replace("-", "_")
    return {"id": number, "name": name, "slug": slug}
