/**
 * Sessions of the bare library with credentials in memory, as one would write them without the service. They pair, send
 * in a loop, and reconnect a second after their connection ends.
 */
import { remoteControls } from "../../../src/sandbox/whatsapp/control/ControlClient.ts"
import { BaileysClient, MemoryAuth } from "../../../test/support/baileysClient.ts"
import { type Memory, memoryGivenBack } from "./memory.ts"
import { answerQuestions } from "./peer.ts"
import { inputOf } from "./script.ts"

export interface WhatsAppLoop {
  readonly port: number
}

/** Pair this many more sessions, send this many texts with the first one, or measure the memory. */
export type LoopOrder =
  | { readonly _tag: "Pair"; readonly count: number }
  | { readonly _tag: "Send"; readonly count: number; readonly to: ReadonlyArray<string> }
  | { readonly _tag: "Memory" }

export interface LoopAnswer extends Partial<Memory> {
  readonly perSecond?: number
}

const { port } = inputOf<WhatsAppLoop>()
const url = `ws://127.0.0.1:${port}/ws/chat`
const controls = remoteControls(`http://127.0.0.1:${port}`)
const sessions: Array<BaileysClient> = []
let number = 15_551_000_000

const pause = 1_000

/** A crowd of sessions on one machine takes its time. */
const patience = "300 seconds"

const stay = (index: number, auth: MemoryAuth, delay: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(() => {
      const client = new BaileysClient(auth, { url })
      sessions[index] = client
      void client.until(() => client.isOpen, patience).then(resolve)
      void client.closed.then(() => stay(index, auth, pause))
    }, delay)
  })

const pair = async () => {
  const auth = new MemoryAuth()
  const client = new BaileysClient(auth, { url })
  await client.until(() => client.qr !== undefined, patience)
  const phone = await controls.createPhone(String(++number), "Bare")
  await controls.scan(client.qr ?? "", phone.number)
  await client.closed
  await stay(sessions.length, auth, 0)
}

const send = async (count: number, to: ReadonlyArray<string>) => {
  const [client] = sessions
  if (client === undefined) throw new Error("no session is paired")
  client.acks.splice(0)
  const startedAt = performance.now()
  for (let index = 0; index < count; index++) {
    await client.socket.sendMessage(`${to[index % to.length]}@s.whatsapp.net`, { text: `Hello ${index}` })
  }
  await client.until(() => client.acks.length >= count, patience)
  return { perSecond: count / ((performance.now() - startedAt) / 1000) }
}

answerQuestions<LoopOrder>({}, async (order): Promise<LoopAnswer> => {
  switch (order._tag) {
    case "Pair":
      for (let index = 0; index < order.count; index++) await pair()
      return {}
    case "Send":
      return send(order.count, order.to)
    case "Memory":
      return memoryGivenBack()
  }
})
