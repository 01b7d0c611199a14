import { Effect, type Scope } from "effect"
import * as NodeDgram from "node:dgram"
import * as NodeNet from "node:net"

/** A name's records. A missing type answers "no data", an unknown name "no such name". */
export interface DnsRecords {
  readonly A?: ReadonlyArray<string>
  readonly AAAA?: ReadonlyArray<string>
  readonly CNAME?: string
  /** A text is split into strings of 255 bytes; an array keeps its strings. */
  readonly TXT?: ReadonlyArray<string | ReadonlyArray<string>>
  readonly MX?: ReadonlyArray<readonly [preference: number, exchange: string]>
}

/** `servfail` and `refused` answer with that error, `silent` never answers. */
export type DnsAnswer = DnsRecords | "servfail" | "refused" | "silent"

/** The answer, or a function of how often this type of this name was queried before (0, 1, ...). */
export type DnsZone = Record<string, DnsAnswer | ((asked: number, type: RecordType) => DnsAnswer)>

type RecordType = keyof typeof typeNumbers

export interface DnsServer {
  /** `127.0.0.1:port`, the format of resolvers. */
  readonly address: string
  readonly port: number
  /** Read at every query, so tests can change it at any time. */
  readonly zone: DnsZone
  /** `TYPE name` of every query so far. A client repeats one whose answer is slow; it counts once. */
  readonly queries: ReadonlyArray<string>
  /** The queries among them that came over TCP, because UDP answers are cut at 512 bytes. */
  readonly overTcp: ReadonlyArray<string>
}

const typeNumbers = { A: 1, CNAME: 5, MX: 15, TXT: 16, AAAA: 28 } as const
const typeNames = new Map<number, RecordType>([[1, "A"], [5, "CNAME"], [15, "MX"], [16, "TXT"], [28, "AAAA"]])

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").filter((label) => label !== "").map((label) =>
      Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "ascii")])
    ),
    Buffer.from([0])
  ])

