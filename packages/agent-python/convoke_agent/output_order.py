"""Who speaks, of steps that run at once."""

from __future__ import annotations

from collections.abc import Callable

from .pending import Host, Pending

Emission = dict  # a message of the protocol: message_delta, usage or custom


class Speaker:
    """A step that runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_over = False
        #: What it said while another one had the floor.
        self.unsaid: list[Emission] = []


class OutputOrder:
    """Decides who speaks (D-165).

    Of several steps that run at once, the first one to speak has the floor until it ends; the others, and the program
    outside of its steps, are heard after it. So texts are never mixed, and while the floor is free a recovery point
    covers all that was said.
    """

    def __init__(self, covered: int, send: Callable[[Emission, bool], None]) -> None:
        #: Called with an emission, and whether a recovery point may stand behind it: it was made outside of steps.
        self._send = send
        #: Emissions outside of steps that a recovery point covers: the replay swallows them.
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
        """How many emissions outside of steps were said, or swallowed because they were said before."""
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
        """Takes the floor from a step that has ended. Returns what it could not say."""
        self._waiting.pop(speaker, None)
        if self._holder is speaker:
            self._holder = None
        return speaker.unsaid

    def let_next_speak(self) -> None:
        """Lets the next ones speak, if the floor is free."""
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
