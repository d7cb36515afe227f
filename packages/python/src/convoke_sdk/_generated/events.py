# Generated from packages/contract by packages/python/scripts/write-wire.ts. Do not edit.

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

from .values import JsonObject, RunErrorCode, InterruptionReason, Decision


class _RunStartedDataRequired(TypedDict):
    run_id: str


class RunStartedData(_RunStartedDataRequired, total=False):
    #: The version of the agent: SHA-256, in hex, of the files that decide what it does.
    agent_digest: str


class _RunInterruptedDataRequired(TypedDict):
    run_id: str
    attempt: int
    reason: InterruptionReason


class RunInterruptedData(_RunInterruptedDataRequired, total=False):
    discard_from_event_id: str
    #: The run was not interrupted again: only text was taken back.
    text_only: Literal[True]
    #: Tool calls that may or may not have completed.
    calls_in_doubt: int


class _RunResumedDataRequired(TypedDict):
    run_id: str
    attempt: int
    reason: Literal["answered", "drained", "worker_lost"]


class RunResumedData(_RunResumedDataRequired, total=False):
    #: Files of the session: on the same machine, restored on another one, or restored without the latest changes.
    workspace: Literal["same", "restored", "behind"]
    #: The agent was changed since the run was last checkpointed.
    agent_changed: Literal[True]
    #: The version of the agent: SHA-256, in hex, of the files that decide what it does.
    agent_digest: str


class RunOutputData(TypedDict):
    run_id: str
    #: Any JSON value.
    output: Any


class _RunCompletedDataRequired(TypedDict):
    run_id: str


class RunCompletedData(_RunCompletedDataRequired, total=False):
    #: The run lost its server, or was cut when its server stopped, and was then continued or ended. Treat the event as usual.
    recovered: bool


class _RunCancelledDataRequired(TypedDict):
    run_id: str


class RunCancelledData(_RunCancelledDataRequired, total=False):
    #: The run lost its server, or was cut when its server stopped, and was then continued or ended. Treat the event as usual.
    recovered: bool


class _ErrorDataRequired(TypedDict):
    message: str


class ErrorData(_ErrorDataRequired, total=False):
    error_code: RunErrorCode
    #: The run lost its server, or was cut when its server stopped, and was then continued or ended. Treat the event as usual.
    recovered: bool


class MessageDeltaData(TypedDict):
    text: str
    framework: str
    model: str


class _PermissionRequestDataRequired(TypedDict):
    request_id: str
    interaction_key: str
    tool_name: str
    tool_input: Any


class PermissionRequestData(_PermissionRequestDataRequired, total=False):
    #: The id of the call in the events `<framework>.tool_call` and `<framework>.tool_result`, where the framework knows it.
    tool_call_id: str
    #: The rules that ask, the organization's first.
    rules: list[PermissionRequestDataRules]
    #: Who may allow it. Absent: every caller that may answer.
    approvers: PermissionRequestDataApprovers
    #: How far an allow may be remembered for the rest of the session.
    can_remember: Literal["exact", "tool"]
    #: Until when an answer is taken, where a rule says so.
    expires_at: str
    #: This repeats an earlier event of the same interaction.
    replayed: bool


class _PermissionRequestDataRulesRequired(TypedDict):
    source: Literal["organization", "agent"]
    name: str


class PermissionRequestDataRules(_PermissionRequestDataRulesRequired, total=False):
    reason: str


class PermissionRequestDataApprovers(TypedDict):
    """Who may allow it. Absent: every caller that may answer."""

    #: The lowest role of a person who may allow.
    role: Literal["operator", "admin", "owner"]
    #: How many people have to allow it.
    people: int
    #: Who started the run may not allow.
    not_starter: bool
    #: Automation clients may allow, too.
    clients: bool
    #: Session tokens may allow, too.
    end_users: bool


class _PermissionResolvedDataRequired(TypedDict):
    interaction_key: str
    decision: Decision


class PermissionResolvedData(_PermissionResolvedDataRequired, total=False):
    message: str
    updated_input: JsonObject
    #: What decided, where no person and no client did.
    by: Literal["rule", "memory", "expiry"]
    #: What the allow also allows for the rest of the session.
    remembered: Literal["exact", "tool"]


class PermissionApprovedData(TypedDict):
    interaction_key: str
    #: How many people have allowed it by now.
    approvals: int
    #: How many people have to allow it.
    needed: int


class _CallDecidedDataRequired(TypedDict):
    tool_name: str
    effect: Literal["allow", "ask", "deny"]
    by: Literal["rule", "memory"]
    rules: list[CallDecidedDataRules]


class CallDecidedData(_CallDecidedDataRequired, total=False):
    tool_call_id: str
    #: The interaction that holds the denial, or the allow that is remembered.
    interaction_key: str
    observed: Literal[True]


