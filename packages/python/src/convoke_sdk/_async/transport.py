"""Carries requests over asyncio streams."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from .._core.effects import BrokenConnection, Content, Request, Response
from .._core.http1 import Endpoint, ResponseReader, chunk_of, endpoint_of, head_of
from .._core.proxy import Tunnel, proxy_for

T = TypeVar("T")

_RECEIVE_BYTES = 64 * 1024
_IDLE_MAX = 8
_IDLE_SECONDS = 15.0


class AsyncReadableResponse(Response, Protocol):
    async def read(self, timeout: float) -> bytes:
        """Returns some bytes of the body, empty ones at its end. Raises OSError if it was cut or takes longer."""
        ...


class AsyncTransport(Protocol):
    """What `transport=` takes, to carry requests in another way. Tasks share it."""

    async def send(self, request: Request, timeout: float) -> AsyncReadableResponse:
        """Returns the response once its head has arrived. Raises OSError."""
        ...

    async def close(self) -> None: ...


class Connection:
    """A connection of one event loop."""

    def __init__(self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.endpoint = endpoint
        self.loop = asyncio.get_running_loop()
        self.reader = reader
        self.writer = writer
        self.kept_at = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether it can carry another request: the server has neither closed it nor sent anything."""
        return not self.reader.at_eof() and not self.writer.is_closing() and self.reader.exception() is None

    def close(self) -> None:
        """Closes the socket in the next turn of the loop.

        An orderly end of TLS would keep it open until the server answers, for up to 30 seconds. Nothing is on its way
        that the client still wants.
        """
        # The loop of another `asyncio.run` is closed, and its connections with it.
        with contextlib.suppress(RuntimeError):
            self.writer.transport.abort()


class StreamTransport:
    """The usual transport. It keeps a few connections for requests that can be repeated."""

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self._ssl_context = ssl_context
        self._idle: list[Connection] = []

    async def send(self, request: Request, timeout: float) -> StreamResponse:
        endpoint = endpoint_of(request.url)
        # The server may close a connection that was kept while a request is on its way: then the client cannot know
        # whether it took effect, so only repeatable requests use one.
        kept = self._take(endpoint) if request.is_repeatable else None
        if kept is not None:
            try:
                return await self._exchange(kept, request, timeout)
            except TimeoutError:
                raise
            except OSError:
                pass
        connection = await _within(self._connect(endpoint), timeout)
        return await self._exchange(connection, request, timeout)

    async def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        # The turn in which their sockets close: the application may end its loop now.
        await asyncio.sleep(0)

    def keep(self, connection: Connection) -> None:
        """Keeps a connection on which nothing is on its way."""
        if len(self._idle) >= _IDLE_MAX:
            return connection.close()
        connection.kept_at = time.monotonic()
        self._idle.append(connection)

    def _take(self, endpoint: Endpoint) -> Connection | None:
        loop = asyncio.get_running_loop()
        while True:
            at = next((i for i, one in enumerate(self._idle) if one.endpoint == endpoint), None)
            if at is None:
                return None
            kept = self._idle.pop(at)
            is_fresh = time.monotonic() - kept.kept_at < _IDLE_SECONDS
            if kept.loop is loop and is_fresh and kept.is_idle:
                return kept
            kept.close()

    async def _exchange(self, connection: Connection, request: Request, timeout: float) -> StreamResponse:
        try:
            reader = ResponseReader(request.method)
            refused = await _write(connection.writer, request, timeout)
            try:
                body = await _within(_read_head(connection, reader), timeout)
            except OSError as error:
                raise refused or error
            return StreamResponse(self, connection, reader, body)
        except BaseException:
            connection.close()
            raise

    async def _connect(self, endpoint: Endpoint) -> Connection:
        proxy = proxy_for(endpoint)
        context = self._context() if endpoint.is_tls else None
        name = endpoint.host if endpoint.is_tls else None
        if proxy is None:
            opened = await asyncio.open_connection(
                endpoint.host, endpoint.port, ssl=context, server_hostname=name
            )
        else:
            tunnel = await _tunnel(Tunnel(proxy, endpoint))
            try:
                opened = await asyncio.open_connection(sock=tunnel, ssl=context, server_hostname=name)
            except BaseException:
                tunnel.close()
                raise
        return Connection(endpoint, *opened)

    def _context(self) -> ssl.SSLContext:
        if self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()
        return self._ssl_context


