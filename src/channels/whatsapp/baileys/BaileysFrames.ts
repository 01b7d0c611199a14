import type { BinaryNode, WASocket } from "@whiskeysockets/baileys"
import { Effect, Option } from "effect"
import type { Stanza } from "../wire/Stanza.ts"
import { hasSoundNames } from "../wire/validIds.ts"
import type { Run } from "./BaileysKeys.ts"
import { hasCodes, namesDevice } from "./soundPairing.ts"

/**
 * Ends a connection on which a server says nothing. The library would see to it by a time that it takes for each frame
 * it sends as well, for which it makes a timer and errors with their stacks, a twentieth of what a text costs. Once the
 * server has spoken, the library's pings find out that it is gone.
 */
export const endOnSilence = (socket: WASocket) =>
  Effect.callback<void>((resume) => {
    socket.ws.once("frame", () => resume(Effect.void))
  }).pipe(
    Effect.timeoutOption("20 seconds"),
    Effect.map(Option.getOrElse(() => void socket.end(new Error("the server did not answer"))))
  )

/**
 * A frame that cannot be read fails within the library's own listener, where nobody hears of it, and nothing is
 * understood from there on: the connection ends instead.
 */
export const endOnNonsense = (socket: WASocket): void => {
  for (const listener of socket.ws.listeners("message")) {
    const listen = (frame: unknown): unknown => listener(frame)
    socket.ws.removeAllListeners("message")
    socket.ws.on(
      "message",
      (frame: unknown) =>
        void Promise.resolve(listen(frame)).catch((error: unknown) =>
          socket.end(error instanceof Error ? error : undefined)
        )
    )
  }
}

/**
 * The library looks up whom a message is from before it queues for its turn, so of many that come at once a later one may
 * be first. Here each waits for the one before it.
 */
export const inTheirOrder = (socket: WASocket): void => {
  const listeners = socket.ws.listeners("CB:message")
  socket.ws.removeAllListeners("CB:message")
  for (const listener of listeners) {
    let last: Promise<unknown> = Promise.resolve()
    socket.ws.on("CB:message", (stanza: unknown) => {
      last = last.then((): unknown => listener(stanza)).catch(() => {})
    })
  }
}

/**
 * A message whose names are none is acknowledged and nothing else: it would be the key of ratchets and rows, a write that
 * the database refuses ends the connection, and the next one would get the message again.
 */
export const refuseUnsoundNames = (socket: WASocket, run: Run): void => {
  const listeners = socket.ws.listeners("CB:message")
  socket.ws.removeAllListeners("CB:message")
  socket.ws.on("CB:message", (stanza: BinaryNode) => {
    if (hasSoundNames(stanza)) {
      for (const listener of listeners) listener(stanza)
      return
    }
    void run(Effect.logWarning("a WhatsApp message whose id or sender can be none was ignored"))
    socket.sendMessageAck(stanza).catch(() => {})
  })
}

/**
 * Ends a connection over which a server says of pairing what it never should. The library would fail at a code of nothing
 * within a timer, which ends the process; it would store a device that no name leads back to; and it would take a login
 * for one, phone or not. `isPaired` says whether a phone has accepted the device.
 */
export const endOnFalsePairing = (socket: WASocket, isPaired: () => boolean): void => {
  const expected: Readonly<Record<string, (stanza: Stanza) => boolean>> = {
    "CB:iq,type:set,pair-device": (stanza) => !isPaired() && hasCodes(stanza),
    "CB:iq,,pair-success": (stanza) => !isPaired() && namesDevice(stanza),
    "CB:success": isPaired
  }
  for (const [event, isExpected] of Object.entries(expected)) {
    const listeners = socket.ws.listeners(event)
    socket.ws.removeAllListeners(event)
    socket.ws.on(event, (stanza: Stanza) => {
      if (!isExpected(stanza)) return void socket.end(new Error(`the server has lied: ${event}`))
      for (const listener of listeners) listener(stanza)
    })
  }
}
