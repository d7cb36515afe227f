"""The exceptions of the kit, for agents to catch and to unwind them."""

from __future__ import annotations


class StepFailed(Exception):
    """The step failed: its error is its result, in this leg and in every later one."""

    def __init__(self, step: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.step = step
        #: The name of the error that the step raised.
        self.reason = reason


class InDoubt(Exception):
    """It is not known whether the step ran, and it is not repeated.

    The message is the answer of a person, if one was asked.
    """

    def __init__(self, step: str, note: str) -> None:
        super().__init__(note)
        self.step = step


class Denied(Exception):
    """A rule, or a person whom a rule had asked, did not allow the step. It did not run."""

    def __init__(self, step: str, reason: str | None) -> None:
        super().__init__("not allowed" if reason is None else reason)
        self.step = step
        #: The words of the rule or of the person; None if the person gave none.
        self.reason = reason


class Misuse(Exception):
    """The agent uses the kit in a way that cannot work. The message says what to do."""


class NotAwaited(Misuse):
    """The function returned without awaiting a call of `ctx`."""

    def __init__(self, call: str, path: str, line: int) -> None:
        super().__init__(f"{call} was not awaited")
        #: The line of the agent that made the call.
        self.path = path
        self.line = line


class NotJson(Exception):
    """A value that JSON cannot represent. The message has the path of the value and what to do."""


class RunCancelled(BaseException):
    """The run was cancelled. Every call of `ctx` raises it; `except Exception` does not catch it (D-172)."""

    def __init__(self) -> None:
        super().__init__("The run was cancelled.")


class LegOver(BaseException):
    """The leg is over in this process: the run waits for a person, or continues elsewhere (D-167, D-352).

    It unwinds the function. `except Exception` does not catch it, and every further call of `ctx` raises it again.
    """
