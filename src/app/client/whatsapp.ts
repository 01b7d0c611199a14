import { Clock, DateTime, Effect, Option, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import type { MessagingClient, WhatsAppSessionDetail } from "../../sdk/MessagingClient.ts"
import { call, client, items, json, print } from "./connection.ts"
import { drawn, qrModules } from "./qrModules.ts"

/** The session ended instead of connecting. */
class PairingFailed extends Schema.TaggedError<PairingFailed>()("PairingFailed", {
  id: Schema.Int,
  reason: Schema.NullOr(Schema.String)
}) {
  override get message() {
    const why = this.reason === null ? "" : ` (${this.reason})`
    return `Session ${this.id} is not paired${why}. Try again: messaging whatsapp pair --session ${this.id}`
  }
}

/** White on black, whatever the colours of the terminal are. A file gets no colours. */
const coloured = (line: string) => process.stdout.isTTY ? `\u001b[97;40m${line}\u001b[0m` : line

/** Draws the current code, and returns the moment when another one replaces it. */
const showCode = Effect.fnUntraced(function*(whatsapp: MessagingClient["whatsapp"], id: number, json: boolean) {
  const { expires_at, qr_code } = yield* call(() => whatsapp.sessions.qr(id))
  yield* print(
    json,
    { session_id: id, qr_code, expires_at },
    ...drawn(qrModules(qr_code)).map(coloured),
    `Session ${id}: on the phone, open WhatsApp, Linked devices, Link a device, and scan the code.`
  )
  return DateTime.toEpochMillis(DateTime.makeUnsafe(expires_at))
})

/** Draws codes until a phone has scanned one. */
const untilConnected = Effect.fnUntraced(
  function*(whatsapp: MessagingClient["whatsapp"], id: number, json: boolean) {
    let expiresAt = 0
    for (;;) {
      const session: WhatsAppSessionDetail = yield* call(() => whatsapp.sessions.get(id))
      if (session.status === "connected") return session
      if (expiresAt > 0 && session.status === "failed") {
        return yield* new PairingFailed({ id, reason: session.reason })
      }
      // After the scan the session connects: it has no code meanwhile (409).
      if ((yield* Clock.currentTimeMillis) >= expiresAt) {
        expiresAt = yield* Effect.catchIf(
          showCode(whatsapp, id, json),
          ({ status }) => status === 409,
          () => Effect.succeed(expiresAt)
        )
      }
      yield* Effect.sleep("1 second")
    }
  }
)

const pair = Command.make(
  "pair",
  {
    session: Flag.Int("session").pipe(
      Flag.withDescription("Pair this session again. Default: a new one"),
      Flag.optional
    ),
    name: Flag.String("name").pipe(Flag.withDescription("The name of the new session"), Flag.optional),
    json
  },
  Effect.fnUntraced(function*({ json, name, session }) {
    const { whatsapp } = yield* client
    const created = Effect.map(
      call(() => whatsapp.sessions.create({ name: Option.getOrUndefined(name) })),
      ({ id }) => id
    )
    const id = yield* Option.match(session, { onNone: () => created, onSome: Effect.succeed })
    const connected = yield* untilConnected(whatsapp, id, json)
    const next = `Send: messaging send whatsapp TO TEXT --session ${id}`
    yield* print(json, connected, `Session ${id} is connected as ${connected.phone_number}.`, next)
  })
).pipe(
  Command.withDescription("Draw the QR code, and wait until a phone has scanned it"),
  Command.withExamples([{ command: "messaging whatsapp pair --name Shop" }])
)

const sessions = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function*({ json }) {
    const { whatsapp } = yield* client
    yield* Stream.runForEach(items(() => whatsapp.sessions.list({ per_page: 100 })), (session) => {
      const { id, name, phone_number, status } = session
      return print(json, session, `${id}\t${status}\t${phone_number ?? "-"}\t${name}`)
    })
  })
).pipe(Command.withDescription("List the sessions"), Command.withExamples([{ command: "messaging whatsapp list" }]))

export const whatsapp = Command.make("whatsapp").pipe(
  Command.withDescription("Pair phones with WhatsApp"),
  Command.withExamples([{ command: "messaging whatsapp pair" }]),
  Command.withSubcommands([pair, sessions])
)
