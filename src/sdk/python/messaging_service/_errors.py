"""Errors of requests and of webhooks. The classes of single types are generated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type


def _restored(cls: Type[MessagingError], args: Tuple[Any, ...], state: Dict[str, Any]) -> MessagingError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class MessagingError(Exception):
    """Every failure that this package reports."""

    def __reduce__(self) -> Tuple[Any, ...]:
        # Other processes get it whole, such as those of ``multiprocessing``.
        return _restored, (type(self), self.args, self.__dict__)


class ServiceConnectionError(MessagingError):
    """No answer came: the service was not reached, or the connection broke."""


class ServiceTimeoutError(ServiceConnectionError):
    """No answer came in time."""


class WebhookVerificationError(MessagingError):
    """The request does not come from the service, or is too old. Answer it with 400.

    ``reason`` is ``headers_missing``, ``secret_invalid``, ``signature_mismatch`` or ``timestamp_outside_tolerance``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class FieldError:
    """One reason of a refused request, with the path of its field."""

    param: str
    type: str
    message: str


class ApiError(MessagingError):
    """The service refused the request. Subclasses stand for families of statuses and for single types."""

    status: int
    type: str
    code: int
    message: str
    #: The first field at fault, such as ``recipients[3].to``.
    param: Optional[str]
    #: Every field at fault.
    errors: List[FieldError]
    #: The guide's section about this type.
    doc_url: Optional[str]
    #: Seconds after which the request may succeed.
    retry_after: Optional[float]
    #: The request's id in the service's log.
    request_id: Optional[str]
    headers: Mapping[str, str]
    #: All fields of the error, also those that this version does not know.
    body: Dict[str, Any]

    def __init__(
        self,
        *,
        status: int,
        type: str,
        code: int,
        message: str,
        param: Optional[str],
        errors: List[FieldError],
        doc_url: Optional[str],
        retry_after: Optional[float],
        request_id: Optional[str],
        headers: Mapping[str, str],
        body: Dict[str, Any],
    ) -> None:
        super().__init__(f"{message} ({status} {type})")
        self.status = status
        self.type = type
        self.code = code
        self.message = message
        self.param = param
        self.errors = errors
        self.doc_url = doc_url
        self.retry_after = retry_after
        self.request_id = request_id
        self.headers = headers
        self.body = body
        for name, value in body.items():
            if not hasattr(self, name):
                setattr(self, name, value)


class InvalidRequestError(ApiError):
    """400, 413, 415 and 422: the request itself is wrong."""


class AuthenticationError(ApiError):
    """401: no key, or one that is not valid."""


class PaymentRequiredError(ApiError):
    """402: the plan or its quota does not cover the request."""


class PermissionDeniedError(ApiError):
    """403: the key may not do this."""


class NotFoundError(ApiError):
    """404: not there, or of another account."""


class ConflictError(ApiError):
    """409: the state does not allow it."""


class GoneError(ApiError):
    """410: it was there, and is no more."""


class RateLimitError(ApiError):
    """429: too many requests, or too many codes."""


class ServerError(ApiError):
    """500 and above: the service, or a proxy in front of it, failed."""


_FAMILIES: Dict[int, Type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    402: PaymentRequiredError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    422: InvalidRequestError,
    429: RateLimitError,
}


def family_of(status: int) -> Type[ApiError]:
    """The class for a status whose error type has none."""
    return _FAMILIES.get(status, ServerError if status >= 500 else ApiError)
