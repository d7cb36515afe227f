"""What the handlers of `follow` get and return."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Union

from .._generated.records import InteractionRecord
from .._generated.requests import PermissionAnswer, QuestionDeclined, QuestionReply
from .._generated.values import Decision

#: `"allow"`, `"deny"` or a complete answer. None leaves the request pending.
PermissionSaid = Union[Decision, PermissionAnswer, None]
#: A text, several for a question with `multiple`, or a complete answer. None leaves the question pending.
QuestionSaid = Union[str, Sequence[str], QuestionReply, QuestionDeclined, None]

PermissionHandler = Callable[[InteractionRecord], PermissionSaid]
QuestionHandler = Callable[[InteractionRecord], QuestionSaid]
AsyncPermissionHandler = Callable[[InteractionRecord], Union[PermissionSaid, Awaitable[PermissionSaid]]]
AsyncQuestionHandler = Callable[[InteractionRecord], Union[QuestionSaid, Awaitable[QuestionSaid]]]

#: An answer to an interaction.
Answer = Union[PermissionAnswer, QuestionReply, QuestionDeclined]
