import {
  areJidsSameUser,
  type AuthenticationCreds,
  DEFAULT_CONNECTION_CONFIG,
  initAuthCreds,
  type SocketConfig
} from "@whiskeysockets/baileys"
import { type Cause, Effect } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import * as NodeHttp from "node:http"
import * as NodeHttps from "node:https"
import type { Duplex } from "node:stream"
import { attemptTimeoutMillis } from "../../../platform/net/guardedConnector.ts"
import type { Credentials } from "../credentials/CredentialStore.ts"
import * as BaileysKeys from "./BaileysKeys.ts"
import * as BaileysRatchets from "./BaileysRatchets.ts"
import { decodeValue, encodeValue } from "./keyValues.ts"
import * as MessageEnvelopes from "./MessageEnvelopes.ts"
import { markReported } from "./unhandledRejections.ts"

const place = { type: "creds", key: "" }

/** The stored credentials of a paired session, or those of a new device. */
export const storedCreds = Effect.fnUntraced(function*(credentials: Credentials, isPaired: boolean) {
  if (!isPaired) return initAuthCreds()
  const bytes = (yield* credentials.get(place.type, [place.key])).get(place.key)
  // Only `storeCreds` writes this value.
  return bytes === undefined ? initAuthCreds() : decodeValue(bytes) as AuthenticationCreds
})

/** Stores the whole credentials, because the library changes them in place. */
export const storeCreds = (credentials: Credentials, creds: AuthenticationCreds) =>
  credentials.set([{ ...place, value: encodeValue(creds) }])

type Written = (error?: Error | null) => void

/** Delays every write until `durable` has returned. After `durable` has failed, it writes nothing more. */
const writeWhenDurable = (connection: Duplex, durable: () => Promise<unknown>) => {
  const write = connection._write.bind(connection)
  const writeMany = connection._writev?.bind(connection)
  const whenDurable = (go: () => void, done: Written) => {
    durable().then(go, (error: unknown) => done(error instanceof Error ? error : new Error("not durable")))
  }
  connection._write = (chunk: unknown, encoding, done) => whenDurable(() => write(chunk, encoding, done), done)
  if (writeMany !== undefined) connection._writev = (chunks, done) => whenDurable(() => writeMany(chunks, done), done)
  return connection
}

/**
 * Opens connections to WhatsApp that hold back bytes until the ratchet steps behind them are durable. Waiting in the
 * library instead would encrypt one message after the other. Bytes that have waited leave together.
 */
export const durableAgent = (url: string, durable: () => Promise<unknown>): NodeHttps.Agent => {
  // The library's type names the TLS agent, but it accepts either.
  const settings = { autoSelectFamilyAttemptTimeout: attemptTimeoutMillis }
  const agent = new URL(url).protocol === "wss:"
    ? new NodeHttps.Agent(settings)
    : new NodeHttp.Agent(settings) as NodeHttps.Agent
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, done) => {
    const connection = connect(options, done)
    return connection ? writeWhenDurable(connection, durable) : connection
  }
  return agent
}

interface Options extends Omit<BaileysKeys.Options, "step"> {
  readonly creds: AuthenticationCreds
  readonly url: string
}

/** The library's credentials, keys and ratchets over those of the session. */
export const make = ({ credentials, creds, fail, run, url }: Options) => {
  const step = new AsyncLocalStorage<BaileysRatchets.StepChanges>()
  let failure: Promise<never> | undefined
  // After a failure the library would report messages as unreadable, and WhatsApp would forget them. So it sends nothing.
  const failAndSilence = (cause: Cause.Cause<unknown>) => {
    const error = new Error("keys could not be read or written")
    markReported(error)
    failure ??= Promise.reject(error)
    failure.catch(() => {})
    fail(cause)
  }
  const keys = BaileysKeys.make({ credentials, run, step, fail: failAndSilence })
  const isOwn = (jid: string) => areJidsSameUser(jid, creds.me?.id) || areJidsSameUser(jid, creds.me?.lid)
  const envelopes = MessageEnvelopes.make(isOwn)
  const commit = (changes: BaileysRatchets.StepChanges, deciphered: ReadonlyArray<BaileysRatchets.Deciphered>) => {
    const sessionId = credentials.owned.id
    const messages = deciphered.flatMap(({ ciphertext, plaintext }) =>
      envelopes.messagesOf(ciphertext, plaintext).map((message) => ({ sessionId, ...message }))
    )
    return keys.write([...changes.values()], messages)
  }
  const { durable, guarded } = BaileysRatchets.make({ step, commit })
  return {
    /** Remembers a stanza before it is decrypted. */
    note: envelopes.note,
    config: {
      auth: { creds, keys: keys.store },
      makeSignalRepository: (...args) => guarded(DEFAULT_CONNECTION_CONFIG.makeSignalRepository(...args)),
      agent: durableAgent(url, () => failure ?? durable())
    } satisfies Partial<SocketConfig>
  }
}
