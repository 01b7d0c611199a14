/**
 * One call for many concurrent inputs; each waits for the call that contains it. The form of `GroupCommit` for programs
 * without Effect.
 */
export const groupCommit = <A>(
  { concurrency, most }: { readonly most: number; readonly concurrency: number },
  write: (rows: ReadonlyArray<A>) => Promise<void>
) => {
  let waiting: Array<{ readonly row: A; readonly done: () => void; readonly failed: (cause: unknown) => void }> = []
  let underWay = 0

  const flush = () => {
    if (underWay === concurrency || waiting.length === 0) return
    const group = waiting.slice(0, most)
    waiting = waiting.slice(most)
    underWay++
    write(group.map(({ row }) => row)).then(
      () => group.forEach(({ done }) => done()),
      (cause: unknown) => group.forEach(({ failed }) => failed(cause))
    ).finally(() => {
      underWay--
      flush()
    })
  }

  return (row: A) =>
    new Promise<void>((done, failed) => {
      waiting.push({ row, done, failed })
      // After the other inputs of this tick, so that they share one call.
      setImmediate(flush)
    })
}
