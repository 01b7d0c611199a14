/** A carrier that answers every submit after a delay, by npm's smpp. It prints its port. */
import smpp from "smpp"
import { inputOf } from "./script.ts"

export interface SlowSmsc {
  readonly afterMillis: number
}

const { afterMillis } = inputOf<SlowSmsc>()

let serial = 0

const server = smpp.createServer((session) => {
  session.on("error", () => session.destroy())
  session.on("bind_transceiver", (pdu) => session.send(pdu.response()))
  session.on("enquire_link", (pdu) => session.send(pdu.response()))
  session.on("submit_sm", (pdu) => {
    setTimeout(() => session.send(pdu.response({ message_id: String(serial++) })), afterMillis)
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(JSON.stringify({ port: typeof address === "object" ? address?.port : 0 }))
})
