"""Obtains tokens and says which request gets which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._generated.operations import ISSUE_TOKEN
from ..errors import ServerError, is_temporary
from .calls import Access, Call, Calls
from .effects import Exclusive, Invoke, Steps
from .settings import Settings

#: A token is renewed when this part of its lifetime is left; the old one is used until then.
_RENEW_AT_FRACTION = 0.2
#: After a failed renewal, the next one comes after this part of what is left.
_RETRY_AT_FRACTION = 0.25

#: Returns a token. Called for every request with None, and after a 401 once more with the token that was rejected.
TokenProvider = Callable[[Any], Any]


class Tokens:
    """Where the token of a request comes from."""

    can_renew = True

    def get(self, rejected: str | None) -> Steps[str]:
        raise NotImplementedError


class FixedToken(Tokens):
    can_renew = False

    def __init__(self, token: str) -> None:
        self._token = token

    def get(self, rejected: str | None) -> Steps[str]:
        return self._token
        yield


class ProvidedToken(Tokens):
    def __init__(self, provider: TokenProvider) -> None:
        self._provider = provider

    def get(self, rejected: str | None) -> Steps[str]:
        token = yield Invoke(self._provider, (rejected,))
        return str(token)


class KeptToken(Tokens):
    """Asks for a token on first use, once for all threads, and again after the service rejected it (D-202)."""

    def __init__(self, provider: TokenProvider) -> None:
        self._provider = provider
        self._held: str | None = None

    def get(self, rejected: str | None) -> Steps[str]:
        held = self._held
        if held is not None and held != rejected:
            return held
        token = yield Exclusive(self, self._ask(rejected), must_wait=True)
        return str(token)

    def _ask(self, rejected: str | None) -> Steps[str]:
        # Another thread may have asked while this one waited.
        if self._held is None or self._held == rejected:
            token = yield Invoke(self._provider, (rejected,))
            self._held = str(token)
        return self._held


@dataclass(frozen=True)
class _Held:
    token: str
    renew_at: float
    expires_at: float


class ClientTokens(Tokens):
    """Requests a token on first use, once for all threads, and renews it before it expires."""

    def __init__(
        self, settings: Settings, client_id: str, client_secret: str, scopes: Sequence[str] | None
    ) -> None:
        self._settings = settings
        self._calls = Calls(settings, NoAuthority())
        self._form = {
            "grant_type": "client_credentials",
            "client_id": client_id,
            "client_secret": client_secret,
        }
        if scopes is not None:
            self._form["scope"] = " ".join(scopes)
        self._held: _Held | None = None

    def get(self, rejected: str | None) -> Steps[str]:
        held = self._usable(rejected)
        now = self._settings.clock()
        if held is not None and now < held.renew_at:
            return held.token
        # A valid token need not wait for another thread that is renewing it.
        renewed = yield Exclusive(self, self._renew(rejected), must_wait=held is None)
        return held.token if renewed is None and held is not None else str(renewed)

    def _usable(self, rejected: str | None) -> _Held | None:
        held = self._held
        if held is None or held.token == rejected or self._settings.clock() >= held.expires_at:
            return None
        return held

    def _renew(self, rejected: str | None) -> Steps[str]:
        held = self._usable(rejected)
        now = self._settings.clock()
        # Another thread may have renewed it while this one waited.
        if held is not None and now < held.renew_at:
            return held.token
        try:
            call = Call(ISSUE_TOKEN, form=self._form, attempts=None if held is None else 1)
            issued = yield from self._calls.json(call)
            return self._keep(issued, now)
        except Exception as error:
            if held is None or not is_temporary(error):
                raise
            # The token is still valid: a failure to renew it is reported only after it has expired.
            later = now + (held.expires_at - now) * _RETRY_AT_FRACTION
            self._held = _Held(held.token, later, held.expires_at)
            return held.token

    def _keep(self, issued: Any, asked_at: float) -> str:
        token = issued.get("access_token") if isinstance(issued, dict) else None
        seconds = issued.get("expires_in") if isinstance(issued, dict) else None
        if not isinstance(token, str) or not isinstance(seconds, (int, float)):
            raise ServerError("The token endpoint returned no token.", code="invalid_response")
        expires_at = asked_at + seconds
        self._held = _Held(token, expires_at - seconds * _RENEW_AT_FRACTION, expires_at)
        return token


class NoAuthority:
    can_renew = False

    def headers(self, access: Access, rejected: Mapping[str, str] | None) -> Steps[Mapping[str, str]]:
        return {}
        yield


class Bearer:
    """Adds the token."""

    def __init__(self, tokens: Tokens) -> None:
        self.can_renew = tokens.can_renew
        self._tokens = tokens

    def headers(self, access: Access, rejected: Mapping[str, str] | None) -> Steps[Mapping[str, str]]:
        if access == "anonymous":
            return {}
        earlier = None if rejected is None else rejected.get("authorization")
        token = yield from self._tokens.get(None if earlier is None else earlier.removeprefix(_SCHEME))
        return {"authorization": _SCHEME + token}


_SCHEME = "Bearer "
