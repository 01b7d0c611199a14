"""The clients. Every resource is an attribute, every operation a method."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Type

import httpx

from . import webhooks
from ._generated.async_resources import AsyncResources, AsyncWebhooksResource
from ._generated.resources import Resources, WebhooksResource
from ._transport import AsyncTransport, Call, RequestOptions, Response, Settings, Transport


class Webhooks(WebhooksResource):
    """Webhooks, and the check of what they send."""

    verify = staticmethod(webhooks.verify)


class AsyncWebhooks(AsyncWebhooksResource):
    """Webhooks, and the check of what they send."""

    verify = staticmethod(webhooks.verify)


def _settings(
    api_key: Optional[str],
    base_url: Optional[str],
    timeout: float,
    max_retries: int,
    headers: Optional[Mapping[str, str]],
    on_response: Optional[Callable[[Response], None]],
) -> Settings:
    url = base_url or os.environ.get("MESSAGING_URL") or "http://127.0.0.1:8080"
    return Settings(
        api_key=api_key or os.environ.get("MESSAGING_API_KEY") or None,
        base_url=url.rstrip("/"),
        timeout=timeout,
        max_retries=max_retries,
        headers=headers or {},
        on_response=on_response,
    )


class MessagingClient(Resources):
    """A client that waits for each answer.

    ``api_key`` and ``base_url`` default to the environment variables ``MESSAGING_API_KEY`` and ``MESSAGING_URL``.
    ``timeout`` is in seconds, and ``max_retries`` counts attempts after the first. ``on_response`` is called with every
    answer. ``http_client`` replaces the client's own httpx.Client, and is not closed with it.
    """

    webhooks: Webhooks

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 2,
        headers: Optional[Mapping[str, str]] = None,
        on_response: Optional[Callable[[Response], None]] = None,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        settings = _settings(api_key, base_url, timeout, max_retries, headers, on_response)
        self._owned = httpx.Client() if http_client is None else None
        self._transport = Transport(settings, http_client or self._owned or httpx.Client())
        super().__init__(self._transport)
        self.webhooks = Webhooks(self._transport)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        request_options: Optional[RequestOptions] = None,
    ) -> Any:
        """Calls a path that has no method here, and returns the body of the answer."""
        call = Call(method, path, query=query or {}, body=body, keyed=method == "POST", options=request_options)
        return self._transport.json(call, Any)

    def close(self) -> None:
        """Closes the connections."""
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> "MessagingClient":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
    ) -> None:
        self.close()


class AsyncMessagingClient(AsyncResources):
    """A client for asyncio. Its options are those of :class:`MessagingClient`."""

    webhooks: AsyncWebhooks

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        timeout: float = 30.0,
        max_retries: int = 2,
        headers: Optional[Mapping[str, str]] = None,
        on_response: Optional[Callable[[Response], None]] = None,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        settings = _settings(api_key, base_url, timeout, max_retries, headers, on_response)
        self._owned = httpx.AsyncClient() if http_client is None else None
        self._transport = AsyncTransport(settings, http_client or self._owned or httpx.AsyncClient())
        super().__init__(self._transport)
        self.webhooks = AsyncWebhooks(self._transport)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        request_options: Optional[RequestOptions] = None,
    ) -> Any:
        """Calls a path that has no method here, and returns the body of the answer."""
        call = Call(method, path, query=query or {}, body=body, keyed=method == "POST", options=request_options)
        return await self._transport.json(call, Any)

    async def close(self) -> None:
        """Closes the connections."""
        if self._owned is not None:
            await self._owned.aclose()

    async def __aenter__(self) -> "AsyncMessagingClient":
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]] = None,
        error: Optional[BaseException] = None,
        trace: Optional[TracebackType] = None,
    ) -> None:
        await self.close()
