import base64
import hashlib
import hmac
import time

# secret: as it was shown, whsec_ included
# body: bytes, as they came
# headers: a mapping whose get() takes names in lower case, as most frameworks' do


def equal(expected: str, given: str) -> bool:
    return hmac.compare_digest(expected.encode(), given.encode())


def verify_service_signature(secret: str, body: bytes, headers) -> bool:
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return equal(expected, headers.get("x-service-signature", "")) or equal(
        expected, headers.get("x-service-signature-previous", "")
    )


def verify_standard_signature(secret: str, body: bytes, headers) -> bool:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    timestamp = headers.get("webhook-timestamp", "")
    head = f"{headers.get('webhook-id', '')}.{timestamp}.".encode()
    digest = hmac.new(key, head + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    fits = any(equal(expected, given) for given in headers.get("webhook-signature", "").split(" "))
    return fits and abs(time.time() - int(timestamp)) <= 300
