/** Shell commands that compute the signature of one attempt, for people who look for the reason why theirs differs. */
import type { DeliveryDetail } from "../../../webhooks/history/Delivery.ts"

export const signatureTools = ["openssl", "node", "python", "php", "go"] as const
export type SignatureTool = (typeof signatureTools)[number]

/** A text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The bytes that were sent: the service writes every event without spaces. */
const bodyOf = ({ payload }: Pick<DeliveryDetail, "payload">): string => JSON.stringify(payload)

/** Writes the body into a file, byte for byte. */
export const saveBody = (delivery: Pick<DeliveryDetail, "payload">): string =>
  `printf %s ${quoted(bodyOf(delivery))} > body.json`

/** `webhook-timestamp` of an attempt. */
export const timestampOf = (startedAt: string): number => Math.floor(Date.parse(startedAt) / 1000)

const commands: Readonly<Record<SignatureTool, (head: string) => string>> = {
  openssl: (head) =>
    `key=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')
printf v1,
{ printf %s ${head}; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A`,
  node: (head) =>
    `node -e '
const key = Buffer.from(process.env.WEBHOOK_SECRET.replace("whsec_", ""), "base64")
const body = require("node:fs").readFileSync("body.json")
const hmac = require("node:crypto").createHmac("sha256", key)
console.log("v1," + hmac.update("${head}").update(body).digest("base64"))'`,
  python: (head) =>
    `python3 -c '
import base64, hashlib, hmac, os
key = base64.b64decode(os.environ["WEBHOOK_SECRET"].replace("whsec_", ""))
body = open("body.json", "rb").read()
print("v1," + base64.b64encode(hmac.new(key, b"${head}" + body, hashlib.sha256).digest()).decode())'`,
  php: (head) =>
    String.raw`php -r '
$key = base64_decode(str_replace("whsec_", "", getenv("WEBHOOK_SECRET")));
$body = file_get_contents("body.json");
echo "v1," . base64_encode(hash_hmac("sha256", "${head}" . $body, $key, true)) . "\n";'`,
  go: (head) =>
    `cat > verify.go <<'END'
package main

import ("crypto/hmac"; "crypto/sha256"; "encoding/base64"; "fmt"; "os"; "strings")

func main() {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	body, _ := os.ReadFile("body.json")
	mac := hmac.New(sha256.New, key)
	mac.Write(append([]byte("${head}"), body...))
	fmt.Println("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
END
go run verify.go`
}

/** Prints the signature of one attempt, from `body.json` and the variable `WEBHOOK_SECRET`. */
export const signatureCommand = (
  tool: SignatureTool,
  { event_id, startedAt }: { readonly event_id: string; readonly startedAt: string }
): string => commands[tool](`${event_id}.${timestampOf(startedAt)}.`)
