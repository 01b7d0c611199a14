/** The simulated WhatsApp in a separate process. On request it restarts on the same port with the same state. */
import { WhatsAppSimulator } from "../../../src/sandbox/whatsapp/WhatsAppSimulator.ts"
import { answerQuestions } from "./peer.ts"

export interface WhatsAppServer {
  readonly port: number
}

/** Both return the number of connected sessions. */
export type WhatsAppOrder = "restart" | "count"

export interface WhatsAppCount {
  readonly connected: number
}

const stored = new Map<string, string>()
const start = (port: number) =>
  WhatsAppSimulator.start({
    now: () => Date.now(),
    port,
    createsPhone: () => true,
    storage: {
      load: async () => new Map(stored),
      save: async (changes) => {
        for (const [name, value] of changes) {
          if (value === null) stored.delete(name)
          else stored.set(name, value)
        }
      }
    }
  })

let simulator = await start(0)
const { port } = simulator

answerQuestions<WhatsAppOrder>({ port } satisfies WhatsAppServer, async (order): Promise<WhatsAppCount> => {
  if (order === "restart") {
    await simulator.stop()
    simulator = await start(port)
  }
  return { connected: simulator.controls.sessions().filter(({ isConnected }) => isConnected).length }
})
