import type { Shelf, SimulatorState } from "./SimulatorState.ts"

/** A member of a group. */
export interface Member {
  readonly number: string
  /** The creator is `superadmin`. */
  role: "member" | "admin" | "superadmin"
}

/** A group with its members. */
export interface Group {
  /** The jid: `…@g.us`. */
  readonly id: string
  subject: string
  description: string | null
  readonly creator: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  inviteCode: string
  members: Array<Member>
}

/** The groups of the simulated WhatsApp. */
export class Groups {
  readonly #shelf: Shelf<Group>

  constructor(state: SimulatorState) {
    this.#shelf = state.shelf("group")
  }

  get(id: string): Group | undefined {
    return this.#shelf.get(id)
  }

  all(): ReadonlyArray<Group> {
    return this.#shelf.values()
  }

  /** The groups with this member. */
  of(number: string): ReadonlyArray<Group> {
    return this.all().filter(({ members }) => members.some((member) => member.number === number))
  }

  add(group: Group): void {
    this.#shelf.set(group.id, group)
  }

  /** Saves a group that the caller changed in place. */
  changed({ id }: Group): void {
    this.#shelf.touch(id)
  }
}
