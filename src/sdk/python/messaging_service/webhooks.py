"""Verifies requests that webhooks send."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Iterable, Mapping, Sequence, Union

from ._compat import parse
from ._errors import WebhookVerificationError
from ._generated.events import EVENTS, WebhookEvent

__all__ = ["WebhookEvent", "WebhookVerificationError", "verify"]


def _header(headers: Mapping[str, Any], name: str) -> str:
    for key, value in headers.items():
        if str(key).lower() == name:
            return str(value)
    return ""


def _equal(expected: str, given: Iterable[str]) -> bool:
    """Compares in constant time."""
    return any([hmac.compare_digest(expected.encode(), each.encode()) for each in given])


def _decoded(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:], validate=True) if secret.startswith("whsec_") else b""
    except binascii.Error:
        key = b""
    if not key:
        raise WebhookVerificationError(
            "secret_invalid", "The secret has to be the whole text that begins with whsec_."
        )
    return key


def _is_standard(secret: str, body: bytes, headers: Mapping[str, Any]) -> bool:
    head = f"{_header(headers, 'webhook-id')}.{_header(headers, 'webhook-timestamp')}.".encode()
    digest = hmac.new(_decoded(secret), head + body, hashlib.sha256).digest()
    return _equal("v1," + base64.b64encode(digest).decode(), _header(headers, "webhook-signature").split(" "))


def _is_service(secret: str, body: bytes, headers: Mapping[str, Any]) -> bool:
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    names = ("x-service-signature", "x-service-signature-previous")
    return _equal(expected, [_header(headers, name) for name in names])


def _require_recent(timestamp: str, tolerance: float) -> None:
    if re.fullmatch(r"[0-9]{1,15}", timestamp) and abs(time.time() - int(timestamp)) <= tolerance:
        return
    raise WebhookVerificationError(
        "timestamp_outside_tolerance",
        f"The request's time differs by more than {tolerance} seconds from this machine's clock.",
    )


def verify(
    body: Union[bytes, str],
    headers: Mapping[str, Any],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
    scheme: str = "standard",
) -> WebhookEvent:
    """The event, if this webhook's secret signed the request within the last five minutes.

    Pass the bytes of the body as they came. During a rotation either secret is right; pass both to switch at any time.
    ``scheme="service"`` checks ``X-Service-Signature``, which never expires: deduplicate by the event's id.
    """
    content = body.encode() if isinstance(body, str) else bytes(body)
    secrets = [secret] if isinstance(secret, str) else list(secret)
    is_service = scheme == "service"
    required = ["x-service-signature"] if is_service else ["webhook-id", "webhook-timestamp", "webhook-signature"]
    for name in required:
        if not _header(headers, name):
            raise WebhookVerificationError("headers_missing", f"The request has no header {name}.")
    check = _is_service if is_service else _is_standard
    if not any([check(each, content, headers) for each in secrets]):
        raise WebhookVerificationError(
            "signature_mismatch",
            "The signature does not fit. Pass the bytes of the body as they came, and the webhook's own secret.",
        )
    if not is_service:
        _require_recent(_header(headers, "webhook-timestamp"), tolerance)
    fields = json.loads(content)
    event: WebhookEvent = parse(EVENTS.get(fields.get("event"), WebhookEvent), fields)
    return event
