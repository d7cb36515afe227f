# Generated from packages/contract by packages/python/scripts/write-wire.ts. Do not edit.

from __future__ import annotations

from typing import Any, Literal, TypedDict

from .values import JsonObject, SessionStatus, RunStatus, RunErrorCode, InteractionKind, InteractionStatus, NoticeType, Decision, FileStatus, ScheduleStatus, OverlapPolicy, MissedPolicy, SessionMode, FireOutcome, WebhookType, DeliveryStatus, ConnectionStatus, Scope, Profile, MemberRole, ClientStatus, CredentialStatus, TenantStatus, AttachmentState


class WorkspaceRecord(TypedDict):
    """A tenant that the caller can access, with its organization."""

    id: str
    organization_id: str
    organization_name: str
    tenant: WorkspaceRecordTenant


class WorkspaceRecordTenant(TypedDict):
    tenant_id: str
    display_name: str
    status: TenantStatus
    attachment_state: AttachmentState


class _CallerRecordRequired(TypedDict):
    #: Record id of the automation client (`cli_…`) or of the person (`usr_…`).
    subject: str
    kind: Literal["automation_client", "person"]
    organization_id: str
    tenant_id: str
    #: Current scopes of this token.
    scopes: list[Scope]
    file_attachments_enabled: bool
    expires_at: str


class CallerRecord(_CallerRecordRequired, total=False):
    """The caller that the access token identifies."""

    #: OAuth client id. Only of an automation client.
    client_id: str
    #: Only of a token for one session: the session.
    session_id: str
    #: Only of a token for one session: the user it was created for.
    end_user: str
    #: Only of an automation client.
    profile: Profile
    #: Only of a person.
    role: MemberRole


class _OverviewRecordRequired(TypedDict):
    runs: OverviewRecordRuns
    pending_interactions: int
    as_of: str


class OverviewRecord(_OverviewRecordRequired, total=False):
    """Current activity in the tenant. 10000 means that many or more."""

    oldest_pending_at: str
    oldest_queued_at: str


class OverviewRecordRuns(TypedDict):
    queued: int
    running: int
    waiting: int
    cancelling: int


class _MeRecordRequired(TypedDict):
    user_id: str
    memberships: list[MeRecordMemberships]


class MeRecord(_MeRecordRequired, total=False):
    """The person who is signed in, with their organizations."""

    #: What the person wants to be called.
    name: str
    #: Absent when no issuer has verified one.
    email: str


class MeRecordMemberships(TypedDict):
    organization_id: str
    organization_name: str
    role: MemberRole


class _OfferedInvitationRequired(TypedDict):
    organization_name: str
    #: The role that the person gets.
    role: MemberRole
    expires_at: str


class OfferedInvitation(_OfferedInvitationRequired, total=False):
    """An invitation, as its link shows it."""

    #: Only the person with this address can accept. Absent: anyone who has the link.
    email: str


class AcceptedInvitation(TypedDict):
    """The membership that an invitation gave."""

    organization_id: str
    organization_name: str
    user_id: str
    #: The role that the person gets.
    role: MemberRole


class SignedUp(TypedDict):
    """The membership of a new account, and its first sign-in."""

    organization_id: str
    organization_name: str
    user_id: str
    #: The role that the person gets.
    role: MemberRole
    #: Signs the browser in that made the account, once and within a minute: the page posts it as the form field `ticket` to `/oidc/joined`.
    ticket: str


class SystemRecord(TypedDict):
    """The server and its limits."""

    version: str
    #: When the server that answered was started.
    started_at: str
    #: What agents can be built on, on the server that answered.
    frameworks: list[SystemRecordFrameworks]
    file_attachments_enabled: bool
    limits: SystemRecordLimits


class _SystemRecordFrameworksRequired(TypedDict):
    name: str
    ready: bool


class SystemRecordFrameworks(_SystemRecordFrameworksRequired, total=False):
    #: Why its agents cannot run.
    reason: str


class SystemRecordLimits(TypedDict):
    page_items: int
    file_bytes: int
    queued_runs_per_session: int
    clients_per_organization: int
    tenants_per_organization: int
    #: Per client or person; 0 means no limit.
    calls_per_minute: int


class _AgentRecordRequired(TypedDict):
    name: str
    description: str
    framework: str
    approval_required_tools: list[str]
    session_files_supported: bool


class AgentRecord(_AgentRecordRequired, total=False):
    """An agent that is deployed and enabled for the tenant."""

    model: str
    #: JSON Schema of the input of a run; absent for an agent with a problem.
    input_schema: JsonObject
    #: JSON Schema of the output of a run, if the agent declares one.
    output_schema: JsonObject
    #: The version of the agent: SHA-256, in hex, of the files that decide what it does.
    digest: str
    #: Services whose accounts it uses, if it uses any.
    connections: list[AgentRecordConnections]
    #: The agents that it may call, if any.
    calls: list[str]
    #: Environment variables that `agent.yaml` refers to and the server does not have. Runs that need one fail.
    missing_variables: list[str]
    #: Why its folder cannot be loaded. Such an agent cannot be invoked.
    problem: str


class AgentRecordConnections(TypedDict):
    #: The service, by the name that `agent.yaml` has for it.
    service: str
    owner: Literal["tenant", "end_user"]
    required: bool


class _AgentDetailsRequired(TypedDict):
    name: str
    description: str
    framework: str
    approval_required_tools: list[str]
    session_files_supported: bool
    #: JSON Schema of the input of a run.
    input_schema: JsonObject
    #: The tools it may use; `*` stands for any characters.
    tools: list[str]
    skills: list[str]
    #: What happens to a new run while another run of the session executes.
    on_busy: Literal["queue", "reject"]


