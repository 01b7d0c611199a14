"""Calls the operations that standard input lists, with both clients, and prints the requests that they send."""

import asyncio
import json
import sys
from functools import reduce

import httpx
from messaging_service import ApiError, AsyncMessagingClient, MessagingClient

sent = []


def answer(request: httpx.Request) -> httpx.Response:
    sent.append(
        {
            "method": request.method,
            "url": str(request.url),
            "headers": dict(request.headers),
            "body": request.content.decode(),
        }
    )
    return httpx.Response(418, json={})


def operation(client, call):
    return reduce(getattr, call["place"], client)


def settings(http_client):
    return {"api_key": "sk_live_test", "base_url": "https://messages.example/base/", "http_client": http_client}


def synchronous(calls):
    client = MessagingClient(**settings(httpx.Client(transport=httpx.MockTransport(answer))))
    for call in calls:
        try:
            result = operation(client, call)(*call["path"], **call["keywords"])
            result.first_page()
        except ApiError:
            pass


async def asynchronous(calls):
    client = AsyncMessagingClient(**settings(httpx.AsyncClient(transport=httpx.MockTransport(answer))))
    for call in calls:
        try:
            result = operation(client, call)(*call["path"], **call["keywords"])
            await (result.first_page() if hasattr(result, "first_page") else result)
        except ApiError:
            pass


calls = json.load(sys.stdin)
synchronous(calls)
asyncio.run(asynchronous(calls))
print(json.dumps(sent))
