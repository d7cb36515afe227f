# Generated from packages/contract by packages/python/scripts/write-wire.ts. Do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .._async.agents import AsyncInvoking
from .._async.sessions import AsyncSessionAnswering, AsyncSessionConnectionListing, AsyncSessionFinding, AsyncSessionParts, AsyncTenantAnswering
from .._async.runs import AsyncFeedbackListing, AsyncRunFollowing, AsyncRunStarting
from .._async.files import AsyncFileContents
from .._async.feed import AsyncFeedFollowing
from .._async.schedules import AsyncSchedulePreviewing
from .._async.driver import AsyncDriver
from .._async.listing import AsyncListing
from .._async.resource import AsyncResource
from .._core.calls import Calls
from .._core.requests import RunInput, UNSET, Unset, input_of, new_key, present
from . import operations as op
from .events import RunEvent
from .records import AcceptedInvitation, AgentCard, AgentDetails, AgentRecord, AuditRecord, AuditStatusRecord, BegunConnection, BudgetRecord, CallerRecord, ClientRecord, ClientWithCredentials, ConnectionRecord, CredentialRecord, FeedbackRecord, FileRecord, Health, InteractionInTenantRecord, InteractionRecord, InteractionSummary, InvitationRecord, IssuedClient, IssuedCredential, IssuedInvitation, IssuedWebhook, JsonWebKeySet, MeRecord, MemberRecord, NoticeRecord, OfferedInvitation, OrganizationRecord, OverviewRecord, ProfileCatalog, Readiness, ResourceMetadata, RuleDocumentRecord, RuleTrialRecord, RunRecord, RunSummary, ScheduleFire, ScheduleRecord, ScheduleSummary, ServerMetadata, SessionRecord, SessionTokenRecord, SignalRecord, SignedUp, SystemRecord, TenantRecord, TokenResponse, UsageRecord, WebhookDelivery, WebhookDeliveryDetail, WebhookRecord, WebhookReplay, WorkspaceRecord
from .requests import ConnectionAuth, CreateScheduleSessionKeep, CreateScheduleSessionNew, NewRule, PermissionAnswer, QuestionDeclined, QuestionReply, SetBudgetScope
from .values import ClientStatus, ConnectionStatus, DeliveryStatus, InteractionFilter, InteractionKind, JsonObject, MemberRole, MissedPolicy, NoticeType, Order, OverlapPolicy, Profile, RunErrorCode, RunFilter, RunStatus, ScheduleStatus, Scope, SessionStatus, StopMode, WebhookType


