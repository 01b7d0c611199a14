/** The library's record of the ratchets with one device. It keeps a few, each by its base key. */
interface SessionRecord {
  readonly _sessions: { readonly [baseKey: string]: Ratchet }
}

interface Ratchet {
  readonly currentRatchet: { readonly rootKey: string }
  readonly indexInfo: { readonly used?: number | undefined }
  readonly _chains: {
    readonly [key: string]: { readonly chainKey: { readonly counter: number }; readonly messageKeys: object }
  }
}

const isSessionRecord = (value: unknown): value is SessionRecord =>
  typeof value === "object" && value !== null && "_sessions" in value

/** Differs after every step, because each step changes a counter. */
const fingerprint = ({ _chains, currentRatchet }: Ratchet) =>
  Object.values(_chains).reduce(
    (text, { chainKey, messageKeys }) => `${text} ${chainKey.counter}/${Object.keys(messageKeys).length}`,
    currentRatchet.rootKey
  )

/**
 * Keeps the step of one ratchet only. The library tries to decrypt a message with each ratchet of a device, the last used
 * first, and stores the changes of every try. That ruins the ratchets that the message was not for: a late message of an
 * old ratchet would make all messages of the new one unreadable. The last ratchet tried is the right one, so this
 * restores the others.
 */
export const keepSingleRatchetStep = (before: unknown, after: unknown): unknown => {
  if (!isSessionRecord(before) || !isSessionRecord(after)) return after
  const previous = Object.entries(before._sessions)
  if (previous.length < 2) return after
  const stepped = previous.toSorted(([, a], [, b]) => (b.indexInfo.used ?? 0) - (a.indexInfo.used ?? 0))
    .filter(([key, ratchet]) => {
      const now = after._sessions[key]
      return now !== undefined && fingerprint(now) !== fingerprint(ratchet)
    })
  if (stepped.length < 2) return after
  return { ...after, _sessions: { ...after._sessions, ...Object.fromEntries(stepped.slice(0, -1)) } }
}
