"""Client of Messaging Service: email, SMS, WhatsApp, one-time codes and webhooks."""

from . import models, webhooks
from ._client import AsyncMessagingClient, MessagingClient
from ._errors import (
    ApiError,
    AuthenticationError,
    ConflictError,
    FieldError,
    GoneError,
    InvalidRequestError,
    MessagingError,
    NotFoundError,
    PaymentRequiredError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    ServiceConnectionError,
    ServiceTimeoutError,
    WebhookVerificationError,
)
from ._generated.errors import *  # noqa: F401, F403
from ._generated.errors import __all__ as _error_names
from ._generated.version import VERSION as __version__
from ._pages import AsyncPageList, Page, PageList
from ._transport import NOT_GIVEN, File, RequestOptions, Response

__all__ = [
    "ApiError",
    "AsyncMessagingClient",
    "AsyncPageList",
    "AuthenticationError",
    "ConflictError",
    "FieldError",
    "File",
    "GoneError",
    "InvalidRequestError",
    "MessagingClient",
    "MessagingError",
    "NOT_GIVEN",
    "NotFoundError",
    "Page",
    "PageList",
    "PaymentRequiredError",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestOptions",
    "Response",
    "ServerError",
    "ServiceConnectionError",
    "ServiceTimeoutError",
    "WebhookVerificationError",
    "__version__",
    "models",
    "webhooks",
    *_error_names,
]
