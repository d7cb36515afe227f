"""How long, or until when, a run waits."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from .failures import Misuse
from .json_values import dump

_SECONDS_OF = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WAIT_SECONDS_MAX = 366 * _SECONDS_OF["d"]


def end_of_wait(what: str, duration: object) -> dict:
    """The end of a wait, as the line protocol has it. A number is refused, since it has no unit."""
    if isinstance(duration, datetime):
        return {"until": _time_of(what, duration)}
    seconds = seconds_in(duration)
    if seconds is None:
        raise Misuse(f"{what}: {_shown(duration)} is not a duration: use 90s, 15m, 2h, 3d or 2w")
    if seconds > _WAIT_SECONDS_MAX:
        raise _too_long(what)
    return {"for_seconds": seconds}


def seconds_in(duration: object) -> int | None:
    """The seconds of a text such as `3d`; None for anything else."""
    matched = re.fullmatch(r"([0-9]{1,9})([smhdw])", duration) if isinstance(duration, str) else None
    return None if matched is None else int(matched[1]) * _SECONDS_OF[matched[2]]


def _time_of(what: str, time: datetime) -> str:
    if time.utcoffset() is None:
        raise Misuse(f"{what}: the datetime has no time zone: use datetime.now(timezone.utc) and the like")
    if (time - datetime.now(timezone.utc)).total_seconds() > _WAIT_SECONDS_MAX:
        raise _too_long(what)
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _too_long(what: str) -> Misuse:
    return Misuse(f"{what}: a wait takes at most 366 days")


def _shown(value: object) -> str:
    try:
        return dump(value)
    except (TypeError, ValueError):
        return str(value)
