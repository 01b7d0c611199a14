const lifetime = 6 * 60 * 60 * 1000
const most = 2000

/**
 * Which devices the contacts of a session have, for six hours. The library's own cache forgets them after five minutes,
 * and each time it asks again it makes new Signal sessions, which cost the contact a key. It is emptied by notifications.
 */
export class DeviceCache {
  readonly #entries = new Map<string, { readonly value: unknown; readonly until: number }>()

  /** The library says which type it has put there. */
  get<A>(key: string): A | undefined {
    const entry = this.#entries.get(key)
    return entry === undefined || entry.until < performance.now() ? undefined : entry.value as A
  }

  set(key: string, value: unknown): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: performance.now() + lifetime })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > most && oldest !== undefined) this.#entries.delete(oldest)
  }

  del(key: string): void {
    this.#entries.delete(key)
  }

  flushAll(): void {
    this.#entries.clear()
  }
}
