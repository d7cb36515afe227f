"""Client for Convoke: sessions, runs that survive any connection, interactions, files, management.

`Convoke`, `ConvokeAdmin` and `OpenSession` block; `AsyncConvoke`, `AsyncConvokeAdmin` and `AsyncOpenSession` are for
asyncio. Records are dictionaries with the names of the API; `convoke_sdk.types` has their types.
"""

from ._async.client import AsyncConvoke, AsyncConvokeAdmin, AsyncOpenSession
from ._async.transport import AsyncReadableResponse, AsyncTransport, StreamTransport
from ._core.effects import BrokenConnection, Content, Request
from ._core.events import is_terminal_event
from ._core.listing import Page
from ._core.requests import UNSET
from ._core.retry import Retry
from ._core.run_text import INTERRUPTED_TEXT, RunText
from ._core.webhooks import VerifiedWebhook, WebhookVerificationError, verify_webhook
from ._sync.client import Convoke, ConvokeAdmin, OpenSession
from ._sync.transport import ReadableResponse, SocketTransport, Transport
from ._version import VERSION as __version__
from .errors import (
    AuthenticationError,
    ConflictError,
    ConnectionFailedError,
    ConvokeError,
    InvalidRequestError,
    NoOutput,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RunError,
    ServerError,
    WaitTimeoutError,
)

__all__ = [
    "INTERRUPTED_TEXT",
    "UNSET",
    "AsyncConvoke",
    "AsyncConvokeAdmin",
    "AsyncOpenSession",
    "AsyncReadableResponse",
    "AsyncTransport",
    "AuthenticationError",
    "BrokenConnection",
    "ConflictError",
    "ConnectionFailedError",
    "Content",
    "Convoke",
    "ConvokeAdmin",
    "ConvokeError",
    "InvalidRequestError",
    "NoOutput",
    "NotFoundError",
    "OpenSession",
    "Page",
    "PermissionDeniedError",
    "RateLimitError",
    "ReadableResponse",
    "Request",
    "Retry",
    "RunError",
    "RunText",
    "ServerError",
    "SocketTransport",
    "StreamTransport",
    "Transport",
    "VerifiedWebhook",
    "WaitTimeoutError",
    "WebhookVerificationError",
    "__version__",
    "is_terminal_event",
    "verify_webhook",
]
