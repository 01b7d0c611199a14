/**
 * The simulated WhatsApp as a separate process, for tests that kill nodes: `node test/support/whatsAppProcess.ts [PORT]
 * [NUMBER...]`. It has a phone for each number, prints `{"port":PORT}` when ready, and ends with SIGTERM. Clients connect
 * to `ws://127.0.0.1:PORT/ws/chat`; `Controls` are called at `POST /control/VERB` with a JSON array of arguments, see
 * `remoteControls`.
 */
import { WhatsAppSimulator } from "../../src/sandbox/whatsapp/WhatsAppSimulator.ts"

const [port = "0", ...numbers] = process.argv.slice(2)
const simulator = await WhatsAppSimulator.start({ now: () => Date.now(), port: Number(port) })
for (const number of numbers) simulator.controls.createPhone(number, `+${number}`)
console.log(JSON.stringify({ port: simulator.port }))
process.once("SIGTERM", () => void simulator.stop().then(() => process.exit(0)))
