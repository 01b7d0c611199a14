import { BufferJSON } from "@whiskeysockets/baileys"

/** Changed entries by their full name; null is an entry that is gone. */
export type StateChanges = ReadonlyMap<string, string | null>

/** Where the simulator's state outlives it. Without one, it lives in memory. */
export interface StateStorage {
  readonly load: () => Promise<ReadonlyMap<string, string>>
  readonly save: (changes: StateChanges) => Promise<void>
}

/** How long changes are collected before they are written together. */
const flushMillis = 100

/** A map whose entries outlive the process. An entry that was changed in place has to be named to `touch`. */
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

  /** Notes that the entry of this key was changed in place. */
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
 * All that the simulator remembers, as shelves of entries. What changed is written within a tenth of a second; a
 * process that is killed before loses it, and the Signal sessions concerned heal by a retry, as real ones do.
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

  /** The shelf of this name with what was stored of it; each is asked for once. */
  shelf<V>(name: string): Shelf<V> {
    const stored = this.#loaded.get(name) ?? new Map<string, string>()
    this.#loaded.delete(name)
    // What stands on a shelf was put there by the same code, in the same type.
    const entries = [...stored].map(([key, json]) => [key, JSON.parse(json, BufferJSON.reviver) as V] as const)
    const shelf = new Shelf<V>(entries, (key) => this.#note(`${name}/${key}`))
    this.#shelves.set(name, shelf)
    return shelf
  }

  /** Writes what is not written yet; what changes later is lost. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.flush()
  }

  /** Writes what is not written yet. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const storage = this.#storage
    if (storage !== undefined && this.#dirty.size > 0) {
      this.#saving = this.#saving.then(() => this.#write(storage))
    }
    await this.#saving
  }

  /** What could not be written is tried again with the next changes. */
  async #write(storage: StateStorage): Promise<void> {
    const names = [...this.#dirty]
    this.#dirty.clear()
    try {
      await storage.save(new Map(names.map((name) => [name, this.#json(name)] as const)))
    } catch {
      for (const name of names) this.#note(name)
    }
  }

  #note(name: string): void {
    if (this.#storage === undefined) return
    this.#dirty.add(name)
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.flush(), flushMillis)
  }

  #json(name: string): string | null {
    const [shelf = "", key = ""] = split(name)
    const value = this.#shelves.get(shelf)?.get(key)
    return value === undefined ? null : JSON.stringify(value, BufferJSON.replacer)
  }
}

const split = (name: string): readonly [string, string] => {
  const slash = name.indexOf("/")
  return [name.slice(0, slash), name.slice(slash + 1)]
}