class _CallDecidedDataRulesRequired(TypedDict):
    source: Literal["organization", "agent"]
    name: str


class CallDecidedDataRules(_CallDecidedDataRulesRequired, total=False):
    reason: str


class _UserQuestionDataRequired(TypedDict):
    request_id: str
    interaction_key: str
    question: str


class UserQuestionData(_UserQuestionDataRequired, total=False):
    options: list[UserQuestionDataOptions]
    multiple: bool
    #: `call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected.
    about: UserQuestionDataAbout
    #: This repeats an earlier event of the same interaction.
    replayed: bool


class _UserQuestionDataOptionsRequired(TypedDict):
    label: str


class UserQuestionDataOptions(_UserQuestionDataOptionsRequired, total=False):
    description: str


class _UserQuestionDataAboutRequired(TypedDict):
    kind: Literal["call_in_doubt", "workspace_behind", "connection_missing"]


class UserQuestionDataAbout(_UserQuestionDataAboutRequired, total=False):
    """`call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected."""

    tool_name: str
    tool_input: Any
    begun_at: str
    #: The first of the tool calls whose file changes are lost.
    calls: list[UserQuestionDataAboutCalls]
    #: The service that is not connected.
    service: str
    owner: Literal["tenant", "end_user"]
    #: Where the end user connects it.
    url: str


class UserQuestionDataAboutCalls(TypedDict):
    tool_name: str
    begun_at: str


class _UserAnsweredDataRequired(TypedDict):
    interaction_key: str


class UserAnsweredData(_UserAnsweredDataRequired, total=False):
    answer: str | list[str]
    declined: Literal[True]
    message: str


class _WaitStartedDataRequired(TypedDict):
    wait_id: str
    kind: Literal["timer", "signal", "run"]
    #: Given by the agent; of a called run its agent.
    name: str


class WaitStartedData(_WaitStartedDataRequired, total=False):
    #: When the wait ends at the latest.
    until: str
    #: The called run. Absent if it was refused.
    child_run_id: str
    child_session_id: str


class _WaitEndedDataRequired(TypedDict):
    wait_id: str
    kind: Literal["timer", "signal", "run"]
    name: str
    outcome: Literal["fired", "received", "timed_out", "completed", "failed", "cancelled", "refused"]


class WaitEndedData(_WaitEndedDataRequired, total=False):
    #: Why the called run failed; `denied` or `refused` if it was not started.
    error_code: Literal["agent_error", "model_error", "tool_error", "run_timeout", "interaction_expired", "worker_lost", "tool_in_doubt", "sandbox_unavailable", "budget_exceeded", "output_invalid", "connection_missing", "internal_error", "denied", "refused"]
    message: str


class ConnectionUsedData(TypedDict):
    service: str
    connection_id: str
    owner: Literal["tenant", "end_user"]


class ContextFileLoadedData(TypedDict):
    path: str
    sha256: str
    size_bytes: int


class ContextFileChangedData(TypedDict):
    path: str
    sha256: str
    size_bytes: int
    previous_sha256: str


class ClaudeMdLoadedData(TypedDict):
    path: str
    sha256: str
    size_bytes: int


class ClaudeMdChangedData(TypedDict):
    path: str
    sha256: str
    size_bytes: int
    previous_sha256: str


class AgentSkillsLoadedData(TypedDict):
    skills: list[AgentSkillsLoadedDataSkills]
    warnings: list[AgentSkillsLoadedDataWarnings]


class AgentSkillsLoadedDataSkills(TypedDict):
    name: str
    description: str
    path: str


class AgentSkillsLoadedDataWarnings(TypedDict):
    directory: str
    reason: str


class EventEnvelope(TypedDict):
    #: Orders the events of one run. Store it after you have processed the event, to continue after it.
    id: str
    session_id: str
    run_id: str
    created_at: str


class RunStartedEvent(EventEnvelope):
    """The run was dispatched to the agent."""

    type: Literal["run_started"]
    data: RunStartedData


class RunInterruptedEvent(EventEnvelope):
    """The run was interrupted and will continue in another process: its server was stopped or lost. With `discard_from_event_id`, every `message_delta` from that event up to this one no longer belongs to the answer: the agent repeats it or says something else. Such an event may also come after `run_resumed`, when the agent says something else than before: it has `text_only`, and another `run_resumed` follows it."""

    type: Literal["run_interrupted"]
    data: RunInterruptedData


class RunResumedEvent(EventEnvelope):
    """The run executes again: what it waited for has come (`answered`), or it was interrupted before."""

    type: Literal["run_resumed"]
    data: RunResumedData


