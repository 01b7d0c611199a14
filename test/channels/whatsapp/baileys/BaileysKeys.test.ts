import "../../../../src/platform/observability/muteLibsignal.ts"

import { assert, describe, it } from "@effect/vitest"
import {
  addTransactionCapability,
  type AuthenticationCreds,
  DEFAULT_CONNECTION_CONFIG,
  initAuthCreds
} from "@whiskeysockets/baileys"
import { Effect } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import * as BaileysKeys from "../../../../src/channels/whatsapp/baileys/BaileysKeys.ts"
import * as BaileysRatchets from "../../../../src/channels/whatsapp/baileys/BaileysRatchets.ts"
import { silentLogger } from "../../../../src/channels/whatsapp/baileys/silentLogger.ts"
import type { Credentials } from "../../../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { lidJid, userOf } from "../../../../src/sandbox/whatsapp/model/Address.ts"
import { SimulatorState } from "../../../../src/sandbox/whatsapp/model/SimulatorState.ts"
import { signalSession } from "../../../../src/sandbox/whatsapp/phones/KeyBundle.ts"
import { makePhoneKeys, PhoneSignal } from "../../../../src/sandbox/whatsapp/phones/PhoneSignal.ts"
import { memoryCredentials } from "../../../support/memoryCredentials.ts"
import { ann, bob } from "../../../support/simulatedSession.ts"

/** The Signal half of a connection of the service, over these credentials. */
const ratchetsOver = (credentials: Credentials, creds: AuthenticationCreds) => {
  const step = new AsyncLocalStorage<BaileysRatchets.StepChanges>()
  const { store, write } = BaileysKeys.make({ credentials, step, run: Effect.runPromise, fail: () => {} })
  const { guarded } = BaileysRatchets.make({ step, commit: (changes) => write([...changes.values()], []) })
  const keys = addTransactionCapability(store, silentLogger, { maxCommitRetries: 1, delayBetweenTriesMs: 0 })
  return guarded(
    DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, silentLogger, () => Promise.resolve([]))
  )
}

/** A phone and the service that exchanges messages with it. */
const makePair = async () => {
  const phone = new PhoneSignal(bob, makePhoneKeys(), (await SimulatorState.open()).shelf("signal"))
  const { credentials } = memoryCredentials()
  const creds = initAuthCreds()
  let own = ratchetsOver(credentials, creds)
  const jid = lidJid(userOf(bob))
  return {
    phone,
    creds,
    /** Encrypts a message of the service. Calling the result makes the phone decrypt it. */
    send: async (text: string) => {
      const { ciphertext, type } = await own.encryptMessage({ jid, data: Buffer.from(text) })
      return () => phone.decrypt(userOf(ann), { bytes: ciphertext, type }, "").then(String)
    },
    /** The other direction. The padding is one byte. */
    write: async (text: string) => {
      const { bytes, type } = await phone.encrypt(userOf(ann), Buffer.from(`${text}\u0001`))
      const enc = type === "msg" ? "msg" : "pkmsg"
      return () => own.decryptMessage({ jid, type: enc, ciphertext: bytes }).then((read) => String(read).slice(0, -1))
    },
    /** Starts new ratchets, as each connection does. */
    renew: () => own.injectE2ESession({ jid, session: signalSession(phone.bundle()) }),
    reconnect: () => {
      own = ratchetsOver(credentials, creds)
    }
  }
}

describe("the ratchets with a device", () => {
  for (const isNew of [false, true]) {
    it(`survive a late message of the previous ratchets${isNew ? " on a new connection" : ""}`, async () => {
      const { reconnect, renew, send, write } = await makePair()
      await renew()
      await (await send("first"))()
      await (await write("answer"))()
      const late = [await write("late"), await write("later")]
      if (isNew) reconnect()
      await renew()
      for (const arrives of late) await arrives()
      assert.strictEqual(await (await send("over the new ones"))(), "over the new ones")
      assert.strictEqual(await (await write("understood"))(), "understood")
      assert.strictEqual(await (await send("and again"))(), "and again")
    })
  }

  it("survive that both sides start a session at the same moment", async () => {
    const { creds, phone, renew, send, write } = await makePair()
    const { registrationId, signedIdentityKey, signedPreKey: { keyId, keyPair, signature } } = creds
    await renew()
    await phone.openSession(userOf(ann), {
      registrationId,
      identity: signedIdentityKey.public,
      signedPreKey: { id: keyId, value: keyPair.public, signature },
      preKey: undefined
    })
    for (let turn = 0; turn < 4; turn++) {
      const [sent, written] = [await send(`out ${turn}`), await write(`in ${turn}`)]
      assert.strictEqual(await sent(), `out ${turn}`)
      assert.strictEqual(await written(), `in ${turn}`)
    }
  })
})
