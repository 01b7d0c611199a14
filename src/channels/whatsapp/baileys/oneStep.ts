/** The library's form of the ratchets with one device, of which a few are kept, each by its base key. */
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

/** Differs after every step, for any step counts something. */
const standOf = ({ _chains, currentRatchet }: Ratchet) =>
  Object.values(_chains).reduce(
    (stand, { chainKey, messageKeys }) => `${stand} ${chainKey.counter}/${Object.keys(messageKeys).length}`,
    currentRatchet.rootKey
  )

/**
 * What a step makes of the ratchets with a device. The library tries a message on one of them after the other, the last
 * used first, and keeps what each try has changed, which ruins those that the message was not for: when a message of the
 * ratchet before it comes across a new one, nothing that is sent over the new one could be read. No step is made on more
 * than one ratchet, and that is the last that was tried: the others are put back.
 */
export const oneStep = (before: unknown, after: unknown): unknown => {
  if (!isSessionRecord(before) || !isSessionRecord(after)) return after
  const was = Object.entries(before._sessions)
  if (was.length < 2) return after
  const stepped = was.toSorted(([, a], [, b]) => (b.indexInfo.used ?? 0) - (a.indexInfo.used ?? 0))
    .filter(([key, ratchet]) => {
      const now = after._sessions[key]
      return now !== undefined && standOf(now) !== standOf(ratchet)
    })
  if (stepped.length < 2) return after
  return { ...after, _sessions: { ...after._sessions, ...Object.fromEntries(stepped.slice(0, -1)) } }
}
