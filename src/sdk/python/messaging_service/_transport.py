"""Sends requests, repeats those that may be repeated, and turns error bodies into errors."""

from __future__ import annotations

import asyncio
import json
import random
import re
import secrets
import time
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import quote, urlencode

import httpx
import pydantic
from typing_extensions import TypedDict

from ._compat import parse, to_dict
from ._errors import ApiError, FieldError, MessagingError, ServiceConnectionError, ServiceTimeoutError, family_of
from ._generated.errors import ERROR_CLASSES
from ._generated.version import VERSION
from ._pages import AsyncPageList, Page, PageList, following


class RequestOptions(TypedDict, total=False):
    """Options of one request. They replace the client's."""

    #: Makes the request take effect once, however often it is sent within 24 hours. By default every request that can
    #: have one gets a random one, which its retries share.
    idempotency_key: str
    #: Seconds to wait for the connection, and for each part of the answer.
    timeout: float
    #: Attempts after the first.
    max_retries: int
    headers: Mapping[str, str]


class Response(NamedTuple):
    """Facts of an answer."""

    method: str
    url: str
    status: int
    headers: Mapping[str, str]
    #: The request's id in the service's log.
    request_id: Optional[str]
    #: 1 for the first attempt.
    attempt: int
    #: Whether the service repeated the answer of an earlier request with the same idempotency key.
    replayed: bool


class File(NamedTuple):
    """The bytes of a file and their type."""

    content: bytes
    content_type: str


class NotGiven:
    """Marks an argument that was not given. ``None`` was given, and is sent as null."""

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()


@dataclass(frozen=True)
class Call:
    """One operation of the contract with its values."""

    method: str
    path: str
    at: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    keyed: bool = False
    options: Optional[RequestOptions] = None


@dataclass(frozen=True)
class Settings:
    """Settings of a client."""

    api_key: Optional[str]
    base_url: str
    timeout: float
    max_retries: int
    headers: Mapping[str, str]
    on_response: Optional[Callable[[Response], None]]


@dataclass(frozen=True)
class Prepared:
    """A request, the same in every attempt."""

    method: str
    url: str
    headers: Dict[str, str]
    content: Optional[bytes]
    timeout: float
    max_retries: int
    is_repeatable: bool


#: Seconds of ``Retry-After`` beyond which an error is reported at once.
LONGEST_WAIT = 60
FIRST_DELAY = 0.5
LONGEST_DELAY = 8.0


def given(nullable: Mapping[str, Any], values: Mapping[str, Any]) -> Dict[str, Any]:
    """The fields that were given: ``None`` counts as given only where the API takes null."""
    fields = {name: value for name, value in values.items() if value is not None}
    fields.update({name: value for name, value in nullable.items() if not isinstance(value, NotGiven)})
    return fields


def _path_of(call: Call) -> str:
    def segment(match: "re.Match[str]") -> str:
        name = match.group(1)
        value = "" if call.at[name] is None else str(call.at[name])
        # An empty segment would name the list instead of its row.
        if value in ("", ".", ".."):
            raise MessagingError(f"{name} is {'empty' if value == '' else value}. Pass an id.")
        return quote(value, safe="")

    return re.sub(r"\{(\w+)\}", segment, call.path)


def _plain(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, pydantic.BaseModel):
        return to_dict(value)
    if isinstance(value, bytes):
        raise TypeError("bytes cannot be sent as JSON. Encode them as base64.")
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON.")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, (datetime, date)) else str(value)


def _query_of(query: Mapping[str, Any]) -> str:
    pairs: List[Tuple[str, str]] = []
    for name, value in query.items():
        values = value if isinstance(value, (list, tuple, set)) else [value]
        pairs.extend((name, _text(each)) for each in values if each is not None)
    return f"?{urlencode(pairs)}" if pairs else ""