class AgentDetails(_AgentDetailsRequired, total=False):
    """An agent with its input, tools and skills."""

    model: str
    #: JSON Schema of the output of a run, if the agent declares one.
    output_schema: JsonObject
    #: The version of the agent: SHA-256, in hex, of the files that decide what it does.
    digest: str
    #: Services whose accounts it uses, if it uses any.
    connections: list[AgentDetailsConnections]
    #: The agents that it may call, if any.
    calls: list[str]
    #: Environment variables that `agent.yaml` refers to and the server does not have. Runs that need one fail.
    missing_variables: list[str]
    #: Why its folder cannot be loaded. Such an agent cannot be invoked.
    problem: str
    loaded_at: str


class AgentDetailsConnections(TypedDict):
    #: The service, by the name that `agent.yaml` has for it.
    service: str
    owner: Literal["tenant", "end_user"]
    required: bool


class _SessionRecordRequired(TypedDict):
    id: str
    agent_name: str
    status: SessionStatus
    #: Labels by key.
    labels: dict[str, str]
    #: Whether this session supports the file operations.
    session_files_supported: bool
    pending_interactions: int
    created_at: str
    updated_at: str


class SessionRecord(_SessionRecordRequired, total=False):
    """A conversation with one agent."""

    status_reason: str
    #: Given at create or later; else the first words of the first prompt.
    title: str
    #: The automation client or the person that made it.
    created_by: SessionRecordCreatedBy
    #: The user whose connections its runs use.
    end_user: str
    current_run_id: str
    stopped_at: str
    ended_at: str
    expires_at: str


class _SessionRecordCreatedByRequired(TypedDict):
    kind: Literal["client", "person"]
    id: str


class SessionRecordCreatedBy(_SessionRecordCreatedByRequired, total=False):
    """The automation client or the person that made it."""

    #: Name of the client, or name or else email address of the person, as it is now.
    name: str


class SessionTokenRecord(TypedDict):
    """A short-lived access token that opens one session and nothing else."""

    token: str
    token_type: Literal["Bearer"]
    expires_at: str
    #: Seconds.
    expires_in: int
    scopes: list[Scope]
    session_id: str


class _RunRecordRequired(TypedDict):
    id: str
    session_id: str
    agent_name: str
    status: RunStatus
    #: The input as it was sent.
    input: JsonObject
    #: Labels by key.
    labels: dict[str, str]
    pending_interactions: int
    #: One more than the number of workers that the run has lost.
    attempt: int
    created_at: str


class RunRecord(_RunRecordRequired, total=False):
    """One invocation of the agent inside a session."""

    #: The version of the agent that executes the run, or executed it last. Absent while it is queued.
    agent_digest: str
    #: The complete answer, after the run has ended.
    output_text: str
    #: The output of the agent, a JSON value: of a completed run whose agent gave one. It fits the `output_schema` of the agent, if there is one.
    output: Any
    error_code: RunErrorCode
    error_message: str
    #: Position in the queue of the session; 1 is next. Only while queued.
    queue_position: int
    #: The automation client or the person that made it.
    created_by: RunRecordCreatedBy
    #: Times, messages and called runs that the run waits for.
    open_waits: int
    #: The oldest 20 things that it waits for. Absent in lists.
    waiting_on: list[OpenWaitRecord]
    #: The run that called it. Absent if no run has.
    parent_run_id: str
    #: The run that no run has called, above this one.
    root_run_id: str
    #: Since when the interrupted run has been waiting to continue.
    interrupted_at: str
    last_event_id: str
    #: The trace of the run, over all its legs. Absent where the server exports no traces.
    trace_id: str
    started_at: str
    ended_at: str
    cancel_requested_at: str
    #: Who asked to cancel it, or stopped its session.
    cancelled_by: RunRecordCancelledBy
    usage: RunRecordUsage
    #: The limits of the run, if any.
    budget: RunRecordBudget


class _RunRecordCreatedByRequired(TypedDict):
    kind: Literal["client", "person"]
    id: str


class RunRecordCreatedBy(_RunRecordCreatedByRequired, total=False):
    """The automation client or the person that made it."""

    #: Name of the client, or name or else email address of the person, as it is now.
    name: str


class _OpenWaitRecordRequired(TypedDict):
    kind: Literal["timer", "signal", "run", "interaction"]
    #: Given by the agent; of a called run its agent, of an interaction the tool, or `question`.
    name: str
    since: str


class OpenWaitRecord(_OpenWaitRecordRequired, total=False):
    """Something that a run waits for."""

    #: When it ends at the latest. Absent for a called run that may take any time.
    until: str
    #: The interaction that needs a person.
    interaction_key: str
    #: The called run.
    child_run_id: str
    #: The session of the called run.
    child_session_id: str


class _RunRecordCancelledByRequired(TypedDict):
    kind: Literal["client", "person"]
    id: str


class RunRecordCancelledBy(_RunRecordCancelledByRequired, total=False):
    """Who asked to cancel it, or stopped its session."""

    #: Name of the client, or name or else email address of the person, as it is now.
    name: str


class _RunRecordUsageRequired(TypedDict):
    input_tokens: int
    output_tokens: int


class RunRecordUsage(_RunRecordUsageRequired, total=False):
    #: In millionths of `currency`: of the models that have a price, or as the agent reported it.
    cost: int
    #: ISO 4217.
    currency: str
    #: True if a model message was cut off by a cancellation or a lost worker, so that its usage is unknown.
    is_partial: bool


class RunRecordBudget(TypedDict, total=False):
    """The limits of the run, if any."""

    #: Input and output tokens together.
    max_tokens: int
    #: In millionths of the currency.
    max_cost: int


