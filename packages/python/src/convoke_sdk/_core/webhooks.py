"""Checks deliveries as Standard Webhooks 1.0.0 describes."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from .._generated.records import NoticeRecord


class WebhookVerificationError(Exception):
    """A request that did not come from the service, was altered, or is too old."""


@dataclass(frozen=True)
class VerifiedWebhook:
    #: The same in every try: remember it to act once on each.
    id: str
    notice: NoticeRecord


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = 300.0,
    now: float | None = None,
) -> VerifiedWebhook:
    """Checks a delivery in constant time and returns its notice. Raises `WebhookVerificationError`.

    `body` is the request body as it arrived, not parsed JSON. `secret` is one secret (`whsec_…`), or both while the
    receiver changes to another. `tolerance` says how many seconds a request may be old, or ahead of this machine's
    clock; `now` is in seconds since 1970, for tests.
    """
    given = {name.lower(): value for name, value in headers.items()}
    delivery = _header(given, "webhook-id")
    timestamp = _header(given, "webhook-timestamp")
    signatures = _header(given, "webhook-signature")
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None:
        raise _refused("webhook-timestamp is not a time")
    if not abs((time.time() if now is None else now) - int(timestamp)) <= tolerance:
        raise _refused("webhook-timestamp is too far from the time of this machine")
    data = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{delivery}.{timestamp}.".encode() + data
    for one in [secret] if isinstance(secret, str) else secret:
        if _is_signed(one, signed, signatures):
            return VerifiedWebhook(delivery, _notice_in(data))
    raise _refused("no signature fits")


def _is_signed(secret: str, signed: bytes, signatures: str) -> bool:
    key = _bytes_of(secret.removeprefix("whsec_"))
    if not key:
        raise _refused("the secret is not one of a webhook")
    expected = hmac.new(key, signed, hashlib.sha256).digest()
    is_signed = False
    for part in signatures.split(" "):
        version, _, text = part.partition(",")
        signature = _bytes_of(text) if version == "v1" else None
        if signature is not None and hmac.compare_digest(signature, expected):
            is_signed = True
    return is_signed


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not isinstance(value, str) or value == "":
        raise _refused(f"{name} is missing")
    return value


def _bytes_of(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _notice_in(data: bytes) -> NoticeRecord:
    try:
        notice = json.loads(data)
    except (ValueError, RecursionError):
        notice = None
    if not isinstance(notice, dict):
        raise _refused("its body is not a notice")
    return cast(NoticeRecord, notice)


def _refused(reason: str) -> WebhookVerificationError:
    return WebhookVerificationError(f"The webhook is not authentic: {reason}.")