def prepare(call: Call, settings: Settings) -> Prepared:
    options = call.options or {}
    # Seconds that the service itself may wait before it answers.
    wait = call.query.get("wait")
    patience = settings.timeout + (wait if isinstance(wait, (int, float)) else 0)
    key = options.get("idempotency_key") or (secrets.token_hex(16) if call.keyed else None)
    headers = {"accept": "application/json", "user-agent": f"messaging-service-sdk-python/{VERSION}"}
    if settings.api_key is not None:
        headers["authorization"] = f"Bearer {settings.api_key}"
    if call.body is not None:
        headers["content-type"] = "application/json"
    if key is not None:
        headers["idempotency-key"] = key
    for name, value in {**settings.headers, **options.get("headers", {})}.items():
        headers[name.lower()] = value
    return Prepared(
        method=call.method,
        url=f"{settings.base_url}{_path_of(call)}{_query_of(call.query)}",
        headers=headers,
        content=None if call.body is None else json.dumps(call.body, default=_plain, ensure_ascii=False).encode(),
        timeout=options.get("timeout", patience),
        max_retries=options.get("max_retries", settings.max_retries),
        is_repeatable=call.method != "POST" or "idempotency-key" in headers,
    )


def _retry_after(headers: Mapping[str, str]) -> Optional[float]:
    value = headers.get("retry-after", "")
    if re.fullmatch(r"\d+", value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


def _json_of(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except ValueError:
        return None


def error_of(response: httpx.Response) -> ApiError:
    answer = _json_of(response)
    error = answer.get("error") if isinstance(answer, dict) else None
    body: Dict[str, Any] = error if isinstance(error, dict) else {}
    status = response.status_code
    type_ = body.get("type") if isinstance(body.get("type"), str) else "unknown"
    errors = [
        FieldError(param=str(each.get("param")), type=str(each.get("type")), message=str(each.get("message")))
        for each in body.get("errors") or []
        if isinstance(each, dict)
    ]
    class_ = ERROR_CLASSES.get(str(type_), family_of(status))
    return class_(
        status=status,
        type=str(type_),
        code=body.get("code") or 0,
        message=body.get("message")
        or f"The answer has status {status} and no error body. Check the client's base_url.",
        param=body.get("param"),
        errors=errors,
        doc_url=body.get("doc_url"),
        retry_after=body["retry_after"] if "retry_after" in body else _retry_after(response.headers),
        request_id=response.headers.get("x-request-id"),
        headers=response.headers,
        body=body,
    )


def may_retry(error: MessagingError, is_repeatable: bool) -> bool:
    """Whether to send again: the request changes nothing twice, or the service did not begin it."""
    if not isinstance(error, ApiError):
        return is_repeatable and isinstance(error, ServiceConnectionError)
    if error.retry_after is not None and error.retry_after > LONGEST_WAIT:
        return False
    if error.status == 429:
        return error.retry_after is not None
    return is_repeatable and (error.status == 408 or error.status >= 500 or error.type == "idempotency_in_progress")


def delay_before(retry: int, error: MessagingError) -> float:
    back_off: float = min(FIRST_DELAY * 2 ** (retry - 1), LONGEST_DELAY) * (0.5 + random.random() / 2)
    retry_after = error.retry_after if isinstance(error, ApiError) else None
    return back_off if retry_after is None else max(retry_after, 0.1) + back_off / 4


def connection_error(error: httpx.HTTPError, request: Prepared) -> ServiceConnectionError:
    if isinstance(error, httpx.TimeoutException):
        return ServiceTimeoutError(f"{request.url} did not answer within {request.timeout} seconds.")
    return ServiceConnectionError(f"{request.url} cannot be reached. Check MESSAGING_URL, and that the service runs.")


def _facts(response: httpx.Response, request: Prepared, attempt: int) -> Response:
    return Response(
        method=request.method,
        url=request.url,
        status=response.status_code,
        headers=response.headers,
        request_id=response.headers.get("x-request-id"),
        attempt=attempt,
        replayed=response.headers.get("idempotency-replayed") == "true",
    )


def _body_of(response: httpx.Response) -> Dict[str, Any]:
    body = _json_of(response)
    if not isinstance(body, dict):
        raise ServiceConnectionError("The answer is no JSON. Check the client's base_url.")
    return body


def read_json(response: httpx.Response, type_: Any) -> Any:
    return parse(type_, _body_of(response))


def read_data(response: httpx.Response, type_: Any) -> Any:
    return parse(type_, _body_of(response).get("data"))


def read_none(_response: httpx.Response, _type: Any) -> None:
    return None


def read_blob(response: httpx.Response, _type: Any) -> File:
    return File(response.content, response.headers.get("content-type", "application/octet-stream"))


def read_page(response: httpx.Response, type_: Any, query: Mapping[str, Any]) -> Page[Any]:
    body = _body_of(response)
    rows: Any = List
    data: List[Any] = parse(rows[type_], body.get("data"))
    meta = body.get("meta") or {}
    return Page(data, meta, following(dict(query), len(data), meta))


def _with_query(call: Call, query: Mapping[str, Any]) -> Call:
    return Call(call.method, call.path, at=call.at, query=query, body=call.body, keyed=call.keyed, options=call.options)


class Transport:
    """Requests of a client that waits for each."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self._settings = settings
        self.http = http

    def send(self, call: Call) -> httpx.Response:
        request = prepare(call, self._settings)
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._attempt(request, attempt)
            except MessagingError as error:
                if attempt > request.max_retries or not may_retry(error, request.is_repeatable):
                    raise
                delay = delay_before(attempt, error)
            time.sleep(delay)

    def _attempt(self, request: Prepared, attempt: int) -> httpx.Response:
        try:
            # A followed redirect would turn a POST into a GET.
            response = self.http.request(
                request.method,
                request.url,
                headers=request.headers,
                content=request.content,
                timeout=request.timeout,
                follow_redirects=False,
            )
        except httpx.HTTPError as error:
            raise connection_error(error, request) from error
        if self._settings.on_response is not None:
            self._settings.on_response(_facts(response, request, attempt))
        if response.is_success:
            return response
        raise error_of(response)

    def data(self, call: Call, type_: Any) -> Any:
        return read_data(self.send(call), type_)

    def json(self, call: Call, type_: Any) -> Any:
        return read_json(self.send(call), type_)

    def none(self, call: Call, type_: Any = None) -> None:
        read_none(self.send(call), type_)

    def blob(self, call: Call, type_: Any = None) -> File:
        return read_blob(self.send(call), type_)

    def list(self, call: Call, type_: Any) -> PageList[Any]:
        return PageList(
            lambda query: read_page(self.send(_with_query(call, query)), type_, query), dict(call.query)
        )


class AsyncTransport:
    """Requests of a client for asyncio."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self.http = http

    async def send(self, call: Call) -> httpx.Response:
        request = prepare(call, self._settings)
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._attempt(request, attempt)
            except MessagingError as error:
                if attempt > request.max_retries or not may_retry(error, request.is_repeatable):
                    raise
                delay = delay_before(attempt, error)
            await asyncio.sleep(delay)

    async def _attempt(self, request: Prepared, attempt: int) -> httpx.Response:
        try:
            # A followed redirect would turn a POST into a GET.
            response = await self.http.request(
                request.method,
                request.url,
                headers=request.headers,
                content=request.content,
                timeout=request.timeout,
                follow_redirects=False,
            )
        except httpx.HTTPError as error:
            raise connection_error(error, request) from error
        if self._settings.on_response is not None:
            self._settings.on_response(_facts(response, request, attempt))
        if response.is_success:
            return response
        raise error_of(response)

    async def data(self, call: Call, type_: Any) -> Any:
        return read_data(await self.send(call), type_)

    async def json(self, call: Call, type_: Any) -> Any:
        return read_json(await self.send(call), type_)

    async def none(self, call: Call, type_: Any = None) -> None:
        read_none(await self.send(call), type_)

    async def blob(self, call: Call, type_: Any = None) -> File:
        return read_blob(await self.send(call), type_)

    def list(self, call: Call, type_: Any) -> AsyncPageList[Any]:
        async def load(query: Dict[str, Any]) -> Page[Any]:
            return read_page(await self.send(_with_query(call, query)), type_, query)

        return AsyncPageList(load, dict(call.query))