class SignalRecord(TypedDict):
    """A message that was sent to a run."""

    run_id: str
    #: The name that the agent receives the message by.
    name: str
    #: `received`: the run has waited for it. `kept`: it does not wait for it yet.
    status: Literal["received", "kept"]


class _FeedbackRecordRequired(TypedDict):
    #: What the feedback is about, such as `rating`.
    key: str
    #: Who gave the feedback.
    author: FeedbackRecordAuthor
    created_at: str
    updated_at: str


class FeedbackRecord(_FeedbackRecordRequired, total=False):
    """What one author says about a run under one key."""

    #: A number of your own scale; thumbs are 1 and -1.
    score: float
    #: A category.
    value: str
    #: Words about the run.
    comment: str


class _FeedbackRecordAuthorRequired(TypedDict):
    kind: Literal["person", "client", "end_user"]
    #: Id of the person or the client; of an end user, the name that your product has for it, or the id of the session if its token names none.
    id: str


class FeedbackRecordAuthor(_FeedbackRecordAuthorRequired, total=False):
    """Who gave the feedback."""

    #: Name of the client, or name or else email address of the person, as it is now.
    name: str


class _ConnectionRecordRequired(TypedDict):
    id: str
    #: The service, by the name that `agent.yaml` has for it.
    service: str
    status: ConnectionStatus
    #: Counts the changes of the secret.
    version: int
    auth: ConnectionRecordAuth
    #: Id of the client or the person.
    created_by: str
    created_at: str
    updated_at: str


class ConnectionRecord(_ConnectionRecordRequired, total=False):
    """An account for a service that agents use."""

    #: Whose account it is; absent for one of the tenant.
    end_user: str
    #: Why it is expired. `refresh_refused`: the token endpoint refused it. `refresh_lost`: a refresh got no answer, so its refresh token may be used up. `rejected`: the service refused it. `no_refresh`: it ended, and there is nothing to refresh it with. `unreadable`: it was sealed with another master key.
    status_reason: Literal["refresh_refused", "refresh_lost", "rejected", "no_refresh", "unreadable"]
    #: To the minute.
    last_used_at: str
    #: Name of the client, or name or else email address of the person, as it is now.
    created_by_name: str


class _ConnectionRecordAuthRequired(TypedDict):
    type: Literal["bearer", "header", "oauth"]


class ConnectionRecordAuth(_ConnectionRecordAuthRequired, total=False):
    #: The header of `header`.
    name: str
    #: When the access token of `oauth` ends.
    expires_at: str
    scope: str
    token_endpoint: str
    client_id: str
    #: Whether the server refreshes the token of `oauth`.
    refreshes: bool


class BegunConnection(TypedDict):
    """A link by which a user connects an account."""

    #: The page of the service, for the browser of this user.
    connect_url: str
    #: Until when the account must be connected.
    expires_at: str


class _RunSummaryRequired(TypedDict):
    id: str
    session_id: str
    agent_name: str
    status: RunStatus
    #: The first 200 characters of the prompt, in one line.
    preview: str
    #: Labels by key.
    labels: dict[str, str]
    pending_interactions: int
    created_at: str


class RunSummary(_RunSummaryRequired, total=False):
    """A run in a list over the whole tenant."""

    #: The version of the agent that executes the run, or executed it last. Absent while it is queued.
    agent_digest: str
    #: The automation client or the person that made it.
    created_by: RunSummaryCreatedBy
    error_code: RunErrorCode
    #: The run that called it. Absent if no run has.
    parent_run_id: str
    #: Times, messages and called runs that the run waits for. Absent while it executes.
    open_waits: int
    #: The oldest 20 things that it waits for. Only in a list of called runs.
    waiting_on: list[OpenWaitRecord]
    started_at: str
    ended_at: str
    usage: RunSummaryUsage


class _RunSummaryCreatedByRequired(TypedDict):
    kind: Literal["client", "person"]
    id: str


class RunSummaryCreatedBy(_RunSummaryCreatedByRequired, total=False):
    """The automation client or the person that made it."""

    #: Name of the client, or name or else email address of the person, as it is now.
    name: str


class _RunSummaryUsageRequired(TypedDict):
    input_tokens: int
    output_tokens: int


class RunSummaryUsage(_RunSummaryUsageRequired, total=False):
    #: In millionths of `currency`: of the models that have a price, or as the agent reported it.
    cost: int
    #: ISO 4217.
    currency: str
    #: True if a model message was cut off by a cancellation or a lost worker, so that its usage is unknown.
    is_partial: bool


class _InteractionRecordRequired(TypedDict):
    #: The durable key; use it to answer.
    interaction_key: str
    kind: InteractionKind
    status: InteractionStatus
    session_id: str
    run_id: str
    #: The same as in the events. Do not use it to answer.
    request_id: str
    created_at: str


class InteractionRecord(_InteractionRecordRequired, total=False):
    """A question or a permission request of an agent."""

    tool_name: str
    tool_input: Any
    #: The rules that asked, the organization's first.
    rules: list[InteractionRecordRules]
    #: Who may allow it. Absent: every caller that may answer.
    approvers: InteractionRecordApprovers
    #: Who has allowed it, where more than one person has to.
    approvals: list[InteractionRecordApprovals]
    #: Whether the caller may allow it now, of a pending permission. Of a question about a call in doubt: whether the caller may have the call run again.
    can_allow: bool
    #: How far an allow may be remembered for the rest of the session.
    can_remember: Literal["exact", "tool"]
    question: str
    options: list[InteractionRecordOptions]
    multiple: bool
    #: `call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected.
    about: InteractionRecordAbout
    decision: Decision
    updated_input: JsonObject
    answer: str | list[str]
    declined: Literal[True]
    message: str
    answered_by: str
    #: Name of the client, or name or else email address of the person, as it is now.
    answered_by_name: str
    #: What decided, where no person and no client did.
    decided_by: Literal["rule", "memory", "expiry"]
    #: What the allow also allows for the rest of the session, until it is forgotten.
    remembered: Literal["exact", "tool"]
    answered_at: str
    applied_at: str
    expires_at: str
    #: Where no answer comes before `expires_at`, the call is denied and the run continues. Absent: the run fails.
    on_expiry: Literal["deny"]


