"""Requests, errors and lists of the Python SDK, whose answers the test makes."""

import asyncio
import datetime
import json
import pickle
import unittest
from unittest import mock

import httpx
import messaging_service
from messaging_service import (
    ApiError,
    AsyncMessagingClient,
    FieldError,
    InvalidRequestError,
    MessagingClient,
    MessagingError,
    PaymentRequiredError,
    PlanLimitExceededError,
    RateLimitExceededError,
    ServerError,
    ServiceConnectionError,
    ServiceTimeoutError,
    WebhookVerificationError,
)

MAIL = {"to": "ada@example.com", "subject": "Hello", "text": "Hello"}
ACCEPTED = {"success": True, "data": {"id": 1, "to": "ada@example.com", "status": "queued", "warnings": []}}


def accepted(*_):
    return httpx.Response(202, json=ACCEPTED)


def refusal(status, headers=None, **error):
    body = {"success": False, "error": {"code": 1, "message": "Refused.", "doc_url": "/docs", **error}, "meta": {}}
    return httpx.Response(status, json=body, headers={"x-request-id": "0190", **(headers or {})})


def broken(*_):
    raise httpx.ConnectError("refused")


class Story:
    """Runs a story with either client. Pauses are recorded instead of waited for."""

    def __init__(self, answering, is_async, **options):
        self.sent = []
        self.pauses = []
        self.is_async = is_async

        def handle(request):
            self.sent.append(request)
            return answering(request, len(self.sent) - 1)

        transport = httpx.MockTransport(handle)
        http = httpx.AsyncClient(transport=transport) if is_async else httpx.Client(transport=transport)
        make = AsyncMessagingClient if is_async else MessagingClient
        self.client = make("sk_live_test", "https://messages.example", http_client=http, **options)

    def run(self, action):
        async def record(delay):
            self.pauses.append(delay)

        async def asynchronous():
            result = action(self.client)
            return await result if hasattr(result, "__await__") else result

        with mock.patch("time.sleep", self.pauses.append), mock.patch("asyncio.sleep", record):
            return asyncio.run(asynchronous()) if self.is_async else action(self.client)

    @property
    def keys(self):
        return [request.headers.get("idempotency-key") for request in self.sent]


