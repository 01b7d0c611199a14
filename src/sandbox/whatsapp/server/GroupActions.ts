import type { BinaryNode } from "@whiskeysockets/baileys"
import * as NodeCrypto from "node:crypto"
import { lidJid, pnJid, userOf } from "../model/Address.ts"
import type { Group, Groups, Member } from "../model/Groups.ts"
import { SimulatorRefusal } from "../model/SimulatorState.ts"
import type { Phones } from "../phones/Phones.ts"
import { node, stanzaId } from "../wire/stanza.ts"
import type { Companions } from "./Companions.ts"

/** A change of group members. */
export type MemberAction = "add" | "remove" | "promote" | "demote"

const memberNode = ({ number, role }: Member): BinaryNode =>
  node("participant", {
    jid: lidJid(userOf(number)),
    phone_number: pnJid(userOf(number)),
    ...(role === "member" ? {} : { type: role })
  })

/** The stanza of a group. */
export const groupNode = (group: Group): BinaryNode => {
  const seconds = String(Math.floor(group.createdAt / 1000))
  const creator = userOf(group.creator)
  return node("group", {
    id: group.id.slice(0, group.id.indexOf("@")),
    subject: group.subject,
    s_t: seconds,
    s_o: lidJid(creator),
    creation: seconds,
    creator: lidJid(creator),
    creator_pn: pnJid(creator),
    addressing_mode: "lid",
    size: String(group.members.length)
  }, [
    ...group.members.map(memberNode),
    ...(group.description === null
      ? []
      : [node("description", { id: "description", t: seconds }, [node("body", {}, Buffer.from(group.description))])])
  ])
}

interface Change {
  readonly group: Group
  readonly actor: string
  readonly numbers?: ReadonlyArray<string> | undefined
}

/** Changes groups by the rules of WhatsApp: only admins may, and the companions of all members get a notification. */
export class GroupActions {
  readonly #groups: Groups
  readonly #phones: Phones
  readonly #companions: Companions
  readonly #now: () => number

  constructor(
    parts: {
      readonly groups: Groups
      readonly phones: Phones
      readonly companions: Companions
      readonly now: () => number
    }
  ) {
    this.#groups = parts.groups
    this.#phones = parts.phones
    this.#companions = parts.companions
    this.#now = parts.now
  }

  /** Creates a group. It ignores numbers without a phone. */
  create(actor: string, subject: string, numbers: ReadonlyArray<string>): Group {
    const others = [...new Set(numbers)].filter((number) => number !== actor && this.#phones.get(number) !== undefined)
    const group: Group = {
      id: `1203630${NodeCrypto.randomBytes(6).readUIntBE(0, 6).toString().padStart(15, "0").slice(0, 11)}@g.us`,
      subject,
      description: null,
      creator: actor,
      createdAt: this.#now(),
      inviteCode: NodeCrypto.randomBytes(16).toString("base64url"),
      members: [{ number: actor, role: "superadmin" }, ...others.map((number): Member => ({ number, role: "member" }))]
    }
    this.#groups.add(group)
    this.#notify({ group, actor }, node("create", { type: "new" }, [groupNode(group)]))
    return group
  }

  /** Changes members and returns their numbers. It ignores new members without a phone. */
  change(
    group: Group,
    actor: string,
    { action, numbers }: { action: MemberAction; numbers: ReadonlyArray<string> }
  ): ReadonlyArray<string> {
    const isLeaving = action === "remove" && numbers.every((number) => number === actor)
    if (!isLeaving) this.#requireAdmin(group, actor)
    const isMember = (number: string) => group.members.some((member) => member.number === number)
    const changed = numbers.filter((number) =>
      action === "add" ? this.#phones.get(number) !== undefined && !isMember(number) : isMember(number)
    )
    if (changed.length === 0) return changed
    const before = group.members.map(({ number }) => number)
    this.#apply(group, action, changed)
    this.#groups.changed(group)
    const nodes = changed.map((number) => memberNode({ number, role: "member" }))
    this.#notify({ group, actor, numbers: [...before, ...changed] }, node(action, {}, nodes))
    return changed
  }

  rename(group: Group, actor: string, subject: string): void {
    this.#requireAdmin(group, actor)
    group.subject = subject
    this.#groups.changed(group)
    this.#notify({ group, actor }, node("subject", { subject, s_t: String(this.#seconds()) }))
  }

  describe(group: Group, actor: string, description: string | null): void {
    this.#requireAdmin(group, actor)
    group.description = description
    this.#groups.changed(group)
    const body = description === null ? [] : [node("body", {}, Buffer.from(description))]
    this.#notify({ group, actor }, node("description", {}, body))
  }

  /** Adds a member who used the invite link. */
  join(group: Group, actor: string): void {
    if (group.members.some(({ number }) => number === actor)) return
    group.members.push({ number: actor, role: "member" })
    this.#groups.changed(group)
    this.#notify({ group, actor }, node("add", { reason: "invite" }, [memberNode({ number: actor, role: "member" })]))
  }

  /** Replaces the invite link. */
  renewInvite(group: Group, actor: string): void {
    this.#requireAdmin(group, actor)
    group.inviteCode = NodeCrypto.randomBytes(16).toString("base64url")
    this.#groups.changed(group)
    this.#notify({ group, actor }, node("invite", { code: group.inviteCode }))
  }

  /** Throws if the number is not a member. Only members may query a group. */
  requireMember(group: Group | undefined, actor: string): Group {
    if (group === undefined) throw new SimulatorRefusal("item-not-found")
    if (!group.members.some(({ number }) => number === actor)) throw new SimulatorRefusal("forbidden")
    return group
  }

  #requireAdmin(group: Group, actor: string): void {
    const role = group.members.find(({ number }) => number === actor)?.role
    if (role === undefined || role === "member") throw new SimulatorRefusal("forbidden")
  }

  #apply(group: Group, action: MemberAction, numbers: ReadonlyArray<string>): void {
    if (action === "add") group.members.push(...numbers.map((number): Member => ({ number, role: "member" })))
    if (action === "remove") group.members = group.members.filter(({ number }) => !numbers.includes(number))
    if (action !== "promote" && action !== "demote") return
    for (const member of group.members) {
      if (numbers.includes(member.number)) member.role = action === "promote" ? "admin" : "member"
    }
  }

  /** Notifies the companions of all members, or of these numbers. */
  #notify({ actor, group, numbers = group.members.map(({ number }) => number) }: Change, change: BinaryNode): void {
    const notification = node("notification", {
      from: group.id,
      type: "w:gp2",
      id: stanzaId(),
      participant: lidJid(userOf(actor)),
      participant_pn: pnJid(userOf(actor)),
      notify: this.#phones.get(actor)?.record.pushName ?? "",
      addressing_mode: "lid",
      t: String(this.#seconds())
    }, [change])
    for (const number of new Set(numbers)) {
      for (const { address } of this.#companions.of(number)) this.#companions.deliver(address, notification)
    }
  }

  #seconds(): number {
    return Math.floor(this.#now() / 1000)
  }
}
