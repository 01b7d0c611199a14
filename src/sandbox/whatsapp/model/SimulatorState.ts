import { baileys } from "../../../channels/whatsapp/wire/MessageBody.ts"

/** The simulator refused a verb or a query. The message is for the person who asked. */
export class SimulatorRefusal extends Error {
  override readonly name = "SimulatorRefusal"
}

/** Changed entries by their full name; null for a removed entry. */
export type StateChanges = ReadonlyMap<string, string | null>

/** Storage of the simulator's state beyond its process. */
export interface StateStorage {
  readonly load: () => Promise<ReadonlyMap<string, string>>
  readonly save: (changes: StateChanges) => Promise<void>
}

/** Changes of this time are written together. */
const flushMillis = 100

/** A map that the state saves. Call `touch` after a change of an entry in place. */
export class Shelf<V> {
  readonly #entries = new Map<string, V>()
  readonly #changed: (key: string) => void

  constructor(entries: Iterable<readonly [string, V]>, changed: (key: string) => void) {
    for (const [key, value] of entries) this.#entries.set(key, value)
    this.#changed = changed
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: V): void {
    this.#entries.set(key, value)
    this.#changed(key)
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#changed(key)
  }

  /** Saves an entry that the caller changed in place. */
  touch(key: string): void {
    this.#changed(key)
  }

  get size(): number {
    return this.#entries.size
  }

  values(): ReadonlyArray<V> {
    return [...this.#entries.values()]
  }

  entries(): ReadonlyArray<readonly [string, V]> {
    return [...this.#entries.entries()]
  }
}

/**
 * The simulator's state, as shelves of entries. It saves changes within a tenth of a second. A process that dies
 * earlier loses them; the Signal sessions concerned recover by a retry, like real ones.
 */
export class SimulatorState {
  readonly #storage: StateStorage | undefined
  readonly #loaded: Map<string, Map<string, string>>
  readonly #shelves = new Map<string, { readonly get: (key: string) => unknown }>()
  readonly #dirty = new Set<string>()
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()

  private constructor(storage: StateStorage | undefined, loaded: ReadonlyMap<string, string>) {
    this.#storage = storage
    this.#loaded = new Map()
    for (const [name, json] of loaded) {
      const [shelf = "", key = ""] = split(name)
      const entries = this.#loaded.get(shelf) ?? new Map<string, string>()
      this.#loaded.set(shelf, entries.set(key, json))
    }
  }

  static async open(storage?: StateStorage): Promise<SimulatorState> {
    return new SimulatorState(storage, storage === undefined ? new Map() : await storage.load())
  }

  /** Opens the shelf of this name with its stored entries. Open each shelf once. */
  shelf<V>(name: string): Shelf<V> {
    const stored = this.#loaded.get(name) ?? new Map<string, string>()
    this.#loaded.delete(name)
    // The same code stored these entries, in the same type.
    const entries = [...stored].map(([key, json]) =>
      [key, JSON.parse(json, baileys().BufferJSON.reviver) as V] as const
    )
    const shelf = new Shelf<V>(entries, (key) => this.#markDirty(`${name}/${key}`))
    this.#shelves.set(name, shelf)
    return shelf
  }

  /** Saves the last changes. Later ones are lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.flush()
  }

  /** Saves all changes now. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const storage = this.#storage
    if (storage !== undefined && this.#dirty.size > 0) {
      this.#saving = this.#saving.then(() => this.#write(storage))
    }
    await this.#saving
  }

  /** After a failure the next save repeats these changes. */
  async #write(storage: StateStorage): Promise<void> {
    const names = [...this.#dirty]
    this.#dirty.clear()
    try {
      await storage.save(new Map(names.map((name) => [name, this.#json(name)] as const)))
    } catch {
      for (const name of names) this.#markDirty(name)
    }
  }

  #markDirty(name: string): void {
    if (this.#storage === undefined) return
    this.#dirty.add(name)
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.flush(), flushMillis)
  }

  #json(name: string): string | null {
    const [shelf = "", key = ""] = split(name)
    const value = this.#shelves.get(shelf)?.get(key)
    return value === undefined ? null : JSON.stringify(value, baileys().BufferJSON.replacer)
  }
}

const split = (name: string): readonly [string, string] => {
  const slash = name.indexOf("/")
  return [name.slice(0, slash), name.slice(slash + 1)]
}
