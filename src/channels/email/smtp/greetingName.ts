import * as NodeOs from "node:os"

const isFull = (host: string) => host.includes(".") && !/^[\d.]+$/.test(host)

/** What the engine says in EHLO: the setting HELO_NAME or the machine's own name; undefined: only an address literal. */
export const greetingName = (configured: string | undefined, host: string = NodeOs.hostname()): string | undefined =>
  configured ?? (isFull(host) ? host : undefined)
