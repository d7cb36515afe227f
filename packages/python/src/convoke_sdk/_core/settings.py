"""What every call of a client shares."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from .retry import Random, Retry

TenantHeader = Literal["x-workspace-tenant-id", "x-tenant-id"]

#: A silent stream is dead after more than two ping intervals of the service (D-30).
USUAL_SILENCE = 35.0
#: Covers a restart, a deployment or a short network outage.
USUAL_PATIENCE = 120.0


@dataclass(frozen=True)
class Settings:
    base_url: str
    #: Seconds for each attempt. Does not apply to streams and file contents.
    timeout: float = 30.0
    retry: Retry = field(default_factory=Retry)
    #: Monotonic seconds.
    clock: Callable[[], float] = time.monotonic
    random: Random = random.random


def settings_of(base_url: str, timeout: float, retry: Retry | None) -> Settings:
    return Settings(_checked_url(base_url), timeout, Retry(attempts=1) if retry is None else retry)


def _checked_url(base_url: str) -> str:
    """Checks the base address. The paths include `/v1` (spec §1), and adding it here is a common mistake."""
    trimmed = str(base_url).rstrip("/")
    if re.fullmatch(r"https?://[!-~]+", trimmed) and not re.search(r"[?#@]|/v1$", trimmed):
        return trimmed
    raise ValueError(
        "base_url must be an http(s) address without /v1, such as https://convoke.example; "
        f'got "{base_url}"'
    )