class StreamResponse:
    def __init__(
        self, transport: StreamTransport, connection: Connection, reader: ResponseReader, body: bytes
    ) -> None:
        self._transport = transport
        self._connection: Connection | None = connection
        self._reader = reader
        self._body = body

    @property
    def status(self) -> int:
        return 0 if self._reader.head is None else self._reader.head.status

    @property
    def headers(self) -> Mapping[str, str]:
        return {} if self._reader.head is None else self._reader.head.headers

    async def read(self, timeout: float) -> bytes:
        body, self._body = self._body, b""
        if not body and not self._reader.is_complete:
            body = await _within(self._next(), timeout)
        if not body:
            self._release()
        return body

    async def _next(self) -> bytes:
        body = b""
        while not body and not self._reader.is_complete:
            if self._connection is None:
                raise BrokenConnection("the response was closed")
            body = await _receive(self._connection, self._reader)
        return body

    def close(self) -> None:
        self._body = b""
        self._release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._reader.is_reusable:
            self._transport.keep(connection)
        else:
            connection.close()


async def _within(work: Coroutine[Any, Any, T], timeout: float) -> T:
    """Awaits the work for so long, and raises TimeoutError then.

    `asyncio.wait_for` is not used: until Python 3.11 it ignores a cancellation that arrives together with the result.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout)
    except asyncio.CancelledError:
        await _give_up(task)
        raise
    if done:
        return task.result()
    await _give_up(task)
    raise TimeoutError("timed out")


async def _give_up(task: asyncio.Task[Any]) -> None:
    """Cancels a task, and closes the connection that it may have opened at the last moment."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled() and task.exception() is None and isinstance(task.result(), Connection):
        task.result().close()


async def _write(writer: asyncio.StreamWriter, request: Request, timeout: float) -> OSError | None:
    """Sends a request. Returns the error if the server closed its side, for it may have answered before."""
    body = request.body
    try:
        if not isinstance(body, Content):
            writer.write(head_of(request) + (body or b""))
            await _within(writer.drain(), timeout)
            return None
        writer.write(head_of(request))
        async for piece in _pieces(body):
            writer.write(chunk_of(piece) if body.size is None else piece)
            await _within(writer.drain(), timeout)
        if body.size is None:
            writer.write(chunk_of(b""))
        await _within(writer.drain(), timeout)
    except (BrokenPipeError, ConnectionResetError) as error:
        return error
    return None


async def _pieces(content: Content) -> AsyncIterator[bytes]:
    """Yields the pieces of a body. Files are read in a thread, because a disk may be slow."""
    pieces = content.open()
    if isinstance(pieces, AsyncIterator):
        async for piece in pieces:
            if piece:
                yield piece
        return
    try:
        while (piece := await asyncio.to_thread(_next, pieces)) is not None:
            if piece:
                yield piece
    finally:
        if hasattr(pieces, "close"):
            pieces.close()


def _next(pieces: Iterator[bytes]) -> bytes | None:
    return next(pieces, None)


async def _read_head(connection: Connection, reader: ResponseReader) -> bytes:
    body = b""
    while reader.head is None:
        body = await _receive(connection, reader)
    return body


async def _receive(connection: Connection, reader: ResponseReader) -> bytes:
    data = await connection.reader.read(_RECEIVE_BYTES)
    if not data:
        reader.end()
    return reader.push(data)


async def _tunnel(tunnel: Tunnel) -> socket.socket:
    """Connects through a proxy. It uses a plain socket, because streams can begin TLS later only since Python 3.11."""
    loop = asyncio.get_running_loop()
    host, port = tunnel.address
    addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = addresses[0]
    connection = socket.socket(family, kind, protocol)
    try:
        connection.setblocking(False)
        await loop.sock_connect(connection, address)
        await loop.sock_sendall(connection, tunnel.request)
        while not tunnel.is_open:
            tunnel.push(await loop.sock_recv(connection, _RECEIVE_BYTES))
        return connection
    except BaseException:
        connection.close()
        raise
