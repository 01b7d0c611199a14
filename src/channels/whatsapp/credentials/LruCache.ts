/** Values by their names, of which the one that was not used for longest goes first. */
export const makeLastUsed = <A extends NonNullable<unknown> | null>(most: number) => {
  const values = new Map<string, A>()
  const put = (name: string, value: A) => {
    values.delete(name)
    values.set(name, value)
    const [oldest] = values.keys()
    if (values.size > most && oldest !== undefined) values.delete(oldest)
  }
  return {
    get: (name: string): A | undefined => {
      const value = values.get(name)
      if (value !== undefined) put(name, value)
      return value
    },
    put
  }
}
