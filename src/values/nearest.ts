/** The least cost of the insertions and deletions, each of 1, and the replacements that turn `a` into `b` (Levenshtein). */
export const distance = (
  a: string | ReadonlyArray<string>,
  b: string | ReadonlyArray<string>,
  replacing = (one: string, other: string): number => one === other ? 0 : 1
): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + replacing(a[i - 1] ?? "", b[j - 1] ?? "")
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}

/** At most half of a short word, so that no two-letter word is close to every other one. */
const tolerance = ({ length }: string): number => Math.min(Math.max(2, Math.floor(length / 4)), Math.floor(length / 2))

/** At most two known words that are close to a mistyped one. */
export const nearest = (word: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const near = known
    // Compares lengths first, which excludes most words cheaply.
    .filter((candidate) => candidate.length > 1 && Math.abs(word.length - candidate.length) <= tolerance(candidate))
    .map((candidate) => ({ candidate, distance: distance(word, candidate) }))
    .filter((it) => it.distance <= tolerance(it.candidate))
    .sort((a, b) => a.distance - b.distance)
  const best = near[0]?.distance ?? 0
  return near.filter((it) => it.distance === best).slice(0, 2).map((it) => it.candidate)
}
