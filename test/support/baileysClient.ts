/**
 * The unmodified Baileys as a client of the simulator, with credentials in memory. A client records what it receives,
 * and tests wait for what they need.
 */
import "../../src/platform/observability/muteLibsignal.ts"

import makeWASocket, { BufferJSON, initAuthCreds } from "@whiskeysockets/baileys"
import type {
  AuthenticationCreds,
  BaileysEventMap,
  SignalDataTypeMap,
  UserFacingSocketConfig,
  WAMessage,
  WASocket
} from "@whiskeysockets/baileys"
import { Effect } from "effect"
import { silentLogger } from "../../src/channels/whatsapp/baileys/silentLogger.ts"
import { Changes } from "./Changes.ts"

/** A client's credentials and keys, which outlive its connections. */
export class MemoryAuth {
  readonly creds: AuthenticationCreds = initAuthCreds()
  readonly entries = new Map<string, string>()

  readonly keys = {
    get: <T extends keyof SignalDataTypeMap>(type: T, ids: ReadonlyArray<string>) => {
      const found: { [id: string]: SignalDataTypeMap[T] } = {}
      for (const id of ids) {
        const json = this.entries.get(`${type}/${id}`)
        if (json !== undefined) found[id] = JSON.parse(json, BufferJSON.reviver)
      }
      return found
    },
    set: (data: { [type: string]: { [id: string]: unknown } | undefined }) => {
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) {
          if (value === null || value === undefined) this.entries.delete(`${type}/${id}`)
          else this.entries.set(`${type}/${id}`, JSON.stringify(value, BufferJSON.replacer))
        }
      }
    }
  }
}

export interface ClientOptions extends Partial<UserFacingSocketConfig> {
  readonly url: string
  readonly auth?: never
}

/** One connection of a client. */
export class BaileysClient {
  readonly socket: WASocket
  readonly auth: MemoryAuth
  readonly updates: Array<Partial<BaileysEventMap["connection.update"]>> = []
  readonly received: Array<WAMessage & { readonly upsert: "notify" | "append" }> = []
  readonly acks: Array<{ readonly id: string; readonly error: string | undefined }> = []
  readonly receipts: Array<{ readonly id: string; readonly type: string | undefined; readonly from: string }> = []
  readonly groupChanges: Array<BaileysEventMap["group-participants.update"]> = []
  historyCount = 0
  /** Resolves when the connection has ended, after whatever time. */
  readonly closed: Promise<void>
  readonly #changes = new Changes(() => ({
    updates: this.updates,
    texts: this.texts,
    receipts: this.receipts,
    acks: this.acks,
    historyCount: this.historyCount
  }))

  constructor(auth: MemoryAuth, { url, ...config }: Omit<ClientOptions, "auth">) {
    this.auth = auth
    this.socket = makeWASocket({
      logger: silentLogger,
      markOnlineOnConnect: false,
      syncFullHistory: false,
      emitOwnEvents: false,
      retryRequestDelayMs: 0,
      ...config,
      waWebSocketUrl: url,
      auth: { creds: auth.creds, keys: auth.keys }
    })
    const { ev, ws } = this.socket
    this.#endOnNonsense()
    ev.on("creds.update", (update) => void Object.assign(auth.creds, update))
    ev.on("connection.update", (update) => this.#record(() => this.updates.push(update)))
    this.closed = new Promise((resolve) => {
      ev.on("connection.update", ({ connection }) => {
        if (connection === "close") resolve()
      })
    })
    ev.on(
      "messages.upsert",
      ({ messages, type }) =>
        this.#record(() => this.received.push(...messages.map((message) => ({ ...message, upsert: type }))))
    )
    ev.on("messaging-history.set", () => this.#record(() => this.historyCount++))
    ev.on("group-participants.update", (update) => this.#record(() => this.groupChanges.push(update)))
    ws.on(
      "CB:ack,class:message",
      ({ attrs }: Stanza) => this.#record(() => this.acks.push({ id: attrs["id"] ?? "", error: attrs["error"] }))
    )
    ws.on(
      "CB:receipt",
      ({ attrs }: Stanza) =>
        this.#record(() =>
          this.receipts.push({ id: attrs["id"] ?? "", type: attrs["type"], from: attrs["from"] ?? "" })
        )
    )
  }

  get qr(): string | undefined {
    return this.updates.findLast(({ qr }) => qr !== undefined)?.qr
  }

  get isOpen(): boolean {
    return this.updates.some(({ connection }) => connection === "open")
  }

  get isClosed(): boolean {
    return this.updates.some(({ connection }) => connection === "close")
  }

  /** The status with which the connection ended. */
  get closeCode(): number | undefined {
    const error = this.updates.find(({ connection }) => connection === "close")?.lastDisconnect?.error
    // Baileys closes with a Boom, whose output has the code.
    return (error as { readonly output?: { readonly statusCode: number } } | undefined)?.output?.statusCode
  }

  /** The received texts. */
  get texts(): ReadonlyArray<string> {
    return this.received.flatMap(({ message }) => message?.conversation ?? message?.extendedTextMessage?.text ?? [])
  }

  /** Resolves when the check holds; it is checked whenever the client receives something. */
  until(check: () => boolean, within?: `${number} seconds`): Promise<void> {
    return Effect.runPromise(this.#changes.until(check, within))
  }

  end(): void {
    this.socket.end(undefined)
  }

  /** Without this, an invalid frame would end the process: Baileys does not catch what its listener throws. */
  #endOnNonsense(): void {
    const [listener] = this.socket.ws.listeners("message")
    this.socket.ws.removeAllListeners("message")
    this.socket.ws.on(
      "message",
      (data: unknown) => void Promise.resolve(listener?.(data)).catch((error: Error) => this.socket.end(error))
    )
  }

  #record(change: () => unknown): void {
    change()
    this.#changes.notify()
  }
}

interface Stanza {
  readonly attrs: { readonly [name: string]: string | undefined }
}

/** Connects with these credentials and waits until the connection is open or refused. */
export const connected = async (auth: MemoryAuth, options: Omit<ClientOptions, "auth">): Promise<BaileysClient> => {
  const client = new BaileysClient(auth, options)
  await client.until(() => client.isOpen || client.closeCode !== undefined)
  return client
}
