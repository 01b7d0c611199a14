import { Deferred, Effect, Layer, Queue, Random } from "effect"
import type { Credentials } from "../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { SocketFailed } from "../../src/channels/whatsapp/socket/SocketErrors.ts"
import {
  type SessionSocket,
  type SocketEvent,
  WhatsAppSocket
} from "../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"
import { unaskedSocket } from "../support/unaskedSocket.ts"
import { Draw } from "./Draw.ts"
import type { Receiver } from "./Receiver.ts"
import type { VirtualNode } from "./VirtualNode.ts"

type Open = WhatsAppSocket["Service"]["open"]

/** The session of a run. */
export const sessionId = WhatsAppSessionId.make(1)

export const messageOf = (whatsappId: unknown) => `message ${whatsappId}`

/** WhatsApp does not refuse an id that it has accepted before. */
const verdicts = [[9, "accepted"], [1, "lost"]] as const

/** In milliseconds. A login takes at least as long as a former owner goes on. */
const times = {
  login: [[2, 3_000, 3_500], [1, 3_500, 7_000]],
  /** How long a connection lasts. */
  life: [[1, 500, 8_000], [2, 60_000, 90_000]],
  /** How long an answer takes that a message needs before it is written. */
  request: [[1, 1, 30], [3, 30, 1_000]],
  /** How long WhatsApp takes to answer that it does not know the number of an author. */
  number: [[1, 500, 2_000]],
  /** How long WhatsApp takes to name the devices of a chat. A message waits for it after it is written to its row. */
  devices: [[1, 1, 30], [2, 100, 700]],
  send: {
    connect: [[1, 0, 0]],
    answer: [[2, 1, 100], [2, 100, 3_000], [3, 3_000, 14_000]]
  },
  /** Between two messages that come in. */
  pause: [[3, 1, 100], [1, 100, 4_000]]
} as const

/** The messages that come in on a connection. The first one comes in again on each of them. */
const received = (epoch: number) => ["IN1", ...[1, 2, 3].map((n) => `IN${epoch}.${n}`)]

/** A message with this text, serialised. */
const plaintext = Buffer.from("\n\u0005Hello")

/** Its author has another name in each message, and a hidden number. */
const envelopeOf = (id: string) => ({ tag: "message", attrs: { id, from: "301@lid", notify: `Name in ${id}` } })

/** Each message that comes in changes the credentials. */
const receive = Effect.fnUntraced(function*(draw: Draw, credentials: Credentials) {
  for (const id of received(credentials.owned.epoch)) {
    yield* Effect.sleep(draw.within(times.pause))
    const ratchet = { type: "session", key: "15550100301", value: Buffer.from(id) }
    yield* credentials.set([ratchet], [{ sessionId, envelope: envelopeOf(id), plaintext }])
  }
})

const makeOpen = (node: VirtualNode, receiver: Receiver): Open =>
  Effect.fnUntraced(function*({ credentials, traffic }) {
    const scope = yield* Effect.scope
    const draw = new Draw(yield* Random.nextInt)
    const events = yield* Queue.unbounded<SocketEvent>()
    let isOpen = true
    const close = (cause: "lost" | "ownership_lost") =>
      Effect.suspend(() => {
        isOpen = false
        node.loseConnection()
        return Queue.offer(events, { _tag: "Closed", cause, detail: "" })
      })
    yield* Effect.sleep(draw.within(times.login))
    yield* Queue.offer(events, { _tag: "Opened", phoneNumber: "15550100300" })
    yield* Effect.forkScoped(Effect.delay(close("lost"), draw.within(times.life)))
    yield* receive(draw, credentials).pipe(
      Effect.catchTag("OwnershipLost", () => close("ownership_lost")),
      Effect.forkScoped
    )

    /** An answer of WhatsApp, which sometimes does not come. */
    const request = <A>(answer: A) =>
      Effect.flatMap(
        receiver.answer(node, times.request),
        () => draw.chance(0.75) ? Effect.succeed(answer) : Effect.fail(new SocketFailed({ reason: "no answer" }))
      )
    const send = (id: string, begin: () => boolean, isHeld: () => boolean) =>
      Effect.map(
        Effect.andThen(
          Effect.repeat(receiver.answer(node, times.devices), { times: 4 }),
          receiver.receive({
            node,
            item: messageOf(id),
            claim: credentials.owned.epoch,
            lease: { begin, isHeld },
            verdicts,
            times: times.send
          })
        ),
        (verdict) => {
          if (verdict === "accepted") traffic.onStanza("ack", { tag: "ack", attrs: { id } })
        }
      )
    /** Returns when the message leaves the node. */
    const write = Effect.fnUntraced(function*(id: string, isHeld: () => boolean) {
      const begun = yield* Deferred.make<void>()
      const begin = () => {
        Deferred.doneUnsafe(begun, Effect.void)
        return isHeld()
      }
      yield* Effect.forkIn(send(id, begin, isHeld), scope)
      yield* Deferred.await(begun)
    })
    const socket: SessionSocket = {
      ...unaskedSocket,
      next: Queue.take(events),
      isOpen: () => isOpen,
      groups: Effect.succeed([]),
      numberOf: () => Effect.as(receiver.answer(node, times.number), undefined),
      chatOf: (number) =>
        Effect.map(
          receiver.answer(node, times.request),
          () => draw.chance(0.75) ? `${number}@s.whatsapp.net` : undefined
        ),
      compose: () => request(plaintext),
      relay: (page, isHeld) =>
        Effect.as(Effect.forEach(page, ({ id }) => write(id, isHeld), { concurrency: "unbounded", discard: true }), [])
    }
    return socket
  })

/** WhatsApp: a connection brings messages, acknowledges those that it accepts, and is lost at some time. */
export const whatsAppSocket = (node: VirtualNode, receiver: Receiver): Layer.Layer<WhatsAppSocket> =>
  Layer.succeed(WhatsAppSocket, WhatsAppSocket.of({ open: makeOpen(node, receiver) }))