class Requests(unittest.TestCase):
    def stories(self, answering, **options):
        for is_async in (False, True):
            with self.subTest(is_async=is_async):
                yield Story(answering, is_async, **options)

    def send(self, story, **options):
        return story.run(lambda client: client.email.send(**MAIL, **options))

    def test_a_broken_connection_is_retried_with_the_same_random_key(self):
        for story in self.stories(lambda request, index: broken() if index < 2 else accepted()):
            self.assertEqual(self.send(story).id, 1)
            self.assertEqual(len(story.sent), 3)
            self.assertEqual(len(set(story.keys)), 1)
            self.assertRegex(story.keys[0], "^[0-9a-f]{32}$")
            first, second = story.pauses
            self.assertTrue(0.25 <= first <= 0.5 and 0.5 <= second <= 1, story.pauses)

    def test_the_callers_key_replaces_the_random_one(self):
        for story in self.stories(accepted):
            self.send(story, request_options={"idempotency_key": "receipt-1", "headers": {"X-Trace": "1"}})
            self.assertEqual((story.keys, story.sent[0].headers["x-trace"]), (["receipt-1"], "1"))

    def test_a_post_without_a_key_is_sent_once(self):
        for story in self.stories(broken):
            with self.assertRaises(ServiceConnectionError):
                story.run(lambda client: client.auth.login(email="a@example.com", password="secret"))
            self.assertEqual(len(story.sent), 1)

    def test_retry_after_sets_the_pause(self):
        for story in self.stories(
            lambda request, index: refusal(503, {"retry-after": "7"}, type="service_unavailable")
            if index == 0
            else accepted()
        ):
            self.send(story)
            self.assertTrue(7 <= story.pauses[0] <= 7.5, story.pauses)

    def test_the_time_of_a_request_is_longer_by_what_the_service_may_wait(self):
        page = {"data": [], "meta": {}}
        for story in self.stories(lambda *_: httpx.Response(200, json=page), timeout=5.0):
            story.run(lambda client: client.sandbox_messages.list(wait=30).first_page())
            self.assertEqual(story.sent[0].extensions["timeout"]["read"], 35)

    def test_an_error_reaches_another_process_whole(self):
        for story in self.stories(lambda *_: refusal(429, {"retry-after": "90"}, type="rate_limit_exceeded")):
            with self.assertRaises(RateLimitExceededError) as caught:
                self.send(story)
            copied = pickle.loads(pickle.dumps(caught.exception))
            self.assertIsInstance(copied, RateLimitExceededError)
            self.assertEqual((str(copied), copied.retry_after), (str(caught.exception), 90))
        other = pickle.loads(pickle.dumps(WebhookVerificationError("headers_missing", "No headers.")))
        self.assertEqual((str(other), other.reason), ("No headers.", "headers_missing"))

    def test_a_long_retry_after_is_reported_at_once(self):
        for story in self.stories(lambda *_: refusal(429, type="otp_limit", retry_after=3600, limit=5)):
            with self.assertRaises(ApiError) as caught:
                story.run(lambda client: client.verify.send(to="+250788123456"))
            self.assertEqual((caught.exception.retry_after, len(story.sent)), (3600, 1))

    def test_other_refusals_are_final(self):
        for status, type_ in [(429, "max_attempts_exceeded"), (402, "email_quota_exceeded"), (409, "email_taken")]:
            for story in self.stories(lambda *_: refusal(status, type=type_)):
                with self.assertRaises(ApiError) as caught:
                    self.send(story)
                self.assertEqual((caught.exception.type, len(story.sent)), (type_, 1))

    def test_max_retries_bounds_the_attempts(self):
        for story in self.stories(lambda *_: refusal(500, type="internal_error"), max_retries=1):
            with self.assertRaises(ServerError):
                self.send(story)
            self.assertEqual(len(story.sent), 2)
            with self.assertRaises(ServerError):
                self.send(story, request_options={"max_retries": 0})
            self.assertEqual(len(story.sent), 3)

    def test_a_timeout_has_its_class(self):
        def slow(*_):
            raise httpx.ReadTimeout("slow")

        for story in self.stories(slow):
            with self.assertRaises(ServiceTimeoutError):
                self.send(story, request_options={"max_retries": 0, "timeout": 1})

    def test_an_empty_id_is_refused_before_anything_is_sent(self):
        for story in self.stories(accepted):
            for id_ in ("", ".", "..", None):
                with self.assertRaisesRegex(MessagingError, "Pass an id"):
                    story.run(lambda client: client.account.logins.end(id_))
            self.assertEqual(story.sent, [])

    def test_absent_values_are_left_out_and_null_is_sent_where_it_is_a_value(self):
        for story in self.stories(lambda *_: refusal(422, type="validation_error")):
            moment = datetime.datetime(2030, 1, 31, tzinfo=datetime.timezone.utc)
            for expires_at, expected in [(None, None), (moment, "2030-01-31T00:00:00+00:00")]:
                with self.assertRaises(InvalidRequestError):
                    story.run(lambda client: client.api_keys.create(name="More", expires_at=expires_at))
                self.assertEqual(json.loads(story.sent[-1].content), {"name": "More", "expires_at": expected})
            with self.assertRaises(InvalidRequestError):
                self.send(story, html=None, from_="shop@example.com")
            self.assertEqual(json.loads(story.sent[-1].content), {**MAIL, "from": "shop@example.com"})

    def test_every_answer_is_reported(self):
        seen = []
        for story in self.stories(accepted, on_response=seen.append):
            self.send(story)
        self.assertEqual([(each.status, each.attempt, each.replayed) for each in seen], [(202, 1, False)] * 2)


class Errors(unittest.TestCase):
    def error(self, response):
        story = Story(lambda *_: response, False, max_retries=0)
        with self.assertRaises(ApiError) as caught:
            story.run(lambda client: client.email.send(**MAIL))
        return caught.exception

    def test_a_type_has_its_class_with_the_facts_of_its_body(self):
        error = self.error(refusal(402, type="plan_limit_exceeded", limit=5, current=4, resource="api_keys"))
        self.assertIsInstance(error, PlanLimitExceededError)
        self.assertIsInstance(error, PaymentRequiredError)
        self.assertEqual((error.limit, error.current, error.resource), (5, 4, "api_keys"))
        self.assertEqual((error.status, error.message, error.doc_url), (402, "Refused.", "/docs"))
        self.assertEqual(error.request_id, "0190")

    def test_a_validation_error_names_every_field(self):
        fields = [{"param": "to", "type": "missing", "message": "Pass an address."}]
        error = self.error(refusal(422, type="validation_error", param="to", errors=fields))
        self.assertIsInstance(error, InvalidRequestError)
        self.assertEqual((error.param, error.errors), ("to", [FieldError("to", "missing", "Pass an address.")]))

    def test_unknown_types_and_bodies_have_the_class_of_their_status(self):
        self.assertIsInstance(self.error(refusal(402, type="of_a_later_version")), PaymentRequiredError)
        error = self.error(httpx.Response(502, text="<h1>Bad gateway</h1>"))
        self.assertIsInstance(error, ServerError)
        self.assertIn("base_url", str(error))
        self.assertEqual(self.error(httpx.Response(301, headers={"location": "/"})).status, 301)

    def test_a_rate_limit_tells_when_to_try_again(self):
        error = self.error(refusal(429, {"retry-after": "61"}, type="rate_limit_exceeded", limit=60))
        self.assertIsInstance(error, RateLimitExceededError)
        self.assertEqual((error.retry_after, error.limit), (61, 60))