const decodeName = (packet: Buffer, start: number): { readonly name: string; readonly end: number } => {
  const labels: Array<string> = []
  let at = start
  for (let length = packet[at] ?? 0; length !== 0; length = packet[at] ?? 0) {
    labels.push(packet.toString("ascii", at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 }
}

const encodeIpv6 = (address: string): Buffer => {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const hex = dotted === null ? address : dotted[1]
    + [[2, 3], [4, 5]].map(([a = 0, b = 0]) => ((Number(dotted[a]) << 8) | Number(dotted[b])).toString(16)).join(":")
  const [head = "", tail] = hex.split("::").map((half) => half.split(":").filter((part) => part !== "")).map((parts) =>
    parts.join(":")
  )
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return Buffer.concat([...before, ...zeros, ...after].map((group) => uint16(Number.parseInt(group, 16))))
}

const stringsOf = (text: string | ReadonlyArray<string>): ReadonlyArray<Buffer> => {
  if (typeof text !== "string") return text.map((part) => Buffer.from(part, "utf8"))
  const bytes = Buffer.from(text, "utf8")
  return Array.from({ length: Math.ceil(bytes.length / 255) || 1 }, (_, i) => bytes.subarray(i * 255, i * 255 + 255))
}

const dataOf = (records: DnsRecords, type: RecordType): ReadonlyArray<Buffer> => {
  if (type === "A") return (records.A ?? []).map((address) => Buffer.from(address.split(".").map(Number)))
  if (type === "AAAA") return (records.AAAA ?? []).map(encodeIpv6)
  if (type === "CNAME") return records.CNAME === undefined ? [] : [encodeName(records.CNAME)]
  if (type === "MX") {
    return (records.MX ?? []).map(([preference, exchange]) => Buffer.concat([uint16(preference), encodeName(exchange)]))
  }
  return (records.TXT ?? []).map((text) =>
    Buffer.concat(stringsOf(text).flatMap((part) => [Buffer.from([part.length]), part]))
  )
}

const encodeAnswer = (name: string, type: RecordType, data: Buffer): Buffer =>
  Buffer.concat([encodeName(name), uint16(typeNumbers[type]), uint16(1), Buffer.alloc(4), uint16(data.length), data])

interface Found {
  /** 0, or the error code: 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED. */
  readonly code: number
  readonly answers: ReadonlyArray<Buffer>
}

const codes = { servfail: 2, refused: 5, silent: 2 } as const

const truncated = 0x0200

const respond = (query: Buffer, questionEnd: number, { answers, code }: Found, flags = 0): Buffer =>
  Buffer.concat([
    query.subarray(0, 2),
    uint16(0x8180 | flags | code),
    uint16(1),
    uint16(answers.length),
    Buffer.alloc(4),
    query.subarray(12, questionEnd),
    ...answers
  ])

/**
 * The requested records with the chain of CNAMEs before them, like a recursive server; a chain that ends in an unknown
 * name is NXDOMAIN with the chain.
 */
const follow = (zone: (name: string) => DnsAnswer | undefined, name: string, type: RecordType): Found => {
  const known = zone(name)
  if (known === undefined) return { code: 3, answers: [] }
  if (typeof known === "string") return { code: codes[known], answers: [] }
  if (known.CNAME === undefined || type === "CNAME") {
    return { code: 0, answers: dataOf(known, type).map((data) => encodeAnswer(name, type, data)) }
  }
  const { answers, code } = follow(zone, known.CNAME, type)
  return { code, answers: [encodeAnswer(name, "CNAME", encodeName(known.CNAME)), ...answers] }
}

/** Returns the answer, or undefined for none. */
type OnQuery = (query: Buffer, isTcp: boolean) => Buffer | undefined

const listen = (onQuery: OnQuery, sockets: Set<NodeNet.Socket>) =>
  Effect.callback<NodeNet.Server>((resume) => {
    const server = NodeNet.createServer((socket) => {
      let received = Buffer.alloc(0)
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("data", (chunk) => {
        received = Buffer.concat([received, chunk])
        while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
          const end = 2 + received.readUInt16BE(0)
          const answer = onQuery(received.subarray(2, end), true)
          received = received.subarray(end)
          if (answer !== undefined) socket.write(Buffer.concat([uint16(answer.length), answer]))
        }
      })
    })
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  })

/** Fails when another process has the UDP port. */
const bind = (port: number, onQuery: OnQuery) =>
  Effect.callback<NodeDgram.Socket, "taken">((resume) => {
    const socket = NodeDgram.createSocket("udp4")
    socket.on("error", () => resume(Effect.fail("taken")))
    socket.on("message", (query, from) => {
      const answer = onQuery(query, false)
      if (answer !== undefined) socket.send(answer, from.port, from.address)
    })
    socket.bind(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
  })

/** Opens TCP and UDP on one port. */
const open = (onQuery: OnQuery) =>
  Effect.gen(function*() {
    const sockets = new Set<NodeNet.Socket>()
    const tcp = yield* listen(onQuery, sockets)
    const close = Effect.callback<void>((resume) => {
      for (const socket of sockets) socket.destroy()
      tcp.close(() => resume(Effect.void))
    })
    const { port } = tcp.address() as NodeNet.AddressInfo // it listens on a port
    const udp = yield* Effect.tapError(bind(port, onQuery), () => close)
    return { port, udp, close }
  }).pipe(Effect.eventually)

const close = ({ close, udp }: { readonly udp: NodeDgram.Socket; readonly close: Effect.Effect<void> }) =>
  Effect.andThen(
    close,
    Effect.callback<void>((resume) => {
      udp.close(() => resume(Effect.void))
    })
  )

/** A real name server on a loopback port, over UDP and TCP, closed with the scope. Its answers have a TTL of 0. */
export const makeDnsServer = (zone: DnsZone): Effect.Effect<DnsServer, never, Scope.Scope> => {
  const all: Array<string> = []
  const queries: Array<string> = []
  const overTcp: Array<string> = []
  const seen = new Set<string>()
  const look = (type: RecordType) => (name: string): DnsAnswer | undefined => {
    const entry = zone[name]
    const asked = all.filter((query) => query === `${type} ${name}`).length - 1
    return typeof entry === "function" ? entry(asked, type) : entry
  }
  const onQuery: OnQuery = (query, isTcp) => {
    const { end, name } = decodeName(query, 12)
    const type = typeNames.get(query.readUInt16BE(end))
    if (type === undefined) return respond(query, end + 4, { code: 0, answers: [] })
    all.push(`${type} ${name}`)
    const key = `${query.readUInt16BE(0)} ${type} ${name}`
    if (!seen.has(key)) queries.push(`${type} ${name}`)
    if (isTcp && !seen.has(`${key} over TCP`)) overTcp.push(`${type} ${name}`)
    seen.add(isTcp ? `${key} over TCP` : key)
    const known = look(type)(name)
    if (known === "silent") return undefined
    const found = follow((other) => other === name ? known : look(type)(other), name, type)
    const answer = respond(query, end + 4, found)
    return isTcp || answer.length <= 512 ? answer : respond(query, end + 4, { ...found, answers: [] }, truncated)
  }
  return Effect.acquireRelease(open(onQuery), close).pipe(
    Effect.map(({ port }) => ({ address: `127.0.0.1:${port}`, port, zone, queries, overTcp }))
  )
}
