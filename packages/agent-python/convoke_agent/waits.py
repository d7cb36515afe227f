"""Times and messages that a function waits for, and URLs by which messages come."""

from __future__ import annotations

import binascii
import re

from .durations import end_of_wait
from .failures import Misuse
from .json_values import dump
from .names import check_name, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .leg import Leg
    from .steps import Steps

_PROOF_CHARACTERS = 32


class Received:
    """A message from outside. Its data is as untrusted as a prompt."""

    def __init__(self, timed_out: bool, data: object = None) -> None:
        #: Whether the time for it ended before it came.
        self.timed_out = timed_out
        self.data = data


async def sleep(steps: Steps, name: str, duration: object) -> None:
    check_name(name, "sleep")
    end = end_of_wait(f'sleep "{name}"', duration)
    await steps.wait("sleep", {"kind": "timer", "name": name, **end})


async def receive(steps: Steps, name: str, timeout: object = None) -> Received:
    _check_signal_name(name)
    end = {} if timeout is None else end_of_wait(f'receive "{name}"', timeout)
    settled = await steps.wait("receive", {"kind": "signal", "name": name, **end})
    return Received("data" not in settled, settled.get("data"))


def callback_url(steps: Steps, leg: Leg, name: str) -> str:
    """A URL at which anyone who has it can send the run one message (D-910).

    It is computed from the key of the run and the place of the call in the program, so every leg makes the same one
    and nothing has to be stored.
    """
    _check_signal_name(name)
    ref = steps.ref_of("callback_url", f"callback {name}")
    callbacks = leg.start.get("callbacks")
    if callbacks is None:
        raise Misuse("ctx.callback_url(): this server has no callback URLs. Update it first.")
    # Imported on first use, because most legs make none.
    import hmac

    key = binascii.a2b_base64(callbacks["key"].replace("-", "+").replace("_", "/") + "==")
    proven = f"{name}.{digest_of(ref)}"
    mac = binascii.b2a_base64(hmac.digest(key, proven.encode("ascii"), "sha256"), newline=False)
    proof = mac.decode("ascii").replace("+", "-").replace("/", "_")[:_PROOF_CHARACTERS]
    return f"{callbacks['url']}.{proven}.{proof}"


def _check_signal_name(name: object) -> None:
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        return
    raise Misuse(
        'The name of a message must be 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-", '
        f"and {dump(name) if isinstance(name, str) else str(name)} is not."
    )
