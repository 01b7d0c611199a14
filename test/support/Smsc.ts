import { Effect, type Scope } from "effect"
import type * as NodeNet from "node:net"
import smpp, { type PDU, type Session } from "smpp"
import { Changes } from "./Changes.ts"

/** A received submit_sm. */
export interface Submit {
  readonly from: string
  /** Without a plus sign. */
  readonly to: string
  readonly esmClass: number
  readonly dataCoding: number
  readonly registered: number
  /** The text as the library decodes it. */
  readonly text: string
  /** Reference, number of parts and number of this part; undefined for a single part. */
  readonly joined: readonly [reference: number, parts: number, part: number] | undefined
  readonly arrivedAtMillis: number
  readonly session: number
}

/** The carrier's answer to a submit. */
export interface SmscAnswer {
  readonly status?: number
  readonly id?: string
  readonly afterMillis?: number
  /** No answer at all. */
  readonly never?: boolean
  /** Receipts in order; they precede the answer if `before` is set. */
  readonly receipts?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly before?: boolean
  /** Answers with a wrong sequence number. */
  readonly wrongSequence?: boolean
}

type Script = (submit: Submit, index: number) => SmscAnswer

/** A receipt in the most common format. */
export const receiptText = (id: string, stat = "DELIVRD", err = "000") => ({
  esm_class: 0x04,
  short_message:
    `id:${id} sub:001 dlvrd:001 submit date:2611210903 done date:2611210904 stat:${stat} err:${err} text:Hello`
})

/** The library splits the header; an element is its octets after the total length. */
const contentOf = (pdu: PDU): Pick<Submit, "text" | "joined"> => {
  const short = Object(pdu["short_message"]) as { readonly message?: unknown; readonly udh?: ReadonlyArray<Buffer> }
  const [element] = short.udh ?? []
  const text = String(short.message ?? "")
  return { text, joined: element === undefined ? undefined : [element[2] ?? 0, element[3] ?? 0, element[4] ?? 0] }
}

/** As what a session is bound. */
type Role = "transceiver" | "transmitter" | "receiver"

class Recorder {
  readonly submits: Array<Submit> = []
  readonly sessions: Array<Session> = []
  readonly delivered: Array<number> = []
  readonly changes = new Changes(() => ({
    binds: this.binds,
    bound: this.bound.size,
    delivered: this.delivered,
    submits: this.submits.slice(-10)
  }))
  binds = 0
  readonly bound = new Map<Session, Role>()
  readonly systemTypes = new Set<string>()
  script: Script = () => ({})
  bindStatus = 0
  readonly roles: ReadonlyArray<Role>

  constructor(script: Script, roles: ReadonlyArray<Role>) {
    this.script = script
    this.roles = roles
  }

  /** The newest session that takes receipts. */
  get receiver(): Session | undefined {
    return [...this.bound].findLast(([, role]) => role !== "transmitter")?.[0]
  }

  readonly onSession = (session: Session) => {
    const number = this.sessions.push(session)
    session.on("error", () => session.destroy())
    session.on("close", () => {
      this.bound.delete(session)
      this.changes.notify()
    })
    for (const role of this.roles) {
      session.on(`bind_${role}`, (pdu: PDU) => {
        this.binds++
        this.systemTypes.add(String(pdu["system_type"]))
        if (this.bindStatus === 0) this.bound.set(session, role)
        session.send(pdu.response({ command_status: this.bindStatus, system_id: "smsc" }))
        this.changes.notify()
      })
    }
    session.on("enquire_link", (pdu: PDU) => session.send(pdu.response()))
    session.on("unbind", (pdu: PDU) => {
      session.send(pdu.response())
      session.close()
    })
    session.on("submit_sm", (pdu: PDU) => this.#submitted(session, number, pdu))
  }

  #submitted(session: Session, number: number, pdu: PDU) {
    if (this.bound.get(session) === "receiver") return void session.send(pdu.response({ command_status: 0x04 }))
    const submit: Submit = {
      from: String(pdu["source_addr"]),
      to: String(pdu["destination_addr"]),
      esmClass: Number(pdu["esm_class"]),
      dataCoding: Number(pdu["data_coding"]),
      registered: Number(pdu["registered_delivery"]),
      ...contentOf(pdu),
      arrivedAtMillis: performance.now(),
      session: number
    }
    const index = this.submits.push(submit) - 1
    const {
      afterMillis = 0,
      before = false,
      id = `id-${index}`,
      never = false,
      receipts = [],
      status = 0,
      wrongSequence
    } = this.script(submit, index)
    const sendReceipts = () => {
      for (const receipt of receipts) {
        const addressed = { source_addr: submit.to, destination_addr: submit.from, data_coding: 0, ...receipt }
        this.receiver?.deliver_sm(addressed, (response) => {
          this.delivered.push(response.command_status)
          this.changes.notify()
        })
      }
    }
    if (before) sendReceipts()
    this.changes.notify()
    if (never) return
    const answer = () => {
      const response = pdu.response({ command_status: status, message_id: id })
      if (wrongSequence === true) Object.assign(response, { sequence_number: pdu.sequence_number + 1_000 })
      session.send(response)
      if (!before) sendReceipts()
    }
    if (afterMillis === 0) answer()
    else setTimeout(answer, afterMillis)
  }
}

