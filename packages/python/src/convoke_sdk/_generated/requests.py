# Generated from packages/contract by packages/python/scripts/write-wire.ts. Do not edit.

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict

from .values import JsonObject, Decision


class RunBudget(TypedDict, total=False):
    """Lowers the limit of the agent; never raises it."""

    #: Input and output tokens together.
    max_tokens: int
    #: In millionths of the currency.
    max_cost: int


ConnectionAuth: TypeAlias = "ConnectionAuthBearer | ConnectionAuthHeader | ConnectionAuthOauth"


class ConnectionAuthBearer(TypedDict):
    #: Sent as `Authorization: Bearer …`.
    type: Literal["bearer"]
    #: Write-only: no answer has it.
    token: str


class ConnectionAuthHeader(TypedDict):
    #: Sent as a header of this name.
    type: Literal["header"]
    name: str
    #: Write-only: no answer has it.
    value: str


class _ConnectionAuthOauthRequired(TypedDict):
    #: Sent as `Authorization: Bearer …`, and refreshed.
    type: Literal["oauth"]
    #: Write-only: no answer has it.
    access_token: str


class ConnectionAuthOauth(_ConnectionAuthOauthRequired, total=False):
    #: When the access token ends; without it, never.
    expires_at: str
    #: Write-only: no answer has it.
    refresh_token: str
    #: Where the refresh token is exchanged: an https URL of a public address.
    token_endpoint: str
    client_id: str
    #: Write-only: no answer has it.
    client_secret: str
    scope: str


class _PermissionAnswerRequired(TypedDict):
    decision: Decision


class PermissionAnswer(_PermissionAnswerRequired, total=False):
    """Answers a permission request."""

    message: str
    #: Call the tool with this input instead of the requested one. Refused for agents whose framework cannot apply it (`acp`).
    updated_input: JsonObject
    #: Allow the same again for the rest of the session, as far as `can_remember` says: `exact` with this input only, `tool` with every input.
    remember: Literal["exact", "tool"]


class QuestionReply(TypedDict):
    """Answers a question."""

    answer: str | Sequence[str]


class _QuestionDeclinedRequired(TypedDict):
    declined: Literal[True]


class QuestionDeclined(_QuestionDeclinedRequired, total=False):
    """Declines to answer a question."""

    message: str


class CreateScheduleSessionNew(TypedDict):
    mode: Literal["new"]


class _CreateScheduleSessionKeepRequired(TypedDict):
    mode: Literal["keep"]


class CreateScheduleSessionKeep(_CreateScheduleSessionKeepRequired, total=False):
    #: Absent: the first run creates the session.
    session_id: str


class SetBudgetScope(TypedDict):
    kind: Literal["tenant", "client", "agent", "session"]
    #: Id of the tenant, client or session, or name of the agent.
    id: str


class _NewRuleRequired(TypedDict):
    name: str
    tools: Sequence[str]
    effect: Literal["allow", "ask", "deny"]


class NewRule(_NewRuleRequired, total=False):
    when: Sequence[NewRuleCondition]
    reason: str
    observe: bool
    approvers: NewRuleApprovers
    remember: Literal["never", "exact", "tool"]
    wait_hours: float
    on_expiry: Literal["fail", "deny"]
    agents: Sequence[str]
    tenants: Sequence[str]


class _NewRuleConditionRequired(TypedDict):
    path: str


_NewRuleConditionReserved = TypedDict("_NewRuleConditionReserved", {"in": "Sequence[str | float | bool | None]"}, total=False)


class NewRuleCondition(_NewRuleConditionRequired, _NewRuleConditionReserved, total=False):
    eq: str | float | bool | None
    ne: str | float | bool | None
    gt: float
    gte: float
    lt: float
    lte: float
    like: str
    present: bool


class NewRuleApprovers(TypedDict, total=False):
    role: Literal["operator", "admin", "owner"]
    people: int
    not_starter: bool
    clients: bool
    end_users: bool
