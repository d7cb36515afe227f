"""Agents as code for Convoke: one function, which survives deploys, `kill -9` and a week of waiting for an approval."""

from .agent import Agent, agent
from .calls import Called
from .context import AsyncContext, Context
from .failures import Denied, InDoubt, LegOver, Misuse, NotJson, RunCancelled, StepFailed
from .signal_of_run import Signal
from .steps import Approval
from .waits import Received

__all__ = [
    "Agent",
    "Approval",
    "AsyncContext",
    "Called",
    "Context",
    "Denied",
    "InDoubt",
    "LegOver",
    "Misuse",
    "NotJson",
    "Received",
    "RunCancelled",
    "Signal",
    "StepFailed",
    "agent",
]
