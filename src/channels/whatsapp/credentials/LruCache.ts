/** A map of at most `capacity` entries that drops the least recently used one. */
export interface LruCache<A> {
  readonly get: (key: string) => A | undefined
  readonly put: (key: string, value: A) => void
}

export const make = <A extends NonNullable<unknown> | null>(capacity: number): LruCache<A> => {
  const values = new Map<string, A>()
  const put = (key: string, value: A) => {
    values.delete(key)
    values.set(key, value)
    const [oldest] = values.keys()
    if (values.size > capacity && oldest !== undefined) values.delete(oldest)
  }
  return {
    get: (key) => {
      const value = values.get(key)
      if (value !== undefined) put(key, value)
      return value
    },
    put
  }
}
