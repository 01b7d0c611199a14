# Functions for a POSIX shell with openssl: . ./verify.sh
# The secret is as it was shown, whsec_ included; the body is a file with the bytes as they came.

hex() { od -An -v -tx1 | tr -d ' \n'; }

# hmac HEXKEY <data: 32 bytes
hmac() { openssl dgst -sha256 -mac HMAC -macopt "hexkey:$1" -binary; }

# A shell compares letter by letter; behind a random key, how long that takes tells nothing of the signature.
# Where openssl fails, both sides are empty: that must not pass for equal.
equal() (
  blind=$(openssl rand -hex 32)
  left=$(printf %s "$1" | hmac "$blind" | hex)
  right=$(printf %s "$2" | hmac "$blind" | hex)
  [ -n "$left" ] && [ "$left" = "$right" ]
)

# verify_service_signature SECRET BODY_FILE X-SERVICE-SIGNATURE [X-SERVICE-SIGNATURE-PREVIOUS]
verify_service_signature() (
  key=$(printf %s "$1" | hex)
  expected=$(hmac "$key" <"$2" | hex)
  equal "$expected" "$3" || equal "$expected" "${4-}"
)

# verify_standard_signature SECRET BODY_FILE WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE
verify_standard_signature() (
  set -f
  key=$(printf %s "${1#whsec_}" | openssl base64 -d -A | hex)
  expected=v1,$({ printf '%s.%s.' "$3" "$4" && cat "$2"; } | hmac "$key" | openssl base64 -A)
  for given in $5; do
    equal "$expected" "$given" || continue
    age=$(($(date +%s) - $4))
    [ "$age" -le 300 ] && [ "$age" -ge -300 ]
    exit
  done
  exit 1
)
