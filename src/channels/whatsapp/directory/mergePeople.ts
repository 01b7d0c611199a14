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

/** PostgreSQL refuses NUL and half surrogate pairs, and strangers choose their names. */
const clean = (name: string | undefined) => {
  const text = name?.replaceAll("\u0000", "").toWellFormed().trim()
  return text === "" ? undefined : text?.slice(0, 200).toWellFormed()
}

/**
 * Joins the facts about each person. The last name wins, except that a name from the address book beats the person's own.
 * A person without hidden number and phone is left out.
 */
export const mergePeople = (people: ReadonlyArray<Person>): ReadonlyArray<Person> => {
  const merged = new Set<Person>()
  const byId = new Map<string, Person>()
  for (const person of people) {
    const ids = [person.lid, person.phone].filter((id) => id !== undefined)
    let whole: Person = { ...person, name: clean(person.name) }
    for (const id of ids) {
      const known = byId.get(id)
      if (known === undefined || !merged.has(known)) continue
      // One hidden number with two phone numbers, or the reverse, means two people.
      const differ = (known.lid !== undefined && whole.lid !== undefined && known.lid !== whole.lid) ||
        (known.phone !== undefined && whole.phone !== undefined && known.phone !== whole.phone)
      merged.delete(known)
      whole = differ ? whole : joined(known, whole)
    }
    if (ids.length === 0) continue
    merged.add(whole)
    for (const id of [whole.lid, whole.phone]) if (id !== undefined) byId.set(id, whole)
  }
  return [...merged]
}
