import { Effect, type Scope } from "effect"
import * as NodeDgram from "node:dgram"

/** What a name server knows about a name. A name with none of a type answers "no data", an unknown one "no such name". */
export interface DnsRecords {
  readonly A?: ReadonlyArray<string>
  readonly AAAA?: ReadonlyArray<string>
  readonly CNAME?: string
  readonly TXT?: ReadonlyArray<string>
  readonly MX?: ReadonlyArray<readonly [preference: number, exchange: string]>
}

/** `servfail` answers with that error, `silent` never answers. */
export type DnsAnswer = DnsRecords | "servfail" | "silent"

/** The answer, or a function of how often this type of this name was asked for before (0, 1, ...). */
export type DnsZone = Record<string, DnsAnswer | ((asked: number, type: RecordType) => DnsAnswer)>

type RecordType = keyof typeof typeNumbers

export interface DnsServer {
  /** `127.0.0.1:port`, as resolvers take it. */
  readonly address: string
  readonly port: number
  /** Read at every query: tests change it as they go. */
  readonly zone: DnsZone
  /** `TYPE name` of every query so far. */
  readonly queries: ReadonlyArray<string>
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

const dataOf = (records: DnsRecords, type: RecordType): ReadonlyArray<Buffer> => {
  if (type === "A") return (records.A ?? []).map((address) => Buffer.from(address.split(".").map(Number)))
  if (type === "AAAA") return (records.AAAA ?? []).map(encodeIpv6)
  if (type === "CNAME") return records.CNAME === undefined ? [] : [encodeName(records.CNAME)]
  if (type === "MX") {
    return (records.MX ?? []).map(([preference, exchange]) => Buffer.concat([uint16(preference), encodeName(exchange)]))
  }
  return (records.TXT ?? []).map((text) => {
    const bytes = Buffer.from(text, "utf8")
    const parts = Array.from(
      { length: Math.ceil(bytes.length / 255) || 1 },
      (_, i) => bytes.subarray(i * 255, i * 255 + 255)
    )
    return Buffer.concat(parts.flatMap((part) => [Buffer.from([part.length]), part]))
  })
}

const encodeAnswer = (name: string, type: RecordType, data: Buffer): Buffer =>
  Buffer.concat([encodeName(name), uint16(typeNumbers[type]), uint16(1), Buffer.alloc(4), uint16(data.length), data])

/** An answer to the query with these records or, in their place, an error code. */
const respond = (query: Buffer, questionEnd: number, found: ReadonlyArray<Buffer> | number): Buffer => {
  const [code, answers] = typeof found === "number" ? [found, []] : [0, found]
  return Buffer.concat([
    query.subarray(0, 2),
    uint16(0x8180 | code),
    uint16(1),
    uint16(answers.length),
    Buffer.alloc(4),
    query.subarray(12, questionEnd),
    ...answers
  ])
}

/** The records asked for, behind the chain of CNAMEs that leads to them, as a recursive server gives them. */
const follow = (
  zone: (name: string) => DnsAnswer | undefined,
  name: string,
  type: RecordType
): Array<Buffer> | number => {
  const known = zone(name)
  if (known === undefined) return 3
  if (typeof known === "string") return 2
  if (known.CNAME === undefined || type === "CNAME") {
    return dataOf(known, type).map((data) => encodeAnswer(name, type, data))
  }
  const rest = follow(zone, known.CNAME, type)
  return [encodeAnswer(name, "CNAME", encodeName(known.CNAME)), ...(typeof rest === "number" ? [] : rest)]
}

const open = (onQuery: (query: Buffer) => Buffer | undefined) =>
  Effect.callback<NodeDgram.Socket>((resume) => {
    const socket = NodeDgram.createSocket("udp4")
    socket.on("message", (query, from) => {
      const answer = onQuery(query)
      if (answer !== undefined) socket.send(answer, from.port, from.address)
    })
    socket.bind(0, "127.0.0.1", () => resume(Effect.succeed(socket)))
  })

const close = (socket: NodeDgram.Socket) =>
  Effect.callback<void>((resume) => {
    socket.close(() => resume(Effect.void))
  })

/** A small real name server on a loopback UDP port, closed with the scope. Answers live for no time. */
export const makeDnsServer = (zone: DnsZone): Effect.Effect<DnsServer, never, Scope.Scope> => {
  const queries: Array<string> = []
  const look = (type: RecordType) => (name: string): DnsAnswer | undefined => {
    const entry = zone[name]
    const asked = queries.filter((query) => query === `${type} ${name}`).length - 1
    return typeof entry === "function" ? entry(asked, type) : entry
  }
  const onQuery = (query: Buffer): Buffer | undefined => {
    const { end, name } = decodeName(query, 12)
    const type = typeNames.get(query.readUInt16BE(end))
    if (type === undefined) return respond(query, end + 4, [])
    queries.push(`${type} ${name}`)
    const known = look(type)(name)
    if (known === "silent") return undefined
    return respond(query, end + 4, follow((other) => other === name ? known : look(type)(other), name, type))
  }
  return Effect.acquireRelease(open(onQuery), close).pipe(
    Effect.map((socket) => {
      const { port } = socket.address()
      return { address: `127.0.0.1:${port}`, port, zone, queries }
    })
  )
}