class _InteractionRecordRulesRequired(TypedDict):
    source: Literal["organization", "agent"]
    name: str


class InteractionRecordRules(_InteractionRecordRulesRequired, total=False):
    reason: str


class InteractionRecordApprovers(TypedDict):
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


class _InteractionRecordApprovalsRequired(TypedDict):
    by: str
    at: str


class InteractionRecordApprovals(_InteractionRecordApprovalsRequired, total=False):
    #: Name of the client, or name or else email address of the person, as it is now.
    by_name: str


class _InteractionRecordOptionsRequired(TypedDict):
    label: str


class InteractionRecordOptions(_InteractionRecordOptionsRequired, total=False):
    description: str


class _InteractionRecordAboutRequired(TypedDict):
    kind: Literal["call_in_doubt", "workspace_behind", "connection_missing"]


class InteractionRecordAbout(_InteractionRecordAboutRequired, total=False):
    """`call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected."""

    tool_name: str
    tool_input: Any
    begun_at: str
    #: The first of the tool calls whose file changes are lost.
    calls: list[InteractionRecordAboutCalls]
    #: The service that is not connected.
    service: str
    owner: Literal["tenant", "end_user"]
    #: Where the end user connects it.
    url: str


class InteractionRecordAboutCalls(TypedDict):
    tool_name: str
    begun_at: str


class _InteractionSummaryRequired(TypedDict):
    interaction_key: str
    kind: InteractionKind
    status: InteractionStatus
    session_id: str
    run_id: str
    agent_name: str
    #: Labels by key.
    run_labels: dict[str, str]
    #: The first words of the prompt of its run.
    preview: str
    created_at: str


class InteractionSummary(_InteractionSummaryRequired, total=False):
    """An interaction in a list over the whole tenant."""

    #: The run that called its run. Absent where a client started it.
    parent_run_id: str
    #: The agent of that run.
    parent_agent_name: str
    tool_name: str
    #: The first 200 characters of the question.
    question: str
    about: InteractionSummaryAbout
    #: The rules that asked, the organization's first.
    rules: list[InteractionSummaryRules]
    #: Who may allow it. Absent: every caller that may answer.
    approvers: InteractionSummaryApprovers
    #: Who has allowed it, where more than one person has to.
    approvals: list[InteractionSummaryApprovals]
    #: Whether the caller may allow it now, of a pending permission. Of a question about a call in doubt: whether the caller may have the call run again.
    can_allow: bool
    #: What the call is about: the members of its input that tell most, such as path, subject, amount and command. Never JSON.
    tool_input_preview: str
    decision: Decision
    answered_by: str
    #: Name of the client, or name or else email address of the person, as it is now.
    answered_by_name: str
    answered_at: str
    expires_at: str


class _InteractionSummaryAboutRequired(TypedDict):
    kind: Literal["call_in_doubt", "workspace_behind", "connection_missing"]


class InteractionSummaryAbout(_InteractionSummaryAboutRequired, total=False):
    tool_name: str
    begun_at: str
    #: The first of the tool calls whose file changes are lost.
    calls: list[InteractionSummaryAboutCalls]
    #: The service that is not connected.
    service: str
    owner: Literal["tenant", "end_user"]
    #: Where the end user connects it.
    url: str


class InteractionSummaryAboutCalls(TypedDict):
    tool_name: str
    begun_at: str


class _InteractionSummaryRulesRequired(TypedDict):
    source: Literal["organization", "agent"]
    name: str


class InteractionSummaryRules(_InteractionSummaryRulesRequired, total=False):
    reason: str


class InteractionSummaryApprovers(TypedDict):
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


class _InteractionSummaryApprovalsRequired(TypedDict):
    by: str
    at: str


class InteractionSummaryApprovals(_InteractionSummaryApprovalsRequired, total=False):
    #: Name of the client, or name or else email address of the person, as it is now.
    by_name: str


class _InteractionInTenantRecordRequired(TypedDict):
    #: The durable key; use it to answer.
    interaction_key: str
    kind: InteractionKind
    status: InteractionStatus
    session_id: str
    run_id: str
    #: The same as in the events. Do not use it to answer.
    request_id: str
    created_at: str
    agent_name: str
    #: Labels by key.
    run_labels: dict[str, str]
    #: The first words of the prompt of its run.
    preview: str


