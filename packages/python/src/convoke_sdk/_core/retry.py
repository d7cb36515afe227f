"""When a request is sent again, and after which pause: the same table as in the TypeScript SDK."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..errors import ConvokeError, RateLimitError, is_temporary

#: Longer Retry-After values are raised to the caller instead of awaited.
_RETRY_AFTER_MAX = 60.0

#: When a request may be sent again.
#:
#: - `always`: idempotent. Reads, deletions, uploads of the same bytes; creates and starts with their key (spec §7);
#:   stop, resume, cancel, answer and offboard, which return the same result the second time.
#: - `refused`: only after a response that proves that nothing was done (401, 429). For requests without a key.
#: - `never`: the body can be read only once.
Repeatable = Literal["always", "refused", "never"]


@dataclass(frozen=True)
class Retry:
    """How requests are retried. Times are in seconds."""

    #: Maximum number of attempts, including the first.
    attempts: int = 4
    #: Upper bound of the first pause; doubles with each attempt.
    base: float = 0.25
    #: Upper bound of every pause that the client chooses.
    max: float = 8.0


#: Returns a number from 0 to 1.
Random = Callable[[], float]


def pause_before_retry(
    error: ConvokeError, repeatable: Repeatable, policy: Retry, random: Random
) -> float | None:
    """Returns the pause before the next attempt; None for no retry. `error.attempts` counts those made."""
    if not is_temporary(error) or error.attempts >= policy.attempts or repeatable == "never":
        return None
    if repeatable == "refused" and not isinstance(error, RateLimitError):
        return None
    return pause_after(error, policy, error.attempts - 1, random)


def pause_after(error: ConvokeError, policy: Retry, failures: int, random: Random) -> float | None:
    """Returns the pause that the service asks for plus jitter, or the backoff; None if it is too long to wait."""
    if error.retry_after is None:
        return backoff(policy, failures, random)
    if error.retry_after > _RETRY_AFTER_MAX:
        return None
    return error.retry_after + random() * policy.base


def backoff(policy: Retry, failures: int, random: Random) -> float:
    """Exponential backoff with full jitter."""
    return random() * min(policy.max, policy.base * 2.0 ** min(failures, 32))
