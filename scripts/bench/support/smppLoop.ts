/** Submits to a carrier as fast as the window allows, by npm's smpp alone. */
import smpp from "smpp"
import { inputOf } from "./script.ts"

export interface SmppLoop {
  readonly port: number
  readonly window: number
  readonly submits: number
}

const { port, submits, window } = inputOf<SmppLoop>()

const session = smpp.connect({ host: "127.0.0.1", port })
const fields = { source_addr: "Bench", destination_addr: "250788123456", data_coding: 0, short_message: "Hello" }
let begun = 0
let ended = 0
let startedAt = 0

const submit = () => {
  if (begun >= submits) return
  begun++
  session.submit_sm(fields, () => {
    if (++ended < submits) return submit()
    console.log(JSON.stringify({ perSecond: submits / ((performance.now() - startedAt) / 1000) }))
    process.exit(0)
  })
}

session.on("connect", () => {
  session.bind_transceiver({ system_id: "bench", password: "bench" }, () => {
    startedAt = performance.now()
    for (let each = 0; each < window; each++) submit()
  })
})
