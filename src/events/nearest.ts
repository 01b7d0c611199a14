/** Number of letters to insert, delete or replace to turn `a` into `b` (Levenshtein). */
const distance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}

const tolerance = (candidate: string): number => Math.max(2, Math.floor(candidate.length / 4))

/** The at most two known words that a mistyped one most likely meant, none when nothing is near. */
export const nearest = (word: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lower = word.trim().toLowerCase()
  const near = known
    // Words differ at least by their lengths: most are out without a look at their letters.
    .filter((candidate) => candidate.length > 1 && Math.abs(lower.length - candidate.length) <= tolerance(candidate))
    .map((candidate) => ({ candidate, distance: distance(lower, candidate) }))
    .filter((it) => it.distance <= tolerance(it.candidate))
    .sort((a, b) => a.distance - b.distance)
  const best = near[0]?.distance ?? 0
  return near.filter((it) => it.distance === best).slice(0, 2).map((it) => it.candidate)
}