class InteractionInTenantRecord(_InteractionInTenantRecordRequired, total=False):
    """An interaction with its agent and the labels of its run."""

    tool_name: str
    tool_input: Any
    #: The rules that asked, the organization's first.
    rules: list[InteractionInTenantRecordRules]
    #: Who may allow it. Absent: every caller that may answer.
    approvers: InteractionInTenantRecordApprovers
    #: Who has allowed it, where more than one person has to.
    approvals: list[InteractionInTenantRecordApprovals]
    #: Whether the caller may allow it now, of a pending permission. Of a question about a call in doubt: whether the caller may have the call run again.
    can_allow: bool
    #: How far an allow may be remembered for the rest of the session.
    can_remember: Literal["exact", "tool"]
    question: str
    options: list[InteractionInTenantRecordOptions]
    multiple: bool
    #: `call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected.
    about: InteractionInTenantRecordAbout
    decision: Decision
    updated_input: JsonObject
    answer: str | list[str]
    declined: Literal[True]
    message: str
    answered_by: str
    #: Name of the client, or name or else email address of the person, as it is now.
    answered_by_name: str
    #: What decided, where no person and no client did.
    decided_by: Literal["rule", "memory", "expiry"]
    #: What the allow also allows for the rest of the session, until it is forgotten.
    remembered: Literal["exact", "tool"]
    answered_at: str
    applied_at: str
    expires_at: str
    #: Where no answer comes before `expires_at`, the call is denied and the run continues. Absent: the run fails.
    on_expiry: Literal["deny"]
    #: The run that called its run. Absent where a client started it.
    parent_run_id: str
    #: The agent of that run.
    parent_agent_name: str


class _InteractionInTenantRecordRulesRequired(TypedDict):
    source: Literal["organization", "agent"]
    name: str


class InteractionInTenantRecordRules(_InteractionInTenantRecordRulesRequired, total=False):
    reason: str


class InteractionInTenantRecordApprovers(TypedDict):
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


class _InteractionInTenantRecordApprovalsRequired(TypedDict):
    by: str
    at: str


class InteractionInTenantRecordApprovals(_InteractionInTenantRecordApprovalsRequired, total=False):
    #: Name of the client, or name or else email address of the person, as it is now.
    by_name: str


class _InteractionInTenantRecordOptionsRequired(TypedDict):
    label: str


class InteractionInTenantRecordOptions(_InteractionInTenantRecordOptionsRequired, total=False):
    description: str


class _InteractionInTenantRecordAboutRequired(TypedDict):
    kind: Literal["call_in_doubt", "workspace_behind", "connection_missing"]


class InteractionInTenantRecordAbout(_InteractionInTenantRecordAboutRequired, total=False):
    """`call_in_doubt`: a tool call that started before the worker died and may or may not have completed. `workspace_behind`: the machine with the latest files of the session is gone. `connection_missing`: an account of the end user is missing or has expired; the run continues once it is connected."""

    tool_name: str
    tool_input: Any
    begun_at: str
    #: The first of the tool calls whose file changes are lost.
    calls: list[InteractionInTenantRecordAboutCalls]
    #: The service that is not connected.
    service: str
    owner: Literal["tenant", "end_user"]
    #: Where the end user connects it.
    url: str


class InteractionInTenantRecordAboutCalls(TypedDict):
    tool_name: str
    begun_at: str


class _FileRecordRequired(TypedDict):
    id: str
    session_id: str
    name: str
    content_type: str
    status: FileStatus
    created_at: str


class FileRecord(_FileRecordRequired, total=False):
    """A file attached to a session."""

    size_bytes: int
    sha256: str


class _NoticeRecordRequired(TypedDict):
    #: The number of the notice in the feed, without gaps. Send it as Last-Event-ID to continue after it.
    id: str
    #: What happened. Ignore unknown types: later versions add some.
    type: NoticeType
    created_at: str
    #: Ids and states. Read the rest with the operation of the resource.
    data: NoticeRecordData


class NoticeRecord(_NoticeRecordRequired, total=False):
    """One change in a tenant."""

    session_id: str
    run_id: str


class NoticeRecordData(TypedDict, total=False):
    """Ids and states. Read the rest with the operation of the resource."""

    agent_name: str
    #: Status of the run or of the session after the change.
    status: Literal["queued", "running", "waiting", "cancelling", "completed", "failed", "cancelled", "idle", "stopping", "stopped", "terminated"]
    #: Labels of the run or of the session, if it has any.
    labels: dict[str, str]
    #: The corresponding event in the log of the run.
    run_event_id: str
    interaction_key: str
    kind: InteractionKind
    error_code: RunErrorCode
    feedback_key: str
    #: Score of the feedback, if it has one.
    score: float
    author_kind: Literal["person", "client", "end_user"]
    #: The feedback was deleted.
    deleted: Literal[True]
    budget_id: str
    #: The share of the budget that was reached.
    percent: int
    webhook_id: str
    connection_id: str
    #: The service of the connection.
    service: str
    #: Whose connection it is; absent for the tenant.
    end_user: str
    schedule_id: str
    slot_at: str
    reason: str


class _ScheduleRecordRequired(TypedDict):
    id: str
    name: str
    agent_name: str
    cron: str
    time_zone: str
    session: ScheduleRecordSession
    #: Every run gets them, and its own `schedule_id`.
    labels: dict[str, str]
    overlap: OverlapPolicy
    missed: MissedPolicy
    missed_within_seconds: int
    status: ScheduleStatus
    #: Send it with every update.
    version: int
    #: Id of the client or person that the runs start as: the one that created the schedule, or last changed its pattern, time zone or input.
    created_by: str
    created_at: str
    updated_at: str
    #: The input of every run.
    input: JsonObject


class ScheduleRecord(_ScheduleRecordRequired, total=False):
    """Starts runs of an agent on a cron schedule."""

    #: The user of your product that its sessions are for.
    end_user: str
    #: `client_withdrawn`: the client or person is no longer allowed to start runs.
    status_reason: str
    #: The next slot. Absent while the schedule is paused.
    next_at: str
    #: The newest slot that was processed.
    last_slot_at: str
    last_run_id: str
    #: Name of the client, or name or else email address of the person, as it is now.
    created_by_name: str


class _ScheduleRecordSessionRequired(TypedDict):
    mode: SessionMode


class ScheduleRecordSession(_ScheduleRecordSessionRequired, total=False):
    #: The session that is kept, once there is one.
    session_id: str