class AsyncAccount(AsyncResource):
    """What the credentials can access."""

    def workspaces(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[WorkspaceRecord]:
        """List the workspaces that the caller can access.

        Requires no selector headers: the response contains their values.
        """
        return self._list(
            op.LIST_WORKSPACES,
            "workspaces",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def whoami(self) -> CallerRecord:
        """Describe the caller.

        Returns the automation client or the person of the token, the current scopes, and whether file
        attachments are enabled.
        """
        record: CallerRecord = await self._json(op.WHOAMI)
        return record

    async def overview(self) -> OverviewRecord:
        """Count active runs and pending requests.

        Counts the runs that have not ended and the interactions that wait for a person.
        """
        record: OverviewRecord = await self._json(op.GET_OVERVIEW)
        return record

    async def me(self) -> MeRecord:
        """Describe the person who is signed in.

        Returns the organizations of the person with their roles. Requires no selector headers. Automation
        clients use `whoami` instead.
        """
        record: MeRecord = await self._json(op.GET_ME)
        return record

    async def read_invitation(self, *, secret: str) -> OfferedInvitation:
        """Read an invitation by its secret.

        Shows the person who has the link what they are invited to. Changes nothing. The secret is in the
        body, so that it is in no log.
        """
        record: OfferedInvitation = await self._json(op.READ_INVITATION, json=present({"secret": secret}))
        return record

    async def accept_invitation(self, *, secret: str) -> AcceptedInvitation:
        """Accept an invitation as the person who is signed in.

        Adds the person to the organization and uses the invitation up. Requires the token of a sign-in and no
        selector headers.
        """
        record: AcceptedInvitation = await self._json(op.ACCEPT_INVITATION, json=present({"secret": secret}))
        return record

    async def sign_up(self, *, secret: str, email: str, password: str, name: str | None = None) -> SignedUp:
        """Accept an invitation with a new account.

        Creates the account of the person, adds it to the organization and uses the invitation up. The
        `ticket` of the answer signs the browser in; anyone else signs in with the password. Only where the
        server itself signs people in: with another identity provider this path is 404.
        """
        record: SignedUp = await self._json(
            op.SIGN_UP,
            json=present({"secret": secret, "email": email, "password": password, "name": name}),
        )
        return record

    async def system(self) -> SystemRecord:
        """Describe the server. Returns version, frameworks and limits, and nothing about any organization."""
        record: SystemRecord = await self._json(op.GET_SYSTEM)
        return record


class AsyncAgents(AsyncInvoking):
    """The agents that are enabled for the workspace."""

    def list(
        self,
        *,
        include: Literal["broken"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[AgentRecord]:
        """List the agents of the tenant.

        Lists the agents that are deployed and enabled for the tenant. Create a session with the name of one.
        """
        return self._list(
            op.LIST_AGENTS,
            "agents",
            query={"include": include, "limit": limit, "cursor": cursor, "order": order},
        )

    async def get(self, agent_name: str) -> AgentDetails:
        """Read an agent.

        Returns the agent with the schema of its input, its tools and skills. One whose folder cannot be
        loaded has a `problem`.
        """
        record: AgentDetails = await self._json(op.GET_AGENT, path={"agent_name": agent_name})
        return record


class AsyncSessions(AsyncSessionFinding):
    """The sessions of the workspace."""

    async def create(
        self,
        agent_name: str,
        *,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        end_user: str | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncSession:
        """Create a session with an agent.

        Creates a conversation with one agent. It keeps the history and the files between its runs.
        """
        record = await self._json(
            op.CREATE_SESSION,
            json=present({"agent_name": agent_name, "title": title, "labels": labels, "end_user": end_user, "idempotency_key": idempotency_key or new_key()}),
        )
        return AsyncSession(self._driver, self._calls, record)

    def list(
        self,
        *,
        status: SessionStatus | None = None,
        agent_name: str | None = None,
        label: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[AsyncSession]:
        """List the sessions of the tenant.

        Lists the sessions of all clients of the tenant. `status`, `agent_name` and `label` select some of
        them. With a label, a page scans a limited number of sessions, so it may be short or empty and still
        have a `next_cursor`.
        """
        return self._list(
            op.LIST_SESSIONS,
            "sessions",
            query={"status": status, "agent_name": agent_name, "label": label, "limit": limit, "cursor": cursor, "order": order},
            item=lambda record: AsyncSession(self._driver, self._calls, record),
        )

    async def get(self, session_id: str) -> AsyncSession:
        """Read a session.

        Returns the session with its status, its current run and the number of interactions that wait for an
        answer.
        """
        record = await self._json(op.GET_SESSION, path={"session_id": session_id})
        return AsyncSession(self._driver, self._calls, record)


class AsyncSessionHandle(AsyncSessionParts):
    """A session by its id. Creating it sends no request."""

    async def read(self) -> SessionRecord:
        """Read a session.

        Returns the session with its status, its current run and the number of interactions that wait for an
        answer.
        """
        record: SessionRecord = await self._json(op.GET_SESSION)
        return record

    async def update(
        self,
        *,
        title: str | None | Unset = UNSET,
        labels: Mapping[str, str | None] | None = None,
    ) -> SessionRecord:
        """Change the title and the labels of a session.

        Labels are merged by key; null removes one. Runs that were started before keep theirs. `title: null`
        removes the title.
        """
        record: SessionRecord = await self._json(
            op.UPDATE_SESSION,
            json=present({"title": title, "labels": labels}, ("title",)),
        )
        return record

    async def stop(self, *, mode: StopMode | None = None, reason: str | None = None) -> SessionRecord:
        """Stop a session.

        Cancels the active run, the queued runs and the open interactions. A suspended session can be resumed;
        a terminated one cannot.
        """
        record: SessionRecord = await self._json(
            op.STOP_SESSION,
            json=present({"mode": mode, "reason": reason}),
        )
        return record

    async def resume(self) -> SessionRecord:
        """Resume a stopped session. The conversation and the files of the session are kept."""
        record: SessionRecord = await self._json(op.RESUME_SESSION)
        return record

    async def create_token(
        self,
        *,
        scopes: Sequence[Literal["sessions:read", "runs:read", "runs:write", "feedback:write", "interactions:read", "interactions:write", "files:read", "files:write", "connections:read", "connections:write"]] | None = None,
        expires_in_seconds: int | None = None,
        end_user: str | None = None,
    ) -> SessionTokenRecord:
        """Create a token for one session.

        For a page or an app of your user, which must not hold a client secret. The token opens `whoami` and
        the operations under `/v1/sessions/{session_id}` of this session, with the scopes that it was given,
        and needs no selector headers. It ends with its client, its credential and its tenant. Only automation
        clients create tokens. It takes no idempotency key, because a token is shown once and another one
        costs nothing: a request with the header is refused.
        """
        record: SessionTokenRecord = await self._json(
            op.CREATE_SESSION_TOKEN,
            json=present({"scopes": scopes, "expires_in_seconds": expires_in_seconds, "end_user": end_user}),
        )
        return record


class AsyncSession(AsyncSessionHandle):
    """A session with the record that the request returned."""

    def __init__(self, driver: AsyncDriver, calls: Calls, record: SessionRecord) -> None:
        super().__init__(driver, calls, session_id=record["id"])
        self.record = record


class AsyncRuns(AsyncRunStarting):
    """The runs of one session."""

    def list(
        self,
        *,
        status: RunStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[AsyncRun]:
        """List the runs of a session.

        Lists finished, active and queued runs. `status` selects those with one status.
        """
        return self._list(
            op.LIST_RUNS,
            "runs",
            query={"status": status, "limit": limit, "cursor": cursor, "order": order},
            item=lambda record: AsyncRun(self._driver, self._calls, record),
        )

    async def get(self, run_id: str) -> AsyncRun:
        """Read a run.

        Returns the run with its status, its answer and its error. This record is authoritative after the run
        has ended.
        """
        record = await self._json(op.GET_RUN, path={"run_id": run_id})
        return AsyncRun(self._driver, self._calls, record)


class AsyncRunHandle(AsyncRunFollowing):
    """A run by its ids. Creating it sends no request."""

    async def read(self) -> RunRecord:
        """Read a run.

        Returns the run with its status, its answer and its error. This record is authoritative after the run
        has ended.
        """
        record: RunRecord = await self._json(op.GET_RUN)
        return record

    async def update(self, *, labels: Mapping[str, str | None]) -> RunRecord:
        """Change the labels of a run. Labels are merged by key; null removes one. The run may have ended."""
        record: RunRecord = await self._json(op.UPDATE_RUN, json=present({"labels": labels}))
        return record

    def events(self, *, limit: int | None = None, cursor: str | None = None) -> AsyncListing[RunEvent]:
        """Follow the events of a run.

        A stream of server-sent events that ends after the terminal event. It may also close without one: then
        read the run and, if it has not ended, reconnect with `Last-Event-ID`. With `Accept: application/json`
        the response is one page of the history; `limit` and `cursor` apply to it.
        """
        return self._list(op.FOLLOW_RUN_EVENTS, "events", query={"limit": limit, "cursor": cursor})

    async def cancel(self, *, reason: str | None = None) -> RunRecord:
        """Cancel a run.

        Asks the agent to end the run. An agent that does not end it in time is stopped; the run then ends as
        `cancelled`.
        """
        record: RunRecord = await self._json(op.CANCEL_RUN, json=present({"reason": reason}))
        return record

    async def signal(
        self,
        name: str,
        data: Any | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> SignalRecord:
        """Send a message to a run.

        The agent gets it where it waits for a message of this name. If it does not wait yet, the message is
        kept until it does. No token for one session can send messages.
        """
        record: SignalRecord = await self._json(
            op.SIGNAL_RUN,
            json=present({"name": name, "data": data, "idempotency_key": idempotency_key or new_key()}),
        )
        return record


class AsyncRun(AsyncRunHandle):
    """A run with the record that the request returned."""

    def __init__(self, driver: AsyncDriver, calls: Calls, record: RunRecord) -> None:
        super().__init__(driver, calls, session_id=record["session_id"], run_id=record["id"])
        self.record = record


class AsyncFeedback(AsyncFeedbackListing):
    """The feedback on one run."""

    async def put(
        self,
        key: str,
        *,
        score: float | None = None,
        value: str | None = None,
        comment: str | None = None,
        end_user: str | None = None,
    ) -> FeedbackRecord:
        """Give feedback on a run.

        Stores what the caller says about the run under the key. It replaces what the same author said before,
        so a repeated request changes nothing. The run may have any status.
        """
        record: FeedbackRecord = await self._json(
            op.PUT_FEEDBACK,
            path={"key": key},
            json=present({"score": score, "value": value, "comment": comment, "end_user": end_user}),
        )
        return record

    async def delete(self, key: str, *, end_user: str | None = None) -> None:
        """Take feedback back. Deletes what the caller said about the run under the key."""
        await self._json(op.DELETE_FEEDBACK, path={"key": key}, query={"end_user": end_user})


class AsyncSessionConnections(AsyncSessionConnectionListing):
    """The accounts that the agent of one session uses."""

    async def put(
        self,
        service: str,
        *,
        auth: ConnectionAuth | None = None,
        ticket: str | None = None,
    ) -> ConnectionRecord:
        """Connect an account of the end user of a session.

        As `put_connection`, for the end user of the session and for a service of which its agent uses the
        accounts of end users; any other is 404. A token of this session with `connections:write` may do it,
        so that a page connects the account of its own user and of no other. With a `ticket` in place of
        `auth` it connects the account with which the user has come back from the service: once, and only for
        the session that `begin_connection` was called for.
        """
        record: ConnectionRecord = await self._json(
            op.PUT_SESSION_CONNECTION,
            path={"service": service},
            json=present({"auth": auth, "ticket": ticket}),
        )
        return record

    async def delete(self, service: str) -> None:
        """Revoke an account of the end user of a session.

        Deletes the connection of the end user of the session with its secrets. All sessions of this user are
        without it.
        """
        await self._json(op.DELETE_SESSION_CONNECTION, path={"service": service})

    async def begin(self, service: str, *, return_url: str) -> BegunConnection:
        """Begin to connect an account by a link.

        For a service whose `oauth` the agent declares. Send the browser of the user to `connect_url`: the
        user signs in at the service and allows the access. The browser then returns to `return_url` with
        `service` and `ticket` in its query, which `put_session_connection` takes, or with `service` and
        `error`. Another beginning for the same account ends this one.
        """
        record: BegunConnection = await self._json(
            op.BEGIN_CONNECTION,
            path={"service": service},
            json=present({"return_url": return_url}),
        )
        return record


class AsyncTenantRuns(AsyncResource):
    """The runs of all sessions of the workspace."""

    def list(
        self,
        *,
        status: Sequence[RunFilter] | None = None,
        agent_name: str | None = None,
        agent_digest: str | None = None,
        label: Sequence[str] | None = None,
        ancestor_run_id: str | None = None,
        error_code: RunErrorCode | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        q: str | None = None,
        feedback: str | None = None,
        score_min: float | None = None,
        score_max: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[RunSummary]:
        """List the runs of the whole tenant.

        Lists runs of all sessions, without input and answer. A page scans a limited number of runs, so with
        filters it may be short or empty and still have a `next_cursor`.
        """
        return self._list(
            op.LIST_TENANT_RUNS,
            "runs",
            query={"status": status, "agent_name": agent_name, "agent_digest": agent_digest, "label": label, "ancestor_run_id": ancestor_run_id, "error_code": error_code, "created_after": created_after, "created_before": created_before, "q": q, "feedback": feedback, "score_min": score_min, "score_max": score_max, "limit": limit, "cursor": cursor, "order": order},
        )

    async def get(self, run_id: str) -> AsyncRun:
        """Read a run by its id alone.

        The same record as in its session, for callers that know only the id of the run.
        """
        record = await self._json(op.FIND_RUN, path={"run_id": run_id})
        return AsyncRun(self._driver, self._calls, record)


class AsyncInteractions(AsyncSessionAnswering):
    """Questions and permission requests of one session."""

    def list(
        self,
        *,
        status: InteractionFilter | None = None,
        remembered: Literal[True] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[InteractionRecord]:
        """List pending interactions.

        Lists questions and permission requests that are waiting for an answer. `status` selects answered,
        expired or cancelled ones.
        """
        return self._list(
            op.LIST_INTERACTIONS,
            "interactions",
            query={"status": status, "remembered": remembered, "limit": limit, "cursor": cursor, "order": order},
        )

    async def answer(
        self,
        interaction_key: str,
        answer: PermissionAnswer | QuestionReply | QuestionDeclined,
    ) -> InteractionRecord:
        """Answer a question or a permission request.

        Use `interaction_key`, never `request_id`. Repeating the identical answer succeeds; a different one is
        a conflict. Where the rules ask for more than one person, the permission stays pending until enough
        have allowed it.
        """
        record: InteractionRecord = await self._json(
            op.ANSWER_INTERACTION,
            path={"interaction_key": interaction_key},
            json=answer,
        )
        return record

    async def forget(self, interaction_key: str) -> None:
        """Forget that an allow is remembered.

        Calls of the session that this allow would have allowed are asked about again. Repeating it succeeds.
        """
        await self._json(op.FORGET_INTERACTION, path={"interaction_key": interaction_key})


class AsyncTenantInteractions(AsyncTenantAnswering):
    """Pending requests in all sessions of the workspace."""

    def list(
        self,
        *,
        status: InteractionFilter | None = None,
        kind: InteractionKind | None = None,
        agent_name: str | None = None,
        can_allow: Literal[True] | None = None,
        label: Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[InteractionSummary]:
        """List pending requests in the whole tenant.

        Lists interactions of all sessions, oldest first. A page scans a limited number of them.
        """
        return self._list(
            op.LIST_TENANT_INTERACTIONS,
            "interactions",
            query={"status": status, "kind": kind, "agent_name": agent_name, "can_allow": can_allow, "label": label, "limit": limit, "cursor": cursor, "order": order},
        )

    async def get(self, interaction_key: str) -> InteractionInTenantRecord:
        """Read an interaction by its key alone.

        Everything that a person decides on, with the agent and the labels of the run.
        """
        record: InteractionInTenantRecord = await self._json(
            op.FIND_INTERACTION,
            path={"interaction_key": interaction_key},
        )
        return record


class AsyncFiles(AsyncFileContents):
    """The files of one session."""

    async def prepare(
        self,
        *,
        name: str,
        content_type: str | None = None,
        size_bytes: int | None = None,
        sha256: str | None = None,
        idempotency_key: str | None = None,
    ) -> FileRecord:
        """Create a file upload.

        Upload the content next. The upload is checked against a size or digest that you declare here.
        """
        record: FileRecord = await self._json(
            op.PREPARE_FILE,
            json=present({"name": name, "content_type": content_type, "size_bytes": size_bytes, "sha256": sha256, "idempotency_key": idempotency_key or new_key()}),
        )
        return record

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[FileRecord]:
        """List the files of a session.

        Lists attached files, and the files that the agent wrote to `outputs/`.
        """
        return self._list(op.LIST_FILES, "files", query={"limit": limit, "cursor": cursor, "order": order})

    async def delete(self, file_id: str) -> None:
        """Delete a file.

        Deletes the record and its bytes. The copy in the session folder is removed before the next run
        starts.
        """
        await self._json(op.DELETE_FILE, path={"file_id": file_id})


class AsyncFeed(AsyncFeedFollowing):
    """Everything that happens in the workspace, as numbered notices."""

    def list(
        self,
        *,
        types: Sequence[NoticeType] | None = None,
        from_: Literal["oldest", "newest"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncListing[NoticeRecord]:
        """Follow everything that happens in the tenant.

        An endless stream of server-sent events: one notice for each change of a run or a session, numbered
        without gaps. It closes from time to time: reconnect with `Last-Event-ID`. `types` selects notices;
        those left out move the cursor by a comment frame with an `id:`. With `Accept: application/json` the
        response is one page.
        """
        return self._list(
            op.FOLLOW_TENANT_EVENTS,
            "events",
            query={"types": types, "from": from_, "limit": limit, "cursor": cursor},
        )


class AsyncSchedules(AsyncSchedulePreviewing):
    """The schedules of the workspace: each starts runs of an agent at the times of a cron pattern."""

    async def create(
        self,
        *,
        name: str,
        cron: str,
        input: RunInput,
        agent_name: str,
        time_zone: str | None = None,
        overlap: OverlapPolicy | None = None,
        missed: MissedPolicy | None = None,
        missed_within_seconds: int | None = None,
        end_user: str | None = None,
        session: CreateScheduleSessionNew | CreateScheduleSessionKeep | None = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> ScheduleRecord:
        """Create a schedule.

        Starts a run of the agent at every slot of the cron pattern, exactly once, on any number of servers.
        Runs start as the client that creates the schedule, as long as it is allowed to start them.
        """
        record: ScheduleRecord = await self._json(
            op.CREATE_SCHEDULE,
            json=present({"name": name, "cron": cron, "time_zone": time_zone, "input": input_of(input), "overlap": overlap, "missed": missed, "missed_within_seconds": missed_within_seconds, "agent_name": agent_name, "end_user": end_user, "session": session, "labels": labels, "idempotency_key": idempotency_key or new_key()}),
        )
        return record

    def list(
        self,
        *,
        status: ScheduleStatus | None = None,
        agent_name: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[ScheduleSummary]:
        """List the schedules of the tenant.

        Lists the schedules of all clients of the tenant, without their inputs.
        """
        return self._list(
            op.LIST_SCHEDULES,
            "schedules",
            query={"status": status, "agent_name": agent_name, "limit": limit, "cursor": cursor, "order": order},
        )

    async def get(self, schedule_id: str) -> ScheduleRecord:
        """Read a schedule. Returns the schedule with its input, its next slot and its last run."""
        record: ScheduleRecord = await self._json(op.GET_SCHEDULE, path={"schedule_id": schedule_id})
        return record

    async def update(
        self,
        schedule_id: str,
        *,
        version: int,
        name: str | None = None,
        cron: str | None = None,
        time_zone: str | None = None,
        input: RunInput | None = None,
        labels: Mapping[str, str | None] | None = None,
        overlap: OverlapPolicy | None = None,
        missed: MissedPolicy | None = None,
        missed_within_seconds: int | None = None,
    ) -> ScheduleRecord:
        """Change a schedule.

        Changes the fields that are sent. A new pattern or time zone applies from now on: missed slots of the
        old one start no run. The caller that changes the pattern, the time zone or the input takes over the
        schedule: its runs then start as that caller.
        """
        record: ScheduleRecord = await self._json(
            op.UPDATE_SCHEDULE,
            path={"schedule_id": schedule_id},
            json=present({"version": version, "name": name, "cron": cron, "time_zone": time_zone, "input": input_of(input), "labels": labels, "overlap": overlap, "missed": missed, "missed_within_seconds": missed_within_seconds}),
        )
        return record

    async def delete(self, schedule_id: str) -> None:
        """Delete a schedule.

        Starts no further runs. Runs that it started continue, and their sessions are kept. Deleting it again
        is 204, too.
        """
        await self._json(op.DELETE_SCHEDULE, path={"schedule_id": schedule_id})

    async def pause(self, schedule_id: str) -> ScheduleRecord:
        """Pause a schedule. Starts no further runs until the schedule is resumed."""
        record: ScheduleRecord = await self._json(op.PAUSE_SCHEDULE, path={"schedule_id": schedule_id})
        return record

    async def resume(self, schedule_id: str) -> ScheduleRecord:
        """Resume a schedule.

        Slots that passed during the pause count as missed. If the schedule was paused because its client is
        no longer allowed to start runs, its runs start as the caller from now on.
        """
        record: ScheduleRecord = await self._json(op.RESUME_SCHEDULE, path={"schedule_id": schedule_id})
        return record

    async def run(self, schedule_id: str, *, idempotency_key: str | None = None) -> AsyncRun:
        """Start a run of a schedule now.

        Starts a run outside the schedule, even while it is paused or its last run has not ended. The next
        slot does not change.
        """
        record = await self._json(
            op.RUN_SCHEDULE,
            path={"schedule_id": schedule_id},
            json=present({"idempotency_key": idempotency_key or new_key()}),
        )
        return AsyncRun(self._driver, self._calls, record)

    def fires(
        self,
        schedule_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[ScheduleFire]:
        """List past slots of a schedule.

        Lists past slots with their run, or the reason why they started none. Kept for 30 days.
        """
        return self._list(
            op.LIST_FIRES,
            "fires",
            path={"schedule_id": schedule_id},
            query={"limit": limit, "cursor": cursor, "order": order},
        )


class AsyncWebhooks(AsyncResource):
    """The webhooks of the workspace: URLs that get its notices, signed. Receivers use `verify_webhook`."""

    async def create(
        self,
        *,
        url: str,
        description: str | None = None,
        types: Sequence[WebhookType] | None = None,
        agent_names: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> IssuedWebhook:
        """Create a webhook.

        Sends the notices of the tenant to a URL from now on, signed as Standard Webhooks 1.0.0 describes. A
        notice may be delivered more than once, with the same `webhook-id`. The secret is shown once: a
        repeated request with the same key never returns it again.
        """
        record: IssuedWebhook = await self._json(
            op.CREATE_WEBHOOK,
            json=present({"url": url, "description": description, "types": types, "agent_names": agent_names, "labels": labels, "idempotency_key": idempotency_key or new_key()}),
        )
        return record

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[WebhookRecord]:
        """List the webhooks of the tenant. Lists the webhooks of all clients of the tenant."""
        return self._list(
            op.LIST_WEBHOOKS,
            "webhooks",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def get(self, webhook_id: str) -> WebhookRecord:
        """Read a webhook.

        Returns the webhook with its status; `failing_since` shows that its receiver does not answer.
        """
        record: WebhookRecord = await self._json(op.GET_WEBHOOK, path={"webhook_id": webhook_id})
        return record

    async def update(
        self,
        webhook_id: str,
        *,
        version: int,
        url: str | None = None,
        description: str | None = None,
        types: Sequence[WebhookType] | None = None,
        agent_names: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        status: ClientStatus | None = None,
    ) -> WebhookRecord:
        """Change a webhook.

        Changes the fields that are sent. `status: active` re-enables a disabled webhook: its pending
        deliveries are then sent.
        """
        record: WebhookRecord = await self._json(
            op.UPDATE_WEBHOOK,
            path={"webhook_id": webhook_id},
            json=present({"version": version, "url": url, "description": description, "types": types, "agent_names": agent_names, "labels": labels, "status": status}),
        )
        return record

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook. Pending deliveries are discarded. Deleting it again is 204, too."""
        await self._json(op.DELETE_WEBHOOK, path={"webhook_id": webhook_id})

    async def rotate(self, webhook_id: str) -> IssuedWebhook:
        """Issue another secret.

        For 24 hours deliveries are signed with both secrets, so that the receiver can switch to the new one.
        """
        record: IssuedWebhook = await self._json(op.ROTATE_WEBHOOK, path={"webhook_id": webhook_id})
        return record

    async def test(self, webhook_id: str) -> WebhookDelivery:
        """Send a test event.

        Sends a message of the type `webhook_test`, which is not in the feed. Read the delivery to see its
        outcome.
        """
        record: WebhookDelivery = await self._json(op.TEST_WEBHOOK, path={"webhook_id": webhook_id})
        return record

    def deliveries(
        self,
        webhook_id: str,
        *,
        status: DeliveryStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[WebhookDelivery]:
        """List the deliveries of a webhook.

        Lists deliveries with their number of attempts and the last response. Kept for 30 days.
        """
        return self._list(
            op.LIST_DELIVERIES,
            "deliveries",
            path={"webhook_id": webhook_id},
            query={"status": status, "limit": limit, "cursor": cursor, "order": order},
        )

    async def delivery(self, webhook_id: str, delivery_id: str) -> WebhookDeliveryDetail:
        """Read a delivery.

        Returns the delivery with the body that was sent and the last response. The body is a notice of the
        feed, so reading it needs the scopes of the feed too.
        """
        record: WebhookDeliveryDetail = await self._json(
            op.GET_DELIVERY,
            path={"webhook_id": webhook_id, "delivery_id": delivery_id},
        )
        return record

    async def redeliver(self, webhook_id: str, delivery_id: str) -> WebhookDelivery:
        """Send a delivery again.

        Sends it with the same `webhook-id` and a full set of attempts, whatever its status.
        """
        record: WebhookDelivery = await self._json(
            op.REDELIVER,
            path={"webhook_id": webhook_id, "delivery_id": delivery_id},
        )
        return record

    async def replay(self, webhook_id: str, *, after_id: str) -> WebhookReplay:
        """Send the notices of the feed again.

        Sends every notice after an id that the webhook selects, as far back as the feed goes; at most 1000
        notices in one request.
        """
        record: WebhookReplay = await self._json(
            op.REPLAY_WEBHOOK,
            path={"webhook_id": webhook_id},
            json=present({"after_id": after_id}),
        )
        return record


class AsyncConnections(AsyncResource):
    """The accounts of the workspace and of its end users for services that agents use."""

    async def put(
        self,
        service: str,
        *,
        auth: ConnectionAuth,
        end_user: str | None = None,
    ) -> ConnectionRecord:
        """Connect an account.

        Stores the account of an end user, or of the tenant, for a service that agents use. A service has one
        account for each owner: another request replaces it. The secrets are sealed, and no answer has them.
        Automation clients write all of them; a person their own (`end_user` is the id of the person), owners
        and admins also those of the tenant.
        """
        record: ConnectionRecord = await self._json(
            op.PUT_CONNECTION,
            path={"service": service},
            json=present({"end_user": end_user, "auth": auth}),
        )
        return record

    def list(
        self,
        *,
        service: str | None = None,
        end_user: str | None = None,
        status: ConnectionStatus | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[ConnectionRecord]:
        """List the connections of the tenant.

        Lists the connections of the tenant and of all its end users, without secrets.
        """
        return self._list(
            op.LIST_CONNECTIONS,
            "connections",
            query={"service": service, "end_user": end_user, "status": status, "limit": limit, "cursor": cursor, "order": order},
        )

    async def delete(self, service: str, *, end_user: str | None = None) -> None:
        """Revoke a connection.

        Deletes the connection with its secrets. What an agent asks for next no longer gets it; the account
        itself stays valid at its service. Owners and admins delete those of all end users.
        """
        await self._json(op.DELETE_CONNECTION, path={"service": service}, query={"end_user": end_user})


class AsyncUsage(AsyncResource):
    """Tokens, costs and runs of the tenant. Costs are in millionths of the currency."""

    def list(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        bucket: Literal["hour", "day"] | None = None,
        group_by: Literal["agent", "model", "client", "session"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncListing[UsageRecord]:
        """Read the usage of the tenant.

        Sums tokens, costs and runs. By session and by label, each row is for a day; runs without the label
        are in none of its rows. At most 92 days, 31 with `bucket=hour`. Rows are in the order of time, then
        of the group. The newest reports appear after about a second.
        """
        return self._list(
            op.READ_USAGE,
            "usage",
            query={"from": from_, "to": to, "bucket": bucket, "group_by": group_by, "limit": limit, "cursor": cursor},
        )


class AsyncService(AsyncResource):
    """What the server says about itself, without an account."""

    async def token(
        self,
        *,
        grant_type: str,
        scope: str | None = None,
        client_id: str | None = None,
        client_secret: str | None = None,
        subject_token: str | None = None,
        subject_token_type: str | None = None,
        requested_token_type: str | None = None,
        resource: str | None = None,
    ) -> TokenResponse:
        """Exchange a client secret for an access token.

        OAuth 2.0 client credentials (RFC 6749 section 4.4). Authenticate with HTTP Basic, or with `client_id`
        and `client_secret` in the form. The console uses the same endpoint to exchange the token of a
        signed-in person for one of a tenant (RFC 8693), and assistants to redeem and renew what a person has
        allowed.
        """
        record: TokenResponse = await self._json(
            op.ISSUE_TOKEN,
            form=present({"grant_type": grant_type, "scope": scope, "client_id": client_id, "client_secret": client_secret, "subject_token": subject_token, "subject_token_type": subject_token_type, "requested_token_type": requested_token_type, "resource": resource}),
        )
        return record

    async def metadata(self) -> ServerMetadata:
        """OAuth server metadata.

        Names the token endpoint, the keys and the scopes, for OAuth libraries (RFC 8414).
        """
        record: ServerMetadata = await self._json(op.GET_METADATA)
        return record

    async def resource_metadata(self, organization_id: str, tenant_id: str) -> ResourceMetadata:
        """OAuth metadata of an MCP address.

        Tells an assistant where a person signs in for this address (RFC 9728). It is made of the path alone:
        it does not say whether the tenant exists.
        """
        record: ResourceMetadata = await self._json(
            op.GET_RESOURCE_METADATA,
            path={"organization_id": organization_id, "tenant_id": tenant_id},
        )
        return record

    async def jwks(self) -> JsonWebKeySet:
        """Public keys for token signatures.

        Returns the public keys as a JSON Web Key Set (RFC 7517), for services that verify tokens themselves.
        """
        record: JsonWebKeySet = await self._json(op.GET_JWKS)
        return record

    async def agent_card(self, organization_id: str, tenant_id: str, agent_name: str) -> AgentCard:
        """Read the A2A card of an agent.

        How clients of the A2A protocol find an agent that has `publish: [a2a]` in its `agent.yaml`. Without
        the header `A2A-Version: 1.0` the card has the shape of version 0.3.
        """
        record: AgentCard = await self._json(
            op.GET_AGENT_CARD,
            path={"organization_id": organization_id, "tenant_id": tenant_id, "agent_name": agent_name},
        )
        return record

    async def health(self) -> Health:
        """Liveness check. Succeeds while the process can answer requests. Restart it when this fails."""
        record: Health = await self._json(op.GET_HEALTH)
        return record

    async def readiness(self) -> Readiness:
        """Readiness check.

        Not ready while the server starts, drains, or cannot use its storage. While it drains, the error has
        `status` (`draining`), `legs` (executing runs) and `in_flight` (their tool calls that have not ended).
        """
        record: Readiness = await self._json(op.GET_READINESS)
        return record

    async def openapi(self) -> JsonObject:
        """OpenAPI 3.1 document.

        Returns the description of this API, for generators and linters. It names the address of this server.
        """
        record: JsonObject = await self._json(op.GET_OPENAPI)
        return record

    async def docs(self) -> str:
        """API reference page. Returns this API as a page for people, with the guides beside it."""
        return await self._text(op.GET_DOCS)

    async def guide(self, guide_name: str) -> str:
        """Guide page. Returns one of the guides that are served beside the API reference."""
        return await self._text(op.GET_GUIDE, path={"guide_name": guide_name})

    async def reference_page(self, page_name: str) -> str:
        """Page of the API reference.

        Returns the operations of one noun, or the events, resources, scopes or errors.
        """
        return await self._text(op.GET_REFERENCE_PAGE, path={"page_name": page_name})

    async def search_index(self) -> JsonObject:
        """Index of the search. Returns the search index of the pages under `/docs`."""
        record: JsonObject = await self._json(op.GET_SEARCH_INDEX)
        return record


class AsyncOrganization(AsyncResource):
    """The organization of a person."""

    def workspaces(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[WorkspaceRecord]:
        """List the workspaces that the caller can access.

        Requires no selector headers: the response contains their values.
        """
        return self._list(
            op.LIST_WORKSPACES,
            "workspaces",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def organization(self) -> OrganizationRecord:
        """Read the organization. Returns its name, the role of the caller, and counts of its resources."""
        record: OrganizationRecord = await self._json(op.GET_ORGANIZATION)
        return record


class AsyncOrganizationUsage(AsyncResource):
    """Tokens, costs and runs of the organization. Costs are in millionths of the currency."""

    def list(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        bucket: Literal["hour", "day"] | None = None,
        group_by: Literal["agent", "model", "client", "tenant"] | str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> AsyncListing[UsageRecord]:
        """Read the usage of the organization.

        Sums tokens, costs and runs over all tenants. By session and by label, each row is for a day; runs
        without the label are in none of its rows. At most 92 days, 31 with `bucket=hour`. Rows are in the
        order of time, then of the group. The newest reports appear after about a second.
        """
        return self._list(
            op.READ_ORGANIZATION_USAGE,
            "usage",
            query={"from": from_, "to": to, "bucket": bucket, "group_by": group_by, "limit": limit, "cursor": cursor},
        )


class AsyncAudit(AsyncResource):
    """The audit log of the organization."""

    def list(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        object: str | None = None,
        outcome: Literal["done", "denied"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[AuditRecord]:
        """Read the audit log.

        Lists the rows of the organization. A page scans at most 10,000 rows, so with filters it may have
        fewer than `limit` rows, or none, and still have a `next_cursor`.
        """
        return self._list(
            op.LIST_AUDIT,
            "rows",
            query={"action": action, "actor_id": actor_id, "object": object, "outcome": outcome, "from": from_, "to": to, "limit": limit, "cursor": cursor, "order": order},
        )

    async def status(self) -> AuditStatusRecord:
        """Read whether the audit log is intact.

        The server checks the hash chain in the background: new rows within minutes, all of them every day.
        """
        record: AuditStatusRecord = await self._json(op.GET_AUDIT_STATUS)
        return record


class AsyncBudgets(AsyncResource):
    """The budgets of the organization. Costs are in millionths of the currency."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[BudgetRecord]:
        """List the budgets of the organization. Lists every budget with its usage in the current period."""
        return self._list(
            op.LIST_BUDGETS,
            "budgets",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def set(
        self,
        *,
        scope: SetBudgetScope,
        period: Literal["day", "month", "total"],
        max_tokens: int | None = None,
        max_cost: int | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> BudgetRecord:
        """Set the budget of a tenant, client, agent or session.

        A scope has at most one budget for each period. Without `version` the budget is new; with the
        `version` that you read, its limits are replaced. Usage in the current period is kept. A lower limit
        applies from the next usage report of every executing run. A first `max_cost` is refused with
        `unpriced_model` where the scope has agents whose models have no price: it would refuse all their
        runs.
        """
        record: BudgetRecord = await self._json(
            op.SET_BUDGET,
            json=present({"scope": scope, "period": period, "max_tokens": max_tokens, "max_cost": max_cost, "version": version}),
            key=idempotency_key or new_key(),
        )
        return record

    async def get(self, budget_id: str) -> BudgetRecord:
        """Read a budget. Returns the budget with its usage in the current period."""
        record: BudgetRecord = await self._json(op.GET_BUDGET, path={"budget_id": budget_id})
        return record

    async def delete(self, budget_id: str) -> None:
        """Delete a budget.

        Its limits no longer apply, and its usage is reset. Deleting it again is 204, too.
        """
        await self._json(op.DELETE_BUDGET, path={"budget_id": budget_id})


class AsyncClients(AsyncResource):
    """The automation clients of the organization. Paths take the record id (`cli_…`), not the OAuth client id."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[ClientRecord]:
        """List the automation clients.

        Lists the machine identities of the organization. Deleted clients are not listed.
        """
        return self._list(
            op.LIST_CLIENTS,
            "clients",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def profiles(self) -> ProfileCatalog:
        """List the permission profiles and scopes.

        Lists what a client can be allowed to do. `catalog_version` changes when a profile or a scope does.
        """
        record: ProfileCatalog = await self._json(op.LIST_PROFILES)
        return record

    async def create(
        self,
        *,
        name: str,
        profile: Profile,
        description: str | None = None,
        scopes: Sequence[Scope] | None = None,
        tenant_ids: Sequence[str] | None = None,
        expires_in_days: int | None = None,
        idempotency_key: str | None = None,
    ) -> IssuedClient:
        """Create an automation client with its first credential.

        Creates a machine identity and issues its first secret. The secret is shown once: a repeated request
        with the same key never returns it again.
        """
        record: IssuedClient = await self._json(
            op.CREATE_CLIENT,
            json=present({"name": name, "description": description, "profile": profile, "scopes": scopes, "tenant_ids": tenant_ids, "expires_in_days": expires_in_days}),
            key=idempotency_key or new_key(),
        )
        return record

    async def get(self, client_id: str) -> ClientWithCredentials:
        """Read an automation client and its credentials.

        Returns the client with its active, expired and revoked credentials. It also holds the `version` for
        an update.
        """
        record: ClientWithCredentials = await self._json(op.GET_CLIENT, path={"client_id": client_id})
        return record

    async def update(
        self,
        client_id: str,
        *,
        version: int,
        name: str | None = None,
        description: str | None = None,
        profile: Profile | None = None,
        scopes: Sequence[Scope] | None = None,
        status: ClientStatus | None = None,
    ) -> ClientRecord:
        """Update an automation client: name, permissions or status.

        Requires at least one change. A change of `status` cannot be combined with others. `scopes` without
        `profile` replaces the scopes of a client whose profile is `custom`. Revoked access ends with the
        client's next request, whatever token it holds.
        """
        record: ClientRecord = await self._json(
            op.UPDATE_CLIENT,
            path={"client_id": client_id},
            json=present({"version": version, "name": name, "description": description, "profile": profile, "scopes": scopes, "status": status}),
        )
        return record

    async def delete(self, client_id: str) -> ClientRecord | None:
        """Delete an automation client.

        Revokes the client's access immediately, with all its credentials. Its runs and sessions remain.
        """
        record: ClientRecord | None = await self._json(op.DELETE_CLIENT, path={"client_id": client_id})
        return record


class AsyncCredentials(AsyncResource):
    """The secrets of automation clients, to rotate them: add, deploy, revoke the old one."""

    async def add(
        self,
        client_id: str,
        *,
        label: str,
        expires_in_days: int | None = None,
        idempotency_key: str | None = None,
    ) -> IssuedCredential:
        """Add a credential to rotate secrets.

        Issues a second secret. Deploy it, then revoke the first one: at most two credentials of a client are
        active.
        """
        record: IssuedCredential = await self._json(
            op.ADD_CREDENTIAL,
            path={"client_id": client_id},
            json=present({"label": label, "expires_in_days": expires_in_days}),
            key=idempotency_key or new_key(),
        )
        return record

    async def revoke(self, client_id: str, credential_id: str) -> CredentialRecord | None:
        """Revoke a credential.

        The credential can no longer obtain tokens. Streams that its tokens opened end; requests with these
        tokens are accepted until they expire.
        """
        record: CredentialRecord | None = await self._json(
            op.REVOKE_CREDENTIAL,
            path={"client_id": client_id, "credential_id": credential_id},
        )
        return record


class AsyncInvitations(AsyncResource):
    """The open invitations of the organization. The secret of one is in the response that creates it."""

    async def create(
        self,
        *,
        role: MemberRole,
        email: str | None = None,
        idempotency_key: str | None = None,
    ) -> IssuedInvitation:
        """Invite a person.

        Creates a link that lets one person join the organization with this role, within seven days. Only an
        owner can invite owners. Send the link yourself: the server sends no mail.
        """
        record: IssuedInvitation = await self._json(
            op.CREATE_INVITATION,
            json=present({"role": role, "email": email}),
            key=idempotency_key or new_key(),
        )
        return record

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[InvitationRecord]:
        """List the open invitations.

        Lists invitations that can still be accepted. Those that were used or revoked are in the audit log.
        """
        return self._list(
            op.LIST_INVITATIONS,
            "invitations",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def revoke(self, invitation_id: str) -> None:
        """Revoke an invitation. The link stops working. One that is no longer open is 204, too."""
        await self._json(op.REVOKE_INVITATION, path={"invitation_id": invitation_id})


class AsyncMembers(AsyncResource):
    """The people of the organization. Invitations add them."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[MemberRecord]:
        """List the people of the organization. Lists members of every role. Invitations add members."""
        return self._list(
            op.LIST_MEMBERS,
            "members",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def update(self, user_id: str, *, role: MemberRole) -> MemberRecord:
        """Give a member another role.

        Takes effect with the next request of the person, and revokes the invitations that the person made.
        Only an owner changes the role of an owner, or makes one.
        """
        record: MemberRecord = await self._json(
            op.UPDATE_MEMBER,
            path={"user_id": user_id},
            json=present({"role": role}),
        )
        return record

    async def remove(self, user_id: str) -> None:
        """Remove a member.

        The person has no access to the organization from the next request on, and the invitations that the
        person made are revoked. Only an owner removes an owner.
        """
        await self._json(op.REMOVE_MEMBER, path={"user_id": user_id})

    async def signOut(self, user_id: str) -> None:
        """Sign a member out everywhere.

        Ends every sign-in and every token of the person, in every browser and terminal. The person can sign
        in again. Only an owner signs an owner out.
        """
        await self._json(op.SIGN_OUT_MEMBER, path={"user_id": user_id})


class AsyncRules(AsyncResource):
    """The rules of the organization about tool calls: one document."""

    async def get(self) -> RuleDocumentRecord:
        """Read the rules for tool calls.

        Returns the one document of the organization, as it was written. Before the first it is version 0
        without rules. `warnings` are about the agents, tenants and people of now.
        """
        record: RuleDocumentRecord = await self._json(op.GET_RULES)
        return record

    async def set(self, *, version: int, rules: Sequence[NewRule]) -> RuleDocumentRecord:
        """Replace the rules for tool calls.

        The first rule that matches a call decides; a list without a match allows it. What the agent asks for
        itself holds as well: the stricter of both counts. A new document counts from the next call on. While
        the old or the new one has a rule with `role: owner`, only an owner replaces it. A document equal to
        the current one changes nothing, whatever its version, so a request whose answer was lost can be sent
        again.
        """
        record: RuleDocumentRecord = await self._json(
            op.SET_RULES,
            json=present({"version": version, "rules": rules}),
        )
        return record

    async def try_(
        self,
        *,
        rules: Sequence[NewRule],
        since: str | None = None,
        tenant_id: str | None = None,
        cursor: str | None = None,
    ) -> RuleTrialRecord:
        """Try rules over past calls.

        Decides about past tool calls of the organization with the current rules and with a draft, and shows
        where they differ. Nothing is written and no input is shown. Calls of the newest runs come first; a
        page ends after 5,000 calls, or earlier when they are large or the rules are costly. Answers of people
        do not count, and the lists of agents are those of now. Calls that change nothing, and that no rule
        was about when they were made, are not stored, so they are not among them.
        """
        record: RuleTrialRecord = await self._json(
            op.TRY_RULES,
            json=present({"rules": rules, "since": since, "tenant_id": tenant_id, "cursor": cursor}),
        )
        return record


class AsyncTenants(AsyncResource):
    """The tenants of the organization. One is usable when it is `active` and its attachment is `ready`."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Order | None = None,
    ) -> AsyncListing[TenantRecord]:
        """List the tenants of the organization. Lists tenants in every state, offboarded ones included."""
        return self._list(
            op.LIST_TENANTS,
            "tenants",
            query={"limit": limit, "cursor": cursor, "order": order},
        )

    async def create(
        self,
        *,
        display_name: str,
        mode: str,
        idempotency_key: str | None = None,
    ) -> TenantRecord:
        """Create a tenant.

        Provisioning continues after the response: read the tenant until it is active and ready.
        """
        record: TenantRecord = await self._json(
            op.CREATE_TENANT,
            json=present({"display_name": display_name, "mode": mode}),
            key=idempotency_key or new_key(),
        )
        return record

    async def get(self, tenant_id: str) -> TenantRecord:
        """Read a tenant.

        Returns the tenant. It is usable when it is `active` and its attachment state is `ready`.
        """
        record: TenantRecord = await self._json(op.GET_TENANT, path={"tenant_id": tenant_id})
        return record

    async def retry(self, tenant_id: str) -> TenantRecord:
        """Retry failed provisioning. Retries the provisioning of a tenant after it failed."""
        record: TenantRecord = await self._json(op.RETRY_TENANT, path={"tenant_id": tenant_id})
        return record

    async def offboard(self, tenant_id: str, *, confirm: str) -> TenantRecord:
        """Offboard a tenant permanently.

        Revokes the access of all automation clients immediately, then deletes the sessions, runs, events,
        files and session folders of the tenant. This cannot be undone.
        """
        record: TenantRecord = await self._json(
            op.OFFBOARD_TENANT,
            path={"tenant_id": tenant_id},
            json=present({"confirm": confirm}),
        )
        return record
