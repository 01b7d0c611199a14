import type { Person } from "../socket/WhatsAppSocket.ts"

const joined = (a: Person, b: Person): Person => {
  const takesName = b.name !== undefined && (b.isNamed || !a.isNamed)
  return {
    lid: a.lid ?? b.lid,
    phone: a.phone ?? b.phone,
    name: takesName ? b.name : a.name,
    isNamed: a.isNamed || b.isNamed
  }
}

/** PostgreSQL takes neither NUL nor half a surrogate pair, and a stranger may call himself by both. */
const clean = (name: string | undefined) => {
  const text = name?.replaceAll("\u0000", "").toWellFormed().trim()
  return text === "" ? undefined : text?.slice(0, 200).toWellFormed()
}

/** The same people, each once; what was said last of a name holds. Whoever has no name to be found by is left out. */
export const mergePeople = (people: ReadonlyArray<Person>): ReadonlyArray<Person> => {
  const merged = new Set<Person>()
  const byName = new Map<string, Person>()
  for (const person of people) {
    const names = [person.lid, person.phone].filter((name) => name !== undefined)
    let whole: Person = { ...person, name: clean(person.name) }
    for (const name of names) {
      const known = byName.get(name)
      if (known === undefined || !merged.has(known)) continue
      // Two numbers of one hidden number, or the other way round: they stay apart.
      const differ = (known.lid !== undefined && whole.lid !== undefined && known.lid !== whole.lid) ||
        (known.phone !== undefined && whole.phone !== undefined && known.phone !== whole.phone)
      merged.delete(known)
      whole = differ ? whole : joined(known, whole)
    }
    if (names.length === 0) continue
    merged.add(whole)
    for (const name of [whole.lid, whole.phone]) if (name !== undefined) byName.set(name, whole)
  }
  return [...merged]
}
