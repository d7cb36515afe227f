"""The clients."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, Callable, Sequence
from types import TracebackType
from typing import Literal

from .._core.calls import Calls
from .._core.retry import Retry
from .._core.settings import USUAL_PATIENCE, USUAL_SILENCE, Settings, TenantHeader, settings_of
from .._core.tokens import (
    Bearer,
    ClientTokens,
    FixedToken,
    KeptToken,
    ProvidedToken,
    TokenProvider,
    Tokens,
)
from .._core.workspaces import SelectedWorkspace
from .._generated import async_resources as resources
from .._generated.records import NoticeRecord
from .._generated.values import NoticeType, Scope
from .driver import AsyncDriver
from .transport import AsyncTransport, StreamTransport


class AsyncConvoke(resources.AsyncAccount):
    """Client for the agents of one workspace::

        convoke = AsyncConvoke(base_url="https://convoke.example", client_id=client_id, client_secret=client_secret)
        session = await convoke.sessions.create("demo")
        run = await session.run("Hello")
        print(await run.text())

    Give it `client_id` and `client_secret`, or a `token`: a string, or a function that is called for every request
    with None and, after a 401, once more with the token that was rejected. `tenant_id` and `organization_id` select the
    workspace; they are optional if the credentials can access only one. `timeout` is in seconds, for each attempt;
    `retry=None` disables retries. Close it, or use it in a `with` statement, to give up its idle connections.
    """

    def __init__(
        self,
        *,
        base_url: str,
        client_id: str | None = None,
        client_secret: str | None = None,
        scopes: Sequence[Scope] | None = None,
        token: str | TokenProvider | None = None,
        organization_id: str | None = None,
        tenant_id: str | None = None,
        tenant_header: TenantHeader = "x-workspace-tenant-id",
        timeout: float = 30.0,
        retry: Retry | None = Retry(),
        ssl_context: ssl.SSLContext | None = None,
        transport: AsyncTransport | None = None,
    ) -> None:
        settings = settings_of(base_url, timeout, retry)
        if token is not None:
            tokens = _tokens(token)
        elif client_id is not None and client_secret is not None:
            tokens = ClientTokens(settings, client_id, client_secret, scopes)
        else:
            raise TypeError("pass client_id and client_secret, or token")
        driver = AsyncDriver(transport or StreamTransport(ssl_context))
        self._begin(driver, settings, tokens, (organization_id, tenant_id), tenant_header)

    def _begin(
        self,
        driver: AsyncDriver,
        settings: Settings,
        tokens: Tokens,
        selector: tuple[str | None, str | None],
        tenant_header: TenantHeader,
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._tenant_header: TenantHeader = tenant_header
        bearer = Bearer(tokens)
        calls = Calls(settings, SelectedWorkspace(settings, bearer, selector, tenant_header))
        super().__init__(driver, calls)
        self.agents = resources.AsyncAgents(driver, calls)
        self.sessions = resources.AsyncSessions(driver, calls)
        self.feed = resources.AsyncFeed(driver, calls)
        self.schedules = resources.AsyncSchedules(driver, calls)
        self.usage = resources.AsyncUsage(driver, calls)
        #: The runs of all sessions.
        self.runs = resources.AsyncTenantRuns(driver, calls)
        #: Pending requests in all sessions.
        self.interactions = resources.AsyncTenantInteractions(driver, calls)
        self.webhooks = resources.AsyncWebhooks(driver, calls)
        self.connections = resources.AsyncConnections(driver, calls)
        self.service = resources.AsyncService(driver, calls)

    def workspace(
        self, *, tenant_id: str | None = None, organization_id: str | None = None
    ) -> AsyncConvoke:
        """Returns a client for another workspace, with the same credentials, token and connections."""
        other = AsyncConvoke.__new__(AsyncConvoke)
        selector = (organization_id, tenant_id)
        other._begin(self._driver, self._settings, self._tokens, selector, self._tenant_header)
        return other

    def events(
        self,
        *,
        after: str | None = None,
        from_: Literal["oldest", "newest"] | None = None,
        types: Sequence[NoticeType] | None = None,
        on_cursor: Callable[[str], None] | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
    ) -> AsyncGenerator[NoticeRecord, None]:
        """Follows the feed of the workspace. Same as `feed.follow()`."""
        return self.feed.follow(
            after=after,
            from_=from_,
            types=types,
            on_cursor=on_cursor,
            silence=silence,
            patience=patience,
        )

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> AsyncConvoke:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncOpenSession(resources.AsyncSessionHandle):
    """A session by a token that opens nothing else, as `session.create_token()` of a backend creates it::

        async with AsyncOpenSession(base_url=base_url, session_id=session_id, token=token) as session:
            run = await session.run("Hello")

    `token` is a string, or a function that is called once with None, and again after a 401 with the token that was
    rejected. The token names the workspace, so nothing is looked up. Creating it sends no request.
    """

    def __init__(
        self,
        *,
        base_url: str,
        session_id: str,
        token: str | TokenProvider,
        timeout: float = 30.0,
        retry: Retry | None = Retry(),
        ssl_context: ssl.SSLContext | None = None,
        transport: AsyncTransport | None = None,
    ) -> None:
        driver = AsyncDriver(transport or StreamTransport(ssl_context))
        tokens = FixedToken(token) if isinstance(token, str) else KeptToken(token)
        calls = Calls(settings_of(base_url, timeout, retry), Bearer(tokens))
        super().__init__(driver, calls, session_id=session_id)

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> AsyncOpenSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncConvokeAdmin(resources.AsyncOrganization):
    """Client for organization management, with the token of an owner or admin::

        admin = AsyncConvokeAdmin(base_url=base_url, token=token, organization_id=organization_id)
        issued = await admin.clients.create(name="Nightly", profile="invoke", tenant_ids=[tenant_id])
    """

    def __init__(
        self,
        *,
        base_url: str,
        token: str | TokenProvider,
        organization_id: str,
        timeout: float = 30.0,
        retry: Retry | None = Retry(),
        ssl_context: ssl.SSLContext | None = None,
        transport: AsyncTransport | None = None,
    ) -> None:
        driver = AsyncDriver(transport or StreamTransport(ssl_context))
        calls = Calls(settings_of(base_url, timeout, retry), Bearer(_tokens(token)))
        super().__init__(driver, calls, organization_id=organization_id)
        self.audit = resources.AsyncAudit(driver, calls, organization_id=organization_id)
        self.budgets = resources.AsyncBudgets(driver, calls, organization_id=organization_id)
        self.clients = resources.AsyncClients(driver, calls, organization_id=organization_id)
        self.credentials = resources.AsyncCredentials(driver, calls, organization_id=organization_id)
        self.invitations = resources.AsyncInvitations(driver, calls, organization_id=organization_id)
        self.members = resources.AsyncMembers(driver, calls, organization_id=organization_id)
        self.rules = resources.AsyncRules(driver, calls, organization_id=organization_id)
        self.tenants = resources.AsyncTenants(driver, calls, organization_id=organization_id)
        self.usage = resources.AsyncOrganizationUsage(driver, calls, organization_id=organization_id)

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> AsyncConvokeAdmin:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _tokens(token: str | TokenProvider) -> Tokens:
    return FixedToken(token) if isinstance(token, str) else ProvidedToken(token)
