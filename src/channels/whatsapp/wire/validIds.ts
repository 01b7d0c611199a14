import type { Stanza } from "./Stanza.ts"

/** What ids, numbers and hidden numbers look like, however WhatsApp makes them; all of it fits into columns and indexes. */
const sound = /^[ -~]{0,255}$/

/** Whether this can be an id or an address: a server that lies may send what the database refuses. */
export const isSoundName = (name: string): boolean => sound.test(name)

const names = ["id", "from", "recipient", "participant", "sender", "peer_recipient"].flatMap((name) => [
  name,
  `${name}_lid`,
  `${name}_pn`
])

/** Whether a stanza's id can be one, and whoever it names. */
export const hasSoundNames = ({ attrs }: Stanza): boolean => names.every((name) => isSoundName(attrs[name] ?? ""))