class _ScheduleSummaryRequired(TypedDict):
    id: str
    name: str
    agent_name: str
    cron: str
    time_zone: str
    session: ScheduleSummarySession
    #: Every run gets them, and its own `schedule_id`.
    labels: dict[str, str]
    overlap: OverlapPolicy
    missed: MissedPolicy
    missed_within_seconds: int
    status: ScheduleStatus
    #: Send it with every update.
    version: int
    #: Id of the client or person that the runs start as: the one that created the schedule, or last changed its pattern, time zone or input.
    created_by: str
    created_at: str
    updated_at: str


class ScheduleSummary(_ScheduleSummaryRequired, total=False):
    """A schedule without its input."""

    #: The user of your product that its sessions are for.
    end_user: str
    #: `client_withdrawn`: the client or person is no longer allowed to start runs.
    status_reason: str
    #: The next slot. Absent while the schedule is paused.
    next_at: str
    #: The newest slot that was processed.
    last_slot_at: str
    last_run_id: str
    #: Name of the client, or name or else email address of the person, as it is now.
    created_by_name: str


class _ScheduleSummarySessionRequired(TypedDict):
    mode: SessionMode


class ScheduleSummarySession(_ScheduleSummarySessionRequired, total=False):
    #: The session that is kept, once there is one.
    session_id: str


class _ScheduleFireRequired(TypedDict):
    #: The scheduled time.
    slot_at: str
    #: When the service processed it.
    fired_at: str
    outcome: FireOutcome


class ScheduleFire(_ScheduleFireRequired, total=False):
    """The outcome of one slot of a schedule."""

    #: The run, if one was started.
    run_id: str
    session_id: str
    #: `missed` or `overlap`, or the code of the error that refused the run.
    code: str


class IssuedWebhook(TypedDict):
    webhook: WebhookRecord
    #: Verifies deliveries. Shown only in the response that issues it.
    secret: str


class _WebhookRecordRequired(TypedDict):
    id: str
    url: str
    types: list[WebhookType]
    status: ClientStatus
    #: The end of the newest secret.
    secret_hint: str
    #: Send it with every update.
    version: int
    created_by: str
    created_at: str
    updated_at: str


class WebhookRecord(_WebhookRecordRequired, total=False):
    """A URL that receives signed notices about the tenant."""

    description: str
    #: Only notices about these agents (default: all).
    agent_names: list[str]
    #: Only notices about runs and sessions with all of these labels.
    labels: dict[str, str]
    #: `gone`: the receiver responded with 410. `failing`: no success for five days.
    status_reason: str
    last_success_at: str
    #: Since when every delivery has failed.
    failing_since: str
    #: Name of the client, or name or else email address of the person, as it is now.
    created_by_name: str


class _WebhookDeliveryRequired(TypedDict):
    id: str
    webhook_id: str
    #: `webhook-id` of the request, the same in every attempt.
    message_id: str
    type: str
    status: DeliveryStatus
    tries: int
    created_at: str


class WebhookDelivery(_WebhookDeliveryRequired, total=False):
    """One notice for one webhook."""

    next_try_at: str
    response_status: int
    #: The beginning of the last response body.
    response_excerpt: str
    #: Why there was no response.
    error: str
    ended_at: str


class _WebhookDeliveryDetailRequired(TypedDict):
    id: str
    webhook_id: str
    #: `webhook-id` of the request, the same in every attempt.
    message_id: str
    type: str
    status: DeliveryStatus
    tries: int
    created_at: str


class WebhookDeliveryDetail(_WebhookDeliveryDetailRequired, total=False):
    """A delivery with the body of its request."""

    next_try_at: str
    response_status: int
    #: The beginning of the last response body.
    response_excerpt: str
    #: Why there was no response.
    error: str
    ended_at: str
    #: The body of the request, the same bytes in every attempt. Absent once the feed no longer keeps the notice.
    request_body: str


class WebhookReplay(TypedDict):
    #: Deliveries that were made or will be sent again.
    deliveries: int
    #: The last notice that was examined.
    last_id: str
    #: True: send the request again with `last_id` as `after_id`.
    has_more: bool


class _UsageRecordRequired(TypedDict):
    #: Including tokens read from a cache.
    input_tokens: int
    #: Including reasoning tokens.
    output_tokens: int
    cached_input_tokens: int
    reasoning_tokens: int


class UsageRecord(_UsageRecordRequired, total=False):
    """Tokens, costs and runs of one time range and group."""

    #: Start of the hour or day, in UTC. Present with `bucket`.
    start: str
    #: Present with `group_by`. Empty for runs that no client started. Of a label, its value.
    group: str
    #: Runs that ended. This and the next four are absent when grouped by model.
    runs: int
    #: Runs that completed.
    completed: int
    #: Runs that failed.
    failed: int
    #: Runs that were cancelled.
    cancelled: int
    #: Time from start to end of these runs, waiting for people included.
    run_seconds: int
    #: In millionths of `currency`. Absent if nothing has a price.
    cost: int
    #: ISO 4217.
    currency: str


class _TokenResponseRequired(TypedDict):
    access_token: str
    token_type: Literal["Bearer"]
    #: Seconds.
    expires_in: int
    #: Space-separated scopes.
    scope: str


class TokenResponse(_TokenResponseRequired, total=False):
    """A short-lived access token."""

    #: The kind of token, in an answer to a token exchange (RFC 8693).
    issued_token_type: str
    #: For an assistant: renews the token, once.
    refresh_token: str


class _ServerMetadataRequired(TypedDict):
    issuer: str
    token_endpoint: str
    jwks_uri: str
    grant_types_supported: list[str]
    response_types_supported: list[str]
    token_endpoint_auth_methods_supported: list[str]
    scopes_supported: list[str]


