"""Which of several running steps may emit text."""

from __future__ import annotations

from collections.abc import Callable

from .pending import Host, Pending

Emission = dict  # a message of the protocol: message_delta, usage or custom


class Speaker:
    """A step that runs and may emit text."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_over = False
        #: Emissions that wait while another step has the floor.
        self.unsaid: list[Emission] = []


class OutputOrder:
    """Decides which step may emit text (L7, D-165).

    Of steps that run at the same time, the first that emits has the floor until it ends. Emissions of the others, and of
    the code between steps, wait for it. While the floor is free, a recovery point covers everything that was emitted.
    """

    def __init__(self, covered: int, send: Callable[[Emission, bool], None]) -> None:
        #: Called with an emission, and whether it was made between steps, so that a recovery point may follow it.
        self._send = send
        #: Emissions between steps that the recovery point covers: the replay does not send them again.
        self._covered = covered
        self._holder: Speaker | None = None
        self._waiting: dict[Speaker, None] = {}
        self._turns: dict[Speaker, Pending] = {}
        self._unsaid: list[Emission] = []
        self._called = 0
        self._said = 0

    @property
    def is_free(self) -> bool:
        return self._holder is None

    @property
    def said(self) -> int:
        """How many emissions between steps were sent, in this leg or before the recovery point."""
        return max(self._said, self._covered)

    def say(self, emission: Emission, speaker: Speaker | None = None) -> None:
        if speaker is None:
            self._say_between(emission)
            return
        if self._holder is None:
            self._holder = speaker
        if self._holder is speaker:
            self._send(emission, False)
            return
        self._waiting[speaker] = None
        speaker.unsaid.append(emission)

    def release(self, speaker: Speaker) -> list[Emission]:
        """Releases the floor of a step that has ended. Returns its emissions that were not sent."""
        self._waiting.pop(speaker, None)
        if self._holder is speaker:
            self._holder = None
        return speaker.unsaid

    def let_next_speak(self) -> None:
        """If the floor is free, sends pending emissions and gives the floor to the next step."""
        if self._holder is not None:
            return
        unsaid, self._unsaid = self._unsaid, []
        for emission in unsaid:
            self._send_between(emission)
        following = next(iter(self._waiting), None)
        if following is None:
            return
        del self._waiting[following]
        self._holder = following
        held, following.unsaid = following.unsaid, []
        for emission in held:
            self._send(emission, False)
        turn = self._turns.pop(following, None)
        if turn is not None:
            turn.settle(None)

    def wait_for_turn(self, speaker: Speaker, host: Host) -> Pending:
        """Settles when the step has the floor."""
        turn = self._turns[speaker] = Pending(host)
        return turn

    def _say_between(self, emission: Emission) -> None:
        self._called += 1
        if self._called <= self._covered:
            self._said += 1
        elif self._holder is None:
            self._send_between(emission)
        else:
            self._unsaid.append(emission)

    def _send_between(self, emission: Emission) -> None:
        self._said += 1
        self._send(emission, True)
