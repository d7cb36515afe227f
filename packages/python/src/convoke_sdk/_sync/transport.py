"""Carries requests over sockets."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import threading
import time
from collections.abc import Generator, Mapping
from typing import Protocol

from .._core.effects import BrokenConnection, Content, Request, Response
from .._core.http1 import Endpoint, ResponseReader, chunk_of, endpoint_of, head_of
from .._core.proxy import Tunnel, proxy_for

_RECEIVE_BYTES = 64 * 1024
_IDLE_MAX = 8
_IDLE_SECONDS = 15.0


class ReadableResponse(Response, Protocol):
    def read(self, timeout: float) -> bytes:
        """Returns some bytes of the body, empty ones at its end. Raises OSError if it was cut or takes longer."""
        ...


class Transport(Protocol):
    """What `transport=` takes, to carry requests in another way. Threads share it."""

    def send(self, request: Request, timeout: float) -> ReadableResponse:
        """Returns the response once its head has arrived. Raises OSError."""
        ...

    def close(self) -> None: ...


class SocketTransport:
    """The usual transport. It keeps a few connections for requests that can be repeated."""

    def __init__(self, ssl_context: ssl.SSLContext | None = None) -> None:
        self._ssl_context = ssl_context
        self._lock = threading.Lock()
        self._idle: list[tuple[float, Endpoint, socket.socket]] = []

    def send(self, request: Request, timeout: float) -> SocketResponse:
        endpoint = endpoint_of(request.url)
        # The server may close a connection that was kept while a request is on its way: then the client cannot know
        # whether it took effect, so only repeatable requests use one.
        kept = self._take(endpoint) if request.is_repeatable else None
        if kept is not None:
            try:
                return self._exchange(endpoint, kept, request, timeout)
            except TimeoutError:
                raise
            except OSError:
                pass
        return self._exchange(endpoint, self._connect(endpoint, timeout), request, timeout)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, _, connection in idle:
            connection.close()

    def keep(self, endpoint: Endpoint, connection: socket.socket) -> None:
        """Keeps a connection on which nothing is on its way."""
        with self._lock:
            if len(self._idle) < _IDLE_MAX:
                self._idle.append((time.monotonic(), endpoint, connection))
                return
        connection.close()

    def _take(self, endpoint: Endpoint) -> socket.socket | None:
        while True:
            with self._lock:
                at = next((i for i, one in enumerate(self._idle) if one[1] == endpoint), None)
                if at is None:
                    return None
                kept_at, _, connection = self._idle.pop(at)
            if time.monotonic() - kept_at < _IDLE_SECONDS and not _has_something(connection):
                return connection
            connection.close()

    def _exchange(
        self, endpoint: Endpoint, connection: socket.socket, request: Request, timeout: float
    ) -> SocketResponse:
        try:
            connection.settimeout(timeout)
            reader = ResponseReader(request.method)
            refused = _write(connection, request)
            try:
                body = _read_head(connection, reader, timeout)
            except OSError as error:
                raise refused or error
            return SocketResponse(self, endpoint, connection, reader, body)
        except BaseException:
            connection.close()
            raise

    def _connect(self, endpoint: Endpoint, timeout: float) -> socket.socket:
        proxy = proxy_for(endpoint)
        tunnel = None if proxy is None else Tunnel(proxy, endpoint)
        address = (endpoint.host, endpoint.port) if tunnel is None else tunnel.address
        connection = socket.create_connection(address, timeout=timeout)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tunnel is not None:
                connection.sendall(tunnel.request)
                while not tunnel.is_open:
                    tunnel.push(connection.recv(_RECEIVE_BYTES))
            if endpoint.is_tls:
                return self._context().wrap_socket(connection, server_hostname=endpoint.host)
            return connection
        except BaseException:
            connection.close()
            raise

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._ssl_context is None:
                self._ssl_context = ssl.create_default_context()
            return self._ssl_context


class SocketResponse:
    def __init__(
        self,
        transport: SocketTransport,
        endpoint: Endpoint,
        connection: socket.socket,
        reader: ResponseReader,
        body: bytes,
    ) -> None:
        self._transport = transport
        self._endpoint = endpoint
        self._connection: socket.socket | None = connection
        self._reader = reader
        self._body = body

    @property
    def status(self) -> int:
        return 0 if self._reader.head is None else self._reader.head.status

    @property
    def headers(self) -> Mapping[str, str]:
        return {} if self._reader.head is None else self._reader.head.headers

    def read(self, timeout: float) -> bytes:
        body, self._body = self._body, b""
        deadline = time.monotonic() + timeout
        while not body and not self._reader.is_complete:
            if self._connection is None:
                raise BrokenConnection("the response was closed")
            body = _receive(self._connection, self._reader, deadline)
        if not body:
            self._release()
        return body

    def close(self) -> None:
        self._body = b""
        self._release()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._reader.is_reusable:
            self._transport.keep(self._endpoint, connection)
        else:
            connection.close()


def _write(connection: socket.socket, request: Request) -> OSError | None:
    """Sends a request. Returns the error if the server closed its side, for it may have answered before."""
    body = request.body
    try:
        if not isinstance(body, Content):
            connection.sendall(head_of(request) + (body or b""))
            return None
        connection.sendall(head_of(request))
        with contextlib.closing(_pieces(body)) as pieces:
            for piece in pieces:
                connection.sendall(chunk_of(piece) if body.size is None else piece)
        if body.size is None:
            connection.sendall(chunk_of(b""))
    except TimeoutError:
        raise
    except (BrokenPipeError, ConnectionResetError) as error:
        return error
    return None


def _pieces(content: Content) -> Generator[bytes, None, None]:
    """Yields the pieces of a body, and closes the file that they come from."""
    pieces = content.open()
    try:
        for piece in pieces:
            if piece:
                yield piece
    finally:
        if hasattr(pieces, "close"):
            pieces.close()


def _read_head(connection: socket.socket, reader: ResponseReader, timeout: float) -> bytes:
    deadline = time.monotonic() + timeout
    body = b""
    while reader.head is None:
        body = _receive(connection, reader, deadline)
    return body


def _receive(connection: socket.socket, reader: ResponseReader, deadline: float) -> bytes:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    connection.settimeout(left)
    data = connection.recv(_RECEIVE_BYTES)
    if not data:
        reader.end()
    return reader.push(data)


def _has_something(connection: socket.socket) -> bool:
    """Whether an idle connection has bytes or its end to read: then it is of no use."""
    try:
        if isinstance(connection, ssl.SSLSocket) and connection.pending() > 0:
            return True
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(connection, select.POLLIN)
            return bool(poll.poll(0))
        return bool(select.select([connection], [], [], 0)[0])
    except (OSError, ValueError):
        return True