class ServerMetadata(_ServerMetadataRequired, total=False):
    """OAuth 2.0 authorization server metadata."""

    authorization_endpoint: str
    #: Where `CONVOKE_CLIENT_REGISTRATION` is on.
    registration_endpoint: str
    code_challenge_methods_supported: list[str]
    client_id_metadata_document_supported: bool
    authorization_response_iss_parameter_supported: bool


class _ResourceMetadataRequired(TypedDict):
    #: The MCP address of the tenant.
    resource: str
    scopes_supported: list[Scope]
    bearer_methods_supported: list[Literal["header"]]
    resource_name: str


class ResourceMetadata(_ResourceMetadataRequired, total=False):
    """OAuth 2.0 protected resource metadata."""

    #: Absent where people sign in with another issuer.
    authorization_servers: list[str]


class JsonWebKeySet(TypedDict):
    """The keys that sign access tokens."""

    keys: list[JsonObject]


class AgentCard(TypedDict):
    """An agent card of the A2A protocol."""

    name: str


class Health(TypedDict):
    """The process is alive."""

    status: Literal["ok"]


class Readiness(TypedDict):
    """The server accepts requests."""

    status: Literal["ready"]


class OrganizationRecord(TypedDict):
    """Owns tenants and automation clients."""

    id: str
    name: str
    #: Role of the caller.
    role: MemberRole
    created_at: str
    counts: OrganizationRecordCounts


class OrganizationRecordCounts(TypedDict):
    #: Tenants that are not offboarded.
    tenants: int
    clients: int
    members: int


class _AuditRecordRequired(TypedDict):
    #: Number in the chain of the organization.
    seq: int
    at: str
    actor: AuditRecordActor
    action: str
    #: Id of the resource that was acted on.
    object: str
    outcome: Literal["done", "denied"]
    details: JsonObject
    #: Covers this row and the hash of the row before it.
    hash: str


class AuditRecord(_AuditRecordRequired, total=False):
    """Who did what, from where, by which request."""

    address: str
    request_id: str


class _AuditRecordActorRequired(TypedDict):
    kind: Literal["user", "client", "operator", "system", "anonymous"]
    #: Empty for an anonymous caller.
    id: str


class AuditRecordActor(_AuditRecordActorRequired, total=False):
    #: Name or else email address of a person, or name of a client, as it is now.
    name: str


class _AuditStatusRecordRequired(TypedDict):
    rows: int
    last_seq: int
    #: Store it outside the database: it proves that no earlier row was changed.
    last_hash: str
    #: Rows that the server has checked.
    verified_to_seq: int


class AuditStatusRecord(_AuditStatusRecordRequired, total=False):
    """Whether the hash chain of the audit log is intact."""

    #: Absent before the first check.
    verified_at: str
    #: The first row that is wrong. Rows after it prove nothing.
    problem: AuditStatusRecordProblem


class AuditStatusRecordProblem(TypedDict):
    """The first row that is wrong. Rows after it prove nothing."""

    seq: int
    reason: str


class _BudgetRecordRequired(TypedDict):
    id: str
    scope: BudgetRecordScope
    period: Literal["day", "month", "total"]
    #: In the current period, since the budget was set.
    spent: BudgetRecordSpent
    version: int
    created_at: str
    updated_at: str


class BudgetRecord(_BudgetRecordRequired, total=False):
    """A limit for all runs of a scope in each period."""

    #: Input and output tokens together.
    max_tokens: int
    #: In millionths of the currency.
    max_cost: int
    #: ISO 4217.
    currency: str
    #: Start of the next period. Absent for `total`.
    resets_at: str


class BudgetRecordScope(TypedDict):
    kind: Literal["tenant", "client", "agent", "session"]
    id: str


class BudgetRecordSpent(TypedDict):
    """In the current period, since the budget was set."""

    tokens: int
    cost: int


class _ClientRecordRequired(TypedDict):
    #: Record id, used in paths.
    id: str
    #: OAuth client id, used to obtain tokens.
    client_id: str
    name: str
    profile: Profile
    scopes: list[Scope]
    status: ClientStatus
    #: Send it with every update.
    version: int
    created_at: str
    updated_at: str
    created_by: str


class ClientRecord(_ClientRecordRequired, total=False):
    """An automation client: a machine identity of the organization."""

    description: str
    #: The tenants that the client can access (default: all).
    tenant_ids: list[str]
    pending_operation: PendingOperation
    #: Name of the client, or name or else email address of the person, as it is now.
    created_by_name: str


class PendingOperation(TypedDict):
    """A revocation of access whose cleanup continues."""

    kind: Literal["change_permissions", "disable_client", "delete_client", "revoke_credential"]
    requested_at: str


class ProfileCatalog(TypedDict):
    """The permission profiles and scopes that clients can have."""

    catalog_version: int
    profiles: list[ProfileCatalogProfiles]
    scopes: list[ProfileCatalogScopes]


class ProfileCatalogProfiles(TypedDict):
    name: Profile
    description: str
    scopes: list[Scope]


class ProfileCatalogScopes(TypedDict):
    name: Scope
    description: str
    #: Ids of the operations that it allows.
    operations: list[str]


class IssuedClient(TypedDict):
    client: ClientRecord
    credential: CredentialRecord
    client_id: str
    #: Shown only in this response.
    client_secret: str


class _CredentialRecordRequired(TypedDict):
    id: str
    label: str
    status: CredentialStatus
    #: The last four characters of the secret.
    secret_hint: str
    created_at: str
    expires_at: str