/** A carrier that speaks SMPP by an independent library, npm's smpp: it records submits and answers by a script. */
export interface Smsc {
  /** For SMPP_URL. */
  readonly url: string
  readonly port: number
  readonly submits: ReadonlyArray<Submit>
  /** Statuses of our answers to receipts. */
  readonly delivered: ReadonlyArray<number>
  /** `binds` counts all binds so far, `bound` the current ones. */
  readonly binds: () => number
  readonly bound: () => number
  /** The different `system_type`s of all binds so far. */
  readonly systemTypes: ReadonlySet<string>
  readonly answer: (script: Script) => void
  readonly refuseBinds: (status: number) => void
  /** Sends a deliver_sm over the newest session that takes it. */
  readonly deliver: (fields: Readonly<Record<string, unknown>>) => void
  /** Breaks every connection, or those of one role. */
  readonly cut: Effect.Effect<void>
  readonly cutOnly: (role: Role) => Effect.Effect<void>
  readonly roles: () => ReadonlyArray<Role>
  readonly until: (is: (smsc: Smsc) => boolean, within?: `${number} seconds`) => Effect.Effect<void>
}

/** A carrier on a free port that allows binds of some roles, closed with the scope. */
export const makeSmsc = (
  script: Script = () => ({}),
  roles: ReadonlyArray<Role> = ["transceiver"]
): Effect.Effect<Smsc, never, Scope.Scope> =>
  Effect.gen(function*() {
    const recorder = new Recorder(script, roles)
    const server = yield* Effect.acquireRelease(
      Effect.callback<NodeNet.Server>((resume) => {
        const opened = smpp.createServer(recorder.onSession)
        opened.listen(0, "127.0.0.1", () => resume(Effect.succeed(opened)))
      }),
      (opened) =>
        Effect.callback<void>((resume) => {
          opened.close(() => resume(Effect.void))
          for (const session of recorder.sessions) session.destroy()
        })
    )
    const address = server.address()
    const listening = typeof address === "object" && address !== null ? address.port : 0
    const smsc: Smsc = {
      url: `smpp://test:secret@127.0.0.1:${listening}`,
      port: listening,
      submits: recorder.submits,
      delivered: recorder.delivered,
      binds: () => recorder.binds,
      bound: () => recorder.bound.size,
      systemTypes: recorder.systemTypes,
      answer: (next) => {
        recorder.script = next
      },
      refuseBinds: (status) => {
        recorder.bindStatus = status
      },
      deliver: (fields) => {
        recorder.receiver?.deliver_sm(fields, ({ command_status }) => {
          recorder.delivered.push(command_status)
          recorder.changes.notify()
        })
      },
      cut: Effect.sync(() => {
        for (const session of recorder.sessions) session.destroy()
      }),
      cutOnly: (role) =>
        Effect.sync(() => {
          for (const [session, bound] of recorder.bound) if (bound === role) session.destroy()
        }),
      roles: () => [...recorder.bound.values()],
      until: (is, within) => recorder.changes.until(() => is(smsc), within)
    }
    return smsc
  })
