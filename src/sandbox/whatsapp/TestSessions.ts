import { Context, Effect, Layer } from "effect"
import {
  type SessionSocket,
  type SessionTraffic,
  WhatsAppSocket
} from "../../channels/whatsapp/socket/WhatsAppSocket.ts"
import { SandboxFaults } from "../../messages/SandboxFault.ts"
import type { AccountId, WhatsAppSessionId } from "../../values/Ids.ts"
import { isTest } from "../../values/TestMode.ts"
import { SimulatedWhatsApp, type SimulatorAddress } from "./SimulatedWhatsApp.ts"

/** How long a code is shown before the phone scans it, so that a test can read it. */
const scanDelay = "1 second"

/**
 * The number of a test session's phone. No country has the prefix 999, so no request can name it: sessions of one account
 * never reach those of another.
 */
export const phoneOf = (session: WhatsAppSessionId): string => `999${String(session).padStart(12, "0")}`

/**
 * The upstreams of WhatsApp: test sessions connect to the simulated one, where a phone scans their codes. The account
 * decides before each connection.
 */
export const withTestSessions = <E, R, E2, R2>(
  live: Layer.Layer<WhatsAppSocket, E, R>,
  connect: (server: Effect.Effect<SimulatorAddress>) => Layer.Layer<WhatsAppSocket, E2, R2>
) =>
  Layer.effect(
    WhatsAppSocket,
    Effect.gen(function*() {
      const { open: openLive } = yield* WhatsAppSocket
      const { address, control } = yield* SimulatedWhatsApp
      const { open: openTest } = Context.get(yield* Layer.build(connect(address)), WhatsAppSocket)

      const faults = yield* SandboxFaults

      /** Acknowledges the messages that planned faults lose, as WhatsApp does while the phone of a recipient is offline. */
      const losing = (account: AccountId, { onStanza }: SessionTraffic, socket: SessionSocket): SessionSocket => ({
        ...socket,
        relay: Effect.fnUntraced(function*(messages, isHeld) {
          let lost = 0
          for (const { id } of messages) {
            if (!isHeld() || (yield* faults.take(account, "whatsapp")) === undefined) break
            onStanza("ack", { tag: "ack", attrs: { id, class: "message" } })
            lost += 1
          }
          return yield* socket.relay(messages.slice(lost), isHeld)
        })
      })

      const scan = Effect.fnUntraced(function*(code: string, number: string) {
        yield* Effect.sleep(scanDelay)
        yield* control("createPhone", number, "Test phone")
        yield* control("scan", code, number)
      }, (effect) => Effect.ignoreCause(effect))

      const scanned = (socket: SessionSocket, number: string): SessionSocket => ({
        ...socket,
        next: Effect.tap(socket.next, (event) =>
          event._tag === "Code" ? Effect.forkDetach(scan(event.text, number)) : Effect.void)
      })

      return WhatsAppSocket.of({
        open: (options) => {
          const { account, credentials, traffic } = options
          return isTest(account)
            ? Effect.map(openTest(options), (socket) =>
              losing(account, traffic, scanned(socket, phoneOf(credentials.owned.id))))
            : openLive(options)
        }
      })
    })
  ).pipe(Layer.provide(live))