def prefix(id_):
    return {"id": id_, "name": "Shop", "url": "https://example.com", "events": ["*"], "secret": "whsec_",
            "is_active": True, "status": "active", "failure_count": 0, "last_success_at": None,
            "created_at": "2030-01-31T09:00:00.000000Z", "updated_at": "2030-01-31T09:00:00.000000Z"}


class Lists(unittest.TestCase):
    def ids(self, answering, is_async):
        story = Story(answering, is_async)

        async def collect(client):
            return [each.id async for each in client.webhooks.list(per_page=2)]

        ids = story.run(collect if is_async else lambda client: [each.id for each in client.webhooks.list(per_page=2)])
        return ids, [request.url.query.decode() for request in story.sent]

    def test_a_list_yields_every_row_of_numbered_pages(self):
        def answering(request, _):
            page = int(request.url.params.get("page", 1))
            rows = [prefix(id_) for id_ in range(1, 6)][page * 2 - 2 : page * 2]
            return httpx.Response(200, json={"data": rows, "meta": {"total": 5, "page": page, "per_page": 2}})

        for is_async in (False, True):
            self.assertEqual(
                self.ids(answering, is_async),
                ([1, 2, 3, 4, 5], ["per_page=2", "per_page=2&page=2", "per_page=2&page=3"]),
            )

    def test_a_list_follows_its_cursor(self):
        def answering(request, _):
            start = int(request.url.params.get("cursor", 0))
            rows = [prefix(id_) for id_ in range(1, 6)][start : start + 2]
            next_cursor = str(start + 2) if start + 2 < 5 else None
            meta = {"total": 5, "page": 1, "per_page": 2, "next_cursor": next_cursor}
            return httpx.Response(200, json={"data": rows, "meta": meta})

        for is_async in (False, True):
            self.assertEqual(
                self.ids(answering, is_async),
                ([1, 2, 3, 4, 5], ["per_page=2", "per_page=2&cursor=2", "per_page=2&cursor=4"]),
            )

    def test_unknown_fields_and_values_of_a_later_service_are_kept(self):
        row = {**prefix(1), "status": "resting", "colour": "red"}
        meta = {"total": 1, "page": 1, "per_page": 25}
        story = Story(lambda *_: httpx.Response(200, json={"data": [row], "meta": meta}), False)
        page = story.run(lambda client: client.webhooks.list().first_page())
        self.assertEqual((page.data[0].status, page.data[0].colour, page.has_next), ("resting", "red", False))
        self.assertEqual(page.data[0].created_at.year, 2030)


    def test_an_answer_that_lacks_a_field_is_no_error(self):
        data = {"id": "seven", "to": "ada@example.com", "status": "queued", "created_at": "2030-01-31T09:00:00Z"}
        story = Story(lambda *_: httpx.Response(202, json={"data": data}), False)
        mail = story.run(lambda client: client.email.send(**MAIL))
        self.assertEqual((mail.id, mail.to, mail.warnings), ("seven", "ada@example.com", None))
        meta = {"total": 1, "page": 1, "per_page": 25}
        story = Story(lambda *_: httpx.Response(200, json={"data": [data], "meta": meta}), False)
        page = story.run(lambda client: client.email.list().first_page())
        self.assertEqual((page.data[0].id, page.data[0].from_, page.data[0].created_at.year), ("seven", None, 2030))


class Package(unittest.TestCase):
    def test_every_exported_name_exists(self):
        for name in messaging_service.__all__:
            self.assertTrue(hasattr(messaging_service, name), name)


if __name__ == "__main__":
    unittest.main()