class RunOutputEvent(EventEnvelope):
    """The output of the agent, a JSON value. The last event before `run_completed`, which always follows."""

    type: Literal["run_output"]
    data: RunOutputData


class RunCompletedEvent(EventEnvelope):
    """The run finished. The run resource holds the authoritative status."""

    type: Literal["run_completed"]
    data: RunCompletedData


class RunCancelledEvent(EventEnvelope):
    """The run ended after a cancellation."""

    type: Literal["run_cancelled"]
    data: RunCancelledData


class ErrorEvent(EventEnvelope):
    """The run ended with an error, which the run resource repeats. The `error` of an EventSource without data is a lost connection."""

    type: Literal["error"]
    data: ErrorData


class MessageDeltaEvent(EventEnvelope):
    """A piece of the answer. Join the pieces in id order, and drop those that a `run_interrupted` discards. A reader that drops nothing also gets the answer, unless an agent had to repeat itself: then the repetition follows `(interrupted, resuming)`. `output_text` of the run is always the answer."""

    type: Literal["message_delta"]
    data: MessageDeltaData


class PermissionRequestEvent(EventEnvelope):
    """The agent wants to call a tool that requires approval, and waits for a decision."""

    type: Literal["permission_request"]
    data: PermissionRequestData


class PermissionResolvedEvent(EventEnvelope):
    """A decision on a permission was recorded."""

    type: Literal["permission_resolved"]
    data: PermissionResolvedData


class PermissionApprovedEvent(EventEnvelope):
    """A person has allowed a call that more than one person has to allow."""

    type: Literal["permission_approved"]
    data: PermissionApprovedData


class CallDecidedEvent(EventEnvelope):
    """Rules decided about a tool call without a person: it was denied, or a rule or an earlier permission allowed it. With `observed`, a rule that only observes has matched: it changed nothing, and `effect` is what it would do."""

    type: Literal["call_decided"]
    data: CallDecidedData


class UserQuestionEvent(EventEnvelope):
    """The agent asked a question and waits for the answer."""

    type: Literal["user_question"]
    data: UserQuestionData


class UserAnsweredEvent(EventEnvelope):
    """An answer to a question was recorded, or the question was declined."""

    type: Literal["user_answered"]
    data: UserAnsweredData


class WaitStartedEvent(EventEnvelope):
    """The run waits for a time, a message, or a run that it has called."""

    type: Literal["wait_started"]
    data: WaitStartedData


class WaitEndedEvent(EventEnvelope):
    """It has come, the called run has ended, or the time for it is over."""

    type: Literal["wait_ended"]
    data: WaitEndedData


class ConnectionUsedEvent(EventEnvelope):
    """The agent got this account for the leg that begins: of the end user of the session, or of the tenant. Never its secret."""

    type: Literal["connection_used"]
    data: ConnectionUsedData


class ContextFileLoadedEvent(EventEnvelope):
    """A context file was read into the context of the agent."""

    type: Literal["context_file_loaded"]
    data: ContextFileLoadedData


class ContextFileChangedEvent(EventEnvelope):
    """A context file changed since it was last read."""

    type: Literal["context_file_changed"]
    data: ContextFileChangedData


class ClaudeMdLoadedEvent(EventEnvelope):
    """The project instructions were read into the context of the agent."""

    type: Literal["claude_md_loaded"]
    data: ClaudeMdLoadedData


class ClaudeMdChangedEvent(EventEnvelope):
    """The project instructions changed since they were last read."""

    type: Literal["claude_md_changed"]
    data: ClaudeMdChangedData


class AgentSkillsLoadedEvent(EventEnvelope):
    """The agent's skills were copied into the session folder."""

    type: Literal["agent_skills_loaded"]
    data: AgentSkillsLoadedData


class OtherRunEvent(EventEnvelope):
    """An event of an agent framework, named `<framework>.<name>`, or of a type newer than this client. Never terminal.

    Its type is declared so that comparing `event["type"]` with a known type tells the type of the data.
    """

    type: Literal["<framework>.<name>"]
    data: JsonObject


RunEvent = Union[
    RunStartedEvent,
    RunInterruptedEvent,
    RunResumedEvent,
    RunOutputEvent,
    RunCompletedEvent,
    RunCancelledEvent,
    ErrorEvent,
    MessageDeltaEvent,
    PermissionRequestEvent,
    PermissionResolvedEvent,
    PermissionApprovedEvent,
    CallDecidedEvent,
    UserQuestionEvent,
    UserAnsweredEvent,
    WaitStartedEvent,
    WaitEndedEvent,
    ConnectionUsedEvent,
    ContextFileLoadedEvent,
    ContextFileChangedEvent,
    ClaudeMdLoadedEvent,
    ClaudeMdChangedEvent,
    AgentSkillsLoadedEvent,
    OtherRunEvent,
]
