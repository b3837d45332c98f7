"""Times in the course's time zone: in it, days are those of the calendar, and people read times.

Where the clocks change, a day has 23 or 25 hours. The gradebook has times in UTC without a time zone; so do arguments
and results here, unless they say otherwise.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from traitlets.config import Config

CLOCK_MATTERS = 1000  # days; of a longer time, an hour more or less does not


def own_zone_of(config: Config) -> ZoneInfo | None:
    """The course's time zone: `timezone` in course.toml; None if it has none."""
    name = config.get("LatePolicy", {}).get("timezone")  # `config.LatePolicy` would add an empty section to a policy
    return ZoneInfo(str(name)) if name else None


def zone_of(config: Config) -> ZoneInfo:
    """The course's time zone, or UTC."""
    return own_zone_of(config) or ZoneInfo("UTC")


def local(time: datetime, zone: ZoneInfo) -> datetime:
    """The time in this time zone. `time`: may have another one."""
    try:
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(zone)
    except OverflowError:  # a time at the end of year 9999, which anybody can write into a file
        return time.replace(tzinfo=UTC)


def shown(time: datetime, zone: ZoneInfo) -> str:
    """The time as people read it, such as "2026-10-25 23:30 CET"."""
    here = local(time, zone)
    return f"{here:%Y-%m-%d %H:%M:%S %Z}" if here.second else f"{here:%Y-%m-%d %H:%M %Z}"


def parse_local(text: str, zone: ZoneInfo) -> datetime:
    """Parse a time that a teacher writes; without a zone, it is the course's. Raises ValueError, OverflowError."""
    *words, last = text.split()
    if last in ("UTC", "Z"):
        text = f"{' '.join(words)}+00:00"
    elif last in {datetime(2000, month, 1, tzinfo=zone).tzname() for month in (1, 7)}:
        text = " ".join(words)
    time = datetime.fromisoformat(text)
    return (time if time.tzinfo else time.replace(tzinfo=zone)).astimezone(UTC).replace(tzinfo=None)


def after(time: datetime, more: timedelta, zone: ZoneInfo) -> datetime:
    """The time when the clocks show so much more: a day later, the same hour of the next day."""
    if not more:
        return time
    clock = local(time, zone).replace(tzinfo=zone) + more
    # The later of two, where clocks show an hour twice
    return max(clock.replace(fold=fold).astimezone(UTC) for fold in (0, 1)).replace(tzinfo=None)


def by_the_clock(begin: datetime, end: datetime, zone: ZoneInfo) -> timedelta:
    """How much more the clocks show at the end."""
    return local(end, zone).replace(tzinfo=None) - local(begin, zone).replace(tzinfo=None)


def days_begun(begin: datetime, end: datetime, zone: ZoneInfo) -> int:
    """The number of days, the last of which has begun at the end. `end`: after `begin`."""
    whole = (end - begin).days
    if whole > CLOCK_MATTERS:
        return whole + 1
    number = max(1, whole - 1)
    while after(begin, timedelta(days=number), zone) < end:
        number += 1
    return number
