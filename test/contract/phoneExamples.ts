/** Requests of the examples for which a phone of the sandbox has to act first. */
import { Effect } from "effect"
import { eventually, type RunningNode, sandboxToken, Service } from "../support/Service.ts"
import { createSession, untilConnected } from "../support/WhatsApp.ts"

const owner = "15550100300"
const member = "15550100301"
const other = "15550100302"

interface Caller {
  readonly request: RunningNode["request"]
  readonly key: string
}

const phones = "/sandbox/phones"

/** Posts a form as a browser does. */
const submit = (node: RunningNode, path: string, fields: Readonly<Record<string, string>>) =>
  node.request("POST", `${phones}${path}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", origin: node.baseUrl }
  })

/** A session that waits for a phone. */
const waitingSession = Effect.fnUntraced(function*({ key }: Caller) {
  const node = yield* Service
  return String((yield* createSession(node, key, "Shop")).id)
})

/** A session that a phone of the sandbox has scanned. */
const pairedSession = Effect.fnUntraced(function*(caller: Caller) {
  const node = yield* Service
  const id = yield* waitingSession(caller)
  const scan = submit(node, "/scan", { session: id, number: owner })
  yield* scan
  yield* untilConnected(node, caller.key, Number(id), () => scan)
  for (const number of [member, other]) yield* submit(node, "", { number, name: "Ann" })
  return Number(id)
})

const newGroup = Effect.fnUntraced(function*(caller: Caller) {
  const session_id = yield* pairedSession(caller)
  return { json: { session_id, name: "Team", participants: [`+${member}`] } }
})

/** A picture that a phone has sent to a session. */
const receivedPicture = Effect.fnUntraced(function*(caller: Caller) {
  const node = yield* Service
  yield* pairedSession(caller)
  const form = new FormData()
  form.set("to", owner)
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
  form.set("file", new File([Buffer.from(png, "base64")], "mine.png", { type: "image/png" }))
  yield* Effect.promise(() =>
    fetch(`${node.baseUrl}${phones}/${member}/files?token=${sandboxToken}`, { method: "POST", body: form })
  )
  const received = caller.request("GET", "/v1/whatsapp/messages?direction=in", { key: caller.key })
  const { at } = yield* eventually(received, ({ at }) => at("data", 0, "id") !== undefined)
  const id = String(at("data", 0, "id"))
  return { values: [id] }
})

/** Requests by the operation's name. */
export const phoneRecipes = {
  "GET /v1/whatsapp/sessions/:id/qr": (caller: Caller) =>
    Effect.map(waitingSession(caller), (id) => ({ values: [id] })),
  "POST /v1/whatsapp/sessions/:id/pairing-code": (caller: Caller) =>
    Effect.map(waitingSession(caller), (id) => ({ values: [id], json: { phone_number: `+${owner}` } })),
  "POST /v1/whatsapp/sessions/:id/pairing-link": (caller: Caller) =>
    Effect.map(waitingSession(caller), (id) => ({ values: [id] })),
  "GET /v1/whatsapp/messages/:id/media": receivedPicture,
  "POST /v1/whatsapp/groups": newGroup,
  "PUT /v1/whatsapp/groups/:id": Effect.fnUntraced(function*(caller: Caller) {
    const created = yield* caller.request("POST", "/v1/whatsapp/groups", {
      key: caller.key,
      ...(yield* newGroup(caller))
    })
    return {
      values: [String(created.at("data", "id"))],
      json: { name: "Team of the shop", add_participants: [`+${other}`] }
    }
  })
}
