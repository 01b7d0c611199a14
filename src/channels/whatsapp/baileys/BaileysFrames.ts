import type { BinaryNode, WASocket } from "@whiskeysockets/baileys"
import { Effect, Option } from "effect"
import { childrenOf, hasValidIds, type Stanza } from "../wire/Stanza.ts"
import type { Run } from "./BaileysKeys.ts"
import { bytesOf, type ConnectionRoom } from "./StanzaRoom.ts"

/**
 * Closes a connection whose server sends nothing. The library's own timeout would also cover every frame it sends, at
 * the cost of a timer and error stacks each: 5 % of sending a text. After the first frame the library's pings detect a
 * dead server.
 */
export const closeOnSilence = (socket: WASocket) =>
  Effect.callback<void>((resume) => {
    socket.ws.once("frame", () => resume(Effect.void))
  }).pipe(
    Effect.timeoutOption("20 seconds"),
    Effect.map(Option.getOrElse(() => void socket.end(new Error("the server did not answer"))))
  )

/**
 * Closes the connection on an unreadable frame. The library's own listener would swallow the error and fail to decrypt
 * every later frame.
 */
export const closeOnUnreadableFrame = (socket: WASocket): void => {
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
 * Handles messages in the order of their arrival. The library looks up the sender before it queues a message, so a later
 * message could overtake an earlier one. The connection ends when the waiting messages have no room. The server keeps what
 * was not acknowledged and sends it in small portions on the next connection. Such a message takes no room for long: the
 * library moves it to another queue at once.
 */
export const keepMessageOrder = (socket: WASocket, room: ConnectionRoom): void => {
  const listeners = socket.ws.listeners("CB:message")
  socket.ws.removeAllListeners("CB:message")
  let last: Promise<unknown> = Promise.resolve()
  let isFull = false
  socket.ws.on("CB:message", (stanza: BinaryNode) => {
    if (isFull) return
    const bytes = bytesOf(stanza)
    if (!room.take(bytes)) {
      isFull = true
      socket.end(new Error("the received messages that wait have no room"))
      return
    }
    const handle = (): unknown =>
      isFull ? undefined : Promise.all(listeners.map((listener): unknown => listener(stanza)))
    last = last.then(handle).catch(() => {}).finally(() => room.free(bytes))
  })
}

/**
 * Acknowledges a message with an invalid id and does nothing else with it. Its ids would become keys of ratchets and
 * rows; a write that the database refuses ends the connection, and the next connection would receive the message again.
 */
export const ignoreInvalidIds = (socket: WASocket, run: Run): void => {
  const listeners = socket.ws.listeners("CB:message")
  socket.ws.removeAllListeners("CB:message")
  socket.ws.on("CB:message", (stanza: BinaryNode) => {
    if (hasValidIds(stanza)) {
      for (const listener of listeners) listener(stanza)
      return
    }
    void run(Effect.logWarning("ignored a WhatsApp message with an invalid id or sender"))
    socket.sendMessageAck(stanza).catch(() => {})
  })
}

/** An address that WhatsApp gives to a device: digits, the device's number, and a server. */
const deviceAddress = /^\d{1,20}(:\d{1,5})?@[a-z.]+$/

const childOf = (stanza: Stanza, tag: string) => childrenOf(stanza).find((child) => child.tag === tag)

const hasText = ({ content }: Stanza): boolean =>
  (typeof content === "string" || content instanceof Uint8Array) && content.length > 0

/** Whether there are codes and none is empty. */
const hasCodes = (stanza: Stanza): boolean => {
  const inner = childOf(stanza, "pair-device")
  const refs = inner === undefined ? [] : childrenOf(inner).filter(({ tag }) => tag === "ref")
  return refs.length > 0 && refs.every(hasText)
}

/** Whether the new device gets the addresses that it will log in with. */
const hasDeviceAddress = (stanza: Stanza): boolean => {
  const inner = childOf(stanza, "pair-success")
  const { jid = "", lid } = (inner === undefined ? undefined : childOf(inner, "device"))?.attrs ?? {}
  return deviceAddress.test(jid) && (lid === undefined || deviceAddress.test(lid))
}

/**
 * Closes the connection on an invalid pairing stanza. The library would crash the process on an empty code, store a
 * device without an address, or accept a login that no phone approved. `isPaired` says whether a phone has accepted the
 * device.
 */
export const closeOnInvalidPairing = (socket: WASocket, isPaired: () => boolean): void => {
  const isValidPairing: Readonly<Record<string, (stanza: Stanza) => boolean>> = {
    "CB:iq,type:set,pair-device": (stanza) => !isPaired() && hasCodes(stanza),
    "CB:iq,,pair-success": (stanza) => !isPaired() && hasDeviceAddress(stanza),
    "CB:success": isPaired
  }
  for (const [event, isValid] of Object.entries(isValidPairing)) {
    const listeners = socket.ws.listeners(event)
    socket.ws.removeAllListeners(event)
    socket.ws.on(event, (stanza: Stanza) => {
      if (!isValid(stanza)) return void socket.end(new Error(`the server sent an invalid pairing stanza: ${event}`))
      for (const listener of listeners) listener(stanza)
    })
  }
}
