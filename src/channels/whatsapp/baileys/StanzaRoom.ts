import { childrenOf, type Stanza } from "../wire/Stanza.ts"

/** Bytes that an element takes in memory besides its content, with its attributes. */
const elementBytes = 500

/** About the memory of a stanza in bytes. */
export const bytesOf = (stanza: Stanza): number => {
  const children = childrenOf(stanza)
  const content = children.length === 0 ? stanza.content?.length ?? 0 : 0
  return children.reduce((sum, child) => sum + bytesOf(child), elementBytes + content)
}

/** The room of one connection. */
export interface ConnectionRoom {
  /** False if there is no room for so many bytes. A connection always has room for one message. */
  readonly take: (bytes: number) => boolean
  readonly free: (bytes: number) => void
}

/**
 * Limits the memory of received messages that wait on a node, in bytes. One connection has at most `share` of it, so that
 * the senders to one session cannot use up the room of the others.
 */
export const make = ({ share, total }: { readonly share: number; readonly total: number }) => {
  let all = 0
  const connection = (): ConnectionRoom => {
    let own = 0
    return {
      take: (bytes) => {
        if (own > 0 && (own + bytes > share || all + bytes > total)) return false
        own += bytes
        all += bytes
        return true
      },
      free: (bytes) => {
        own -= bytes
        all -= bytes
      }
    }
  }
  return { connection }
}
