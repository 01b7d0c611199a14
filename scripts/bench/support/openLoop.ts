/**
 * Posts by the clock from a separate process, whether or not earlier requests have been answered, and receives the events
 * that follow. A request's time begins when it is due: waiting for a free connection counts.
 */
import * as NodeNet from "node:net"
import { html, subject } from "./mail.ts"
import { answerQuestions } from "./peer.ts"
import { percentiles } from "./percentiles.ts"

/** Where events arrive. */
export interface Receiver {
  readonly port: number
}

/** One run of requests. */
export interface Run {
  readonly port: number
  readonly key: string
  /** A bulk email to so many recipients, or a single email. */
  readonly recipients: number | "single"
  readonly perSecond: number
  readonly seconds: number
  readonly maxConnections: number
  /** Whether it waits for the event of the first recipient of each accepted request. */
  readonly awaitsEvents: boolean
}

/** The answers by status, and milliseconds. */
export interface Ran {
  readonly statuses: Readonly<Record<string, number>>
  readonly accepted: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly events: { readonly p50: number; readonly p99: number }
  /** The first recipient of each accepted request, and the nanosecond of the monotonic clock when it was due. */
  readonly began: ReadonlyArray<readonly [string, number]>
}

interface Request {
  readonly to: string
  readonly dueAt: number
}

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

let made = 0
let eventAt = new Map<string, number>()

const receive = (socket: NodeNet.Socket) => {
  let received = ""
  let firstByteAt = 0
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.on("data", (chunk) => {
    if (received === "") firstByteAt = performance.now()
    received += chunk.toString("latin1")
    while (true) {
      const headEnd = received.indexOf("\r\n\r\n")
      if (headEnd < 0) return
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? "0")
      if (received.length < headEnd + 4 + length) return
      const to = /"to":"(single[^"]*)"/.exec(received.slice(headEnd, headEnd + 4 + length))?.[1]
      if (to !== undefined && !eventAt.has(to)) eventAt.set(to, firstByteAt)
      received = received.slice(headEnd + 4 + length)
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    }
  })
}

const bodyOf = ({ recipients }: Run, to: string) => {
  const variables = { name: "Ana", order: made }
  if (recipients === "single") {
    const filled = (text: string) => text.replaceAll("{{name}}", "Ana").replaceAll("{{order}}", String(made))
    return { to, subject: filled(subject), html: filled(html) }
  }
  const others = Array.from(
    { length: recipients - 1 },
    (_, index) => ({ to: `ana${index}@recipient.example`, variables })
  )
  return { subject, html, recipients: [{ to, variables }, ...others] }
}

const textOf = (run: Run, to: string) => {
  const body = JSON.stringify(bodyOf(run, to))
  const path = run.recipients === "single" ? "/v1/email/send" : "/v1/email/send-bulk"
  return [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${run.port}`,
    `Authorization: Bearer ${run.key}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body
  ].join("\r\n")
}

/** Sends requests over at most so many connections. */
const makeClient = (run: Run, answered: (request: Request, status: string) => void) => {
  const idle: Array<(request: Request) => void> = []
  const waiting: Array<Request> = []
  let open = 0
  let next = 0

  const connect = (first: Request) => {
    open++
    // The node limits the connections of an address.
    const localAddress = `127.0.0.${1 + open % 4}`
    const socket = NodeNet.connect({ port: run.port, host: "127.0.0.1", localAddress }).setNoDelay(true)
    let received = ""
    let current: Request | undefined
    const send = (request: Request) => {
      current = request
      socket.write(textOf(run, request.to))
    }
    const free = () => {
      current = undefined
      if (next < waiting.length) send(waiting[next++] ?? first)
      else idle.push(send)
    }
    socket.on("connect", () => send(first))
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1")
      const headEnd = received.indexOf("\r\n\r\n")
      if (headEnd < 0) return
      const head = received.slice(0, headEnd)
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? "0")
      if (received.length < headEnd + 4 + length) return
      received = received.slice(headEnd + 4 + length)
      if (current !== undefined) answered(current, head.slice(9, 12))
      if (/\r\nconnection: *close/i.test(head)) {
        current = undefined
        socket.destroy()
      } else free()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      open--
      const at = idle.indexOf(send)
      if (at >= 0) idle.splice(at, 1)
      if (current !== undefined) answered(current, "lost")
      if (next < waiting.length) connect(waiting[next++] ?? first)
    })
  }

  return (request: Request) => {
    const send = idle.pop()
    if (send !== undefined) send(request)
    else if (open < run.maxConnections) connect(request)
    else waiting.push(request)
  }
}

const runOnce = async (run: Run): Promise<Ran> => {
  const statuses: Record<string, number> = {}
  const took: Array<number> = []
  const accepted: Array<Request> = []
  const count = Math.round(run.perSecond * run.seconds)
  let answers = 0
  eventAt = new Map()
  const send = makeClient(run, (request, status) => {
    answers++
    statuses[status] = (statuses[status] ?? 0) + 1
    if (!status.startsWith("2")) return
    took.push(performance.now() - request.dueAt)
    accepted.push(request)
  })
  const beganAt = performance.now()
  const offset = Number(process.hrtime.bigint()) - beganAt * 1e6
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.floor((performance.now() - beganAt) / 1000 * run.perSecond) + 1)
    for (; sent < due; sent++) {
      send({ to: `single${++made}@recipient.example`, dueAt: beganAt + sent * 1000 / run.perSecond })
    }
    await wait(1)
  }
  const patientUntil = performance.now() + 30_000
  while (answers < count && performance.now() < patientUntil) await wait(20)
  const missing = () => run.awaitsEvents && accepted.some(({ to }) => !eventAt.has(to))
  while (missing() && performance.now() < patientUntil) await wait(50)
  const events = accepted.flatMap(({ dueAt, to }) => {
    const at = eventAt.get(to)
    return at === undefined ? [] : [at - dueAt]
  })
  if (answers < count) statuses["none"] = count - answers
  return {
    statuses,
    accepted: percentiles(took),
    events: percentiles(events),
    began: accepted.map(({ dueAt, to }) => [to, dueAt * 1e6 + offset] as const)
  }
}

const server = NodeNet.createServer(receive)
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  answerQuestions<Run>({ port: typeof address === "object" ? address?.port : 0 }, runOnce)
})
