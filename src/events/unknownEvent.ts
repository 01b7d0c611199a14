import { eventAliases } from "./EventAliases.ts"
import { eventNames } from "./EventNames.ts"

/** The number of insertions, deletions and replacements that turn `a` into `b` (Levenshtein). */
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

/** At most two known words that are close to a mistyped one. */
const nearest = (word: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lower = word.trim().toLowerCase()
  const near = known
    // Compares lengths first, which excludes most words cheaply.
    .filter((candidate) => candidate.length > 1 && Math.abs(lower.length - candidate.length) <= tolerance(candidate))
    .map((candidate) => ({ candidate, distance: distance(lower, candidate) }))
    .filter((it) => it.distance <= tolerance(it.candidate))
    .sort((a, b) => a.distance - b.distance)
  const best = near[0]?.distance ?? 0
  return near.filter((it) => it.distance === best).slice(0, 2).map((it) => it.candidate)
}

/** All names and aliases of events. */
const knownNames: ReadonlyArray<string> = [...eventNames, ...eventAliases.keys()]

/** Why an unknown word is refused, with similar known words, or with what to use `instead`. */
export const unknownEvent = (
  word: string,
  { instead, known }: { readonly known: ReadonlyArray<string>; readonly instead: string }
): string => {
  const near = nearest(word, known)
  return near.length === 0
    ? `unknown event "${word}", use ${instead}`
    : `unknown event "${word}", did you mean ${near.join(" or ")}?`
}

/** The refusal of an unknown word as an event name. */
export const unknownEventName = (word: string): string =>
  unknownEvent(word, { known: knownNames, instead: "a name such as \"message.sent\"" })