class CredentialRecord(_CredentialRecordRequired, total=False):
    """Metadata of a client secret, without the secret."""

    pending_operation: PendingOperation
    revoked_at: str
    last_used_at: str


class ClientWithCredentials(TypedDict):
    client: ClientRecord
    credentials: list[CredentialRecord]


class IssuedCredential(TypedDict):
    credential: CredentialRecord
    client_id: str
    #: Shown only in this response.
    client_secret: str


class _IssuedInvitationRequired(TypedDict):
    invitation: InvitationRecord
    #: Shown only in this response.
    secret: str


class IssuedInvitation(_IssuedInvitationRequired, total=False):
    #: The link for the person. The secret follows the `#`, so no server log contains it. Absent when the console is turned off.
    url: str


class _InvitationRecordRequired(TypedDict):
    id: str
    #: The role that the person gets.
    role: MemberRole
    created_by: str
    created_at: str
    expires_at: str


class InvitationRecord(_InvitationRecordRequired, total=False):
    """An open invitation to the organization."""

    #: Only the person with this address can accept. Absent: anyone who has the link.
    email: str
    #: Name of the client, or name or else email address of the person, as it is now.
    created_by_name: str


class _MemberRecordRequired(TypedDict):
    user_id: str
    role: MemberRole
    #: When the person joined.
    created_at: str


class MemberRecord(_MemberRecordRequired, total=False):
    """A person in an organization."""

    #: What the person wants to be called.
    name: str
    #: Absent when no issuer has verified one.
    email: str


class _RuleDocumentRecordRequired(TypedDict):
    #: Counts the changes; 0 before the first document.
    version: int
    rules: list[RuleRecord]
    warnings: list[RuleWarning]


class RuleDocumentRecord(_RuleDocumentRecordRequired, total=False):
    """The rules of an organization about tool calls."""

    updated_at: str
    updated_by: str
    #: Name of the client, or name or else email address of the person, as it is now.
    updated_by_name: str


class _RuleRecordRequired(TypedDict):
    name: str
    tools: list[str]
    effect: Literal["allow", "ask", "deny"]


class RuleRecord(_RuleRecordRequired, total=False):
    """Says what happens with tool calls that match it. The first rule of a list that matches decides."""

    when: list[RuleCondition]
    reason: str
    observe: bool
    approvers: RuleApprovers
    remember: Literal["never", "exact", "tool"]
    wait_hours: float
    on_expiry: Literal["fail", "deny"]
    agents: list[str]
    tenants: list[str]


class _RuleConditionRequired(TypedDict):
    path: str


_RuleConditionReserved = TypedDict("_RuleConditionReserved", {"in": "list[str | float | bool | None]"}, total=False)


class RuleCondition(_RuleConditionRequired, _RuleConditionReserved, total=False):
    """Compares one value of the input of a tool call."""

    eq: str | float | bool | None
    ne: str | float | bool | None
    gt: float
    gte: float
    lt: float
    lte: float
    like: str
    present: bool


class RuleApprovers(TypedDict, total=False):
    """Who may allow the call."""

    role: Literal["operator", "admin", "owner"]
    people: int
    not_starter: bool
    clients: bool
    end_users: bool


class RuleWarning(TypedDict):
    """Why a rule may not do what it was meant to do. The document is stored anyway."""

    #: Its name.
    rule: str
    code: Literal["unknown_agent", "unknown_tool", "unreachable", "too_few_approvers", "not_enforced"]
    message: str


class _RuleTrialRecordRequired(TypedDict):
    #: Past calls that the page has looked at.
    calls: int
    #: Those about which the draft decides differently.
    changed: int
    #: The rules of the draft, in their order.
    rules: list[RuleMatches]
    #: The newest 100 that changed.
    changes: list[RuleChange]


class RuleTrialRecord(_RuleTrialRecordRequired, total=False):
    """What a draft of rules would have decided."""

    #: Present if there is another page.
    next_cursor: str


class RuleMatches(TypedDict):
    """How many calls of the page a rule of a draft matches."""

    name: str
    #: Calls that it decides about or observes.
    matched: int


class RuleChange(TypedDict):
    """A past call about which a draft decides differently. Its input is not shown."""

    run_id: str
    session_id: str
    tenant_id: str
    agent_name: str
    tool_name: str
    at: str
    before: Literal["allow", "ask", "deny"]
    after: Literal["allow", "ask", "deny"]
    #: The rule that makes the difference: of the draft, or of the present document.
    rule: str


class _TenantRecordRequired(TypedDict):
    id: str
    organization_id: str
    display_name: str
    mode: str
    status: TenantStatus
    attachment_state: AttachmentState
    created_at: str
    updated_at: str


class TenantRecord(_TenantRecordRequired, total=False):
    """An isolated part of an organization, with its own sessions."""

    status_reason: str
    #: Number of automation clients without `tenant_ids`: they can access this tenant once it is usable, and then have to select a tenant. Present only when one tenant is created or read.
    unbound_clients: int


class _SessionConnectionRecordRequired(TypedDict):
    #: The service, by the name that `agent.yaml` has for it.
    service: str
    #: Whose account the agent uses: that of the tenant, or that of the end user of the session.
    owner: Literal["tenant", "end_user"]
    #: Whether no run starts without it.
    required: bool
    #: `expired`: the account exists, but has to be connected again before it can be used. `missing`: there is no account.
    status: Literal["connected", "expired", "missing"]


class SessionConnectionRecord(_SessionConnectionRecordRequired, total=False):
    """An account that the agent of a session uses."""

    status_reason: Literal["refresh_refused", "refresh_lost", "rejected", "no_refresh", "unreadable"]
    #: The connection that a run would use now.
    connection_id: str
