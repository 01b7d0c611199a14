"""Verifies the arrivals that standard input lists, and prints the event's id or the reason of each rejection."""

import base64
import json
import sys

from messaging_service import MessagingClient, WebhookVerificationError, webhooks


def outcome(verify, arrival):
    try:
        event = verify(
            base64.b64decode(arrival["body"]), arrival["headers"], arrival["secret"], **arrival.get("options", {})
        )
    except WebhookVerificationError as error:
        return error.reason
    return [event.id, event.event, type(event).__name__, getattr(event.data, "subject", None)]


client = MessagingClient(api_key="sk")
arrivals = json.load(sys.stdin)
outcomes = [outcome(webhooks.verify, arrival) for arrival in arrivals]
assert outcomes == [outcome(client.webhooks.verify, arrival) for arrival in arrivals]
print(json.dumps(outcomes))
