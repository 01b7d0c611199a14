/** The parts of npm's smpp that the tests use; the package has no types. */
declare module "smpp" {
  import type { EventEmitter } from "node:events"
  import type { Server as NetServer, Socket } from "node:net"

  export interface PDU {
    readonly command: string
    readonly command_status: number
    readonly sequence_number: number
    readonly [field: string]: unknown
    response(fields?: Readonly<Record<string, unknown>>): PDU
  }

  export interface Session extends EventEmitter {
    readonly socket: Socket
    send(pdu: PDU, onResponse?: (response: PDU) => void): boolean
    deliver_sm(fields: Readonly<Record<string, unknown>>, onResponse?: (response: PDU) => void): boolean
    submit_sm(fields: Readonly<Record<string, unknown>>, onResponse?: (response: PDU) => void): boolean
    bind_transceiver(fields: Readonly<Record<string, unknown>>, onResponse?: (response: PDU) => void): boolean
    enquire_link(onResponse?: (response: PDU) => void): boolean
    close(): void
    destroy(): void
  }

  export interface Server extends NetServer {
    readonly sessions: ReadonlyArray<Session>
  }

  const smpp: {
    readonly createServer: (onSession: (session: Session) => void) => Server
    readonly connect: (to: { readonly host: string; readonly port: number }) => Session
  }
  export default smpp
}
