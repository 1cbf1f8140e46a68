"""Moments in time: what a record's time sorts by, and what a person means by `7d`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from ontoref.errors import UsageError

__all__ = ["order_key", "parse_moment"]

_AGO = re.compile(r"([0-9]{1,6})(mo|[smhdwy])")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_STAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def order_key(value: Any) -> str:
    """Text that sorts as the moment does, for any RFC 3339 time; "" for what is none, which sorts first.

    Units: UTC, fractions as precise as they were given, without a Z: 2026-11-30T18:04:05.123
    """
    if not isinstance(value, str):
        return ""
    if len(value) == 20 and value[19] == "Z" and value[10] == "T":
        return value[:19]
    if len(value) == 24 and value[23] == "Z" and value[19] == "." and value[10] == "T":
        return value[:23].rstrip("0").rstrip(".")
    match = _STAMP.fullmatch(value)
    if match is None:
        return ""
    day, time, fraction, zone = match.groups()
    whole = f"{day}T{time}" if len(time) == 8 else f"{day}T{time}:00"
    if zone not in "Zz":
        sign = 1 if zone[0] == "+" else -1
        offset = timezone(sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6])))
        try:
            moment = datetime.fromisoformat(whole).replace(tzinfo=offset)
            whole = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
        except (ValueError, OverflowError):
            return ""
    return whole + (fraction or "").rstrip("0").rstrip(".")


def parse_moment(text: str, now: datetime, option: str) -> str:
    """What a person typed after `--since` or `--until`, as an `order_key`.

    Shape:  `2026-11-30` (midnight UTC), an RFC 3339 time, or an age: 15m, 6h, 7d, 2w, 5mo, 1y.
    Errors: UsageError for anything else.
    """
    typed = text.strip()
    age = _AGO.fullmatch(typed)
    try:
        if age:
            return _before(now, int(age[1]), age[2]).strftime("%Y-%m-%dT%H:%M:%S")
        if _DATE.fullmatch(typed):
            return datetime.fromisoformat(typed).strftime("%Y-%m-%dT00:00:00")
        if _STAMP.fullmatch(typed):
            datetime.fromisoformat(typed.upper().replace(" ", "T").replace("Z", "+00:00"))
            return order_key(typed)
    except (ValueError, OverflowError):
        pass
    raise UsageError(
        f'{option}: "{text}" is no time',
        hint="a date (2026-11-30), an RFC 3339 time (2026-11-30T18:04:05Z) or an age (15m, 6h, 7d, 2w, 5mo, 1y)",
    )


def _before(now: datetime, count: int, unit: str) -> datetime:
    moment = now.astimezone(UTC)
    if unit in _SECONDS:
        return moment - timedelta(seconds=count * _SECONDS[unit])
    months = moment.year * 12 + moment.month - 1 - count * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    # The 31st of a shorter month is that month's last day.
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return moment.replace(year=year, month=month + 1)
