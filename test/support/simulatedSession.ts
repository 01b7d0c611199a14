/** A simulator and clients paired with it, closed with the scope. */
import { Effect } from "effect"
import type { Scope } from "effect"
import type { StateStorage } from "../../src/sandbox/whatsapp/model/SimulatorState.ts"
import { WhatsAppSimulator } from "../../src/sandbox/whatsapp/WhatsAppSimulator.ts"
import type { SimulatorOptions } from "../../src/sandbox/whatsapp/WhatsAppSimulator.ts"
import { BaileysClient, connected, MemoryAuth } from "./baileysClient.ts"
import type { ClientOptions } from "./baileysClient.ts"

export const ann = "15550000001"
export const bob = "15550000002"
export const cid = "15550000003"

export const jid = (number: string): string => `${number}@s.whatsapp.net`

/** Keeps the state of a simulator for the next one. */
export const memory = (): StateStorage & { readonly entries: Map<string, string> } => {
  const entries = new Map<string, string>()
  return {
    entries,
    load: () => Promise.resolve(new Map(entries)),
    save: (changes) => {
      for (const [name, value] of changes) {
        if (value === null) entries.delete(name)
        else entries.set(name, value)
      }
      return Promise.resolve()
    }
  }
}

/** A simulator with the phones of Ann, Bob and Cid. */
export const makeSimulator = Effect.fnUntraced(function*(
  options: Partial<SimulatorOptions> = {}
): Effect.fn.Return<WhatsAppSimulator, never, Scope.Scope> {
  const simulator = yield* Effect.acquireRelease(
    Effect.promise(() => WhatsAppSimulator.start({ now: () => Date.now(), ...options })),
    (started) => Effect.promise(() => started.stop())
  )
  simulator.controls.createPhone(ann, "Ann")
  simulator.controls.createPhone(bob, "Bob")
  simulator.controls.createPhone(cid, "Cid")
  return simulator
})

/** Pairs new credentials with a phone by QR and stays connected until the server sends 515. */
export const paired = (simulator: WhatsAppSimulator, number: string, options: Partial<ClientOptions> = {}) =>
  Effect.promise(async () => {
    const auth = new MemoryAuth()
    const client = new BaileysClient(auth, { url: simulator.url, ...options })
    await client.until(() => client.qr !== undefined)
    const session = simulator.controls.scan(client.qr ?? "", number)
    await client.until(() => client.closeCode !== undefined)
    return { auth, session, closeCode: client.closeCode }
  })

/** An open client with these credentials, until the test ends. */
export const online = (simulator: WhatsAppSimulator, auth: MemoryAuth, options: Partial<ClientOptions> = {}) =>
  Effect.acquireRelease(
    Effect.promise(() => connected(auth, { url: simulator.url, ...options })),
    (client) => Effect.sync(() => client.end())
  )

/** An open client of a new session of this number, after its first history sync. */
export const session = Effect.fnUntraced(function*(
  simulator: WhatsAppSimulator,
  number: string,
  options: Partial<ClientOptions> = {}
) {
  const { auth, session: name } = yield* paired(simulator, number, options)
  const client = yield* online(simulator, auth, options)
  yield* Effect.promise(() => client.until(() => client.historyCount > 0))
  return { auth, client, session: name }
})
