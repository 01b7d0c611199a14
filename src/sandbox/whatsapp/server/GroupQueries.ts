import type { BinaryNode } from "@whiskeysockets/baileys"
import { lidJid, userOf } from "../model/Address.ts"
import type { Group } from "../model/Groups.ts"
import { SimulatorRefusal } from "../model/SimulatorRefusal.ts"
import { bytesIn, bytesOfChild, child, children, errorOf, firstChild, node, resultOf } from "../wire/stanza.ts"
import type { Companion } from "./Companions.ts"
import type { Exchange } from "./Exchange.ts"
import { groupNode } from "./GroupActions.ts"
import type { MemberAction } from "./GroupActions.ts"

const errorCodes: ReadonlyMap<string, number> = new Map([["item-not-found", 404], ["forbidden", 403], ["gone", 410]])

/** Answers what companions ask of groups, and does what they want done to them (`w:g2`). */
export class GroupQueries {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  answer(query: BinaryNode, { address: { number } }: Companion): BinaryNode {
    try {
      const to = query.attrs["to"] ?? ""
      return resultOf(query, to === "@g.us" ? this.#general(query, number) : this.#ofGroup(query, number))
    } catch (error) {
      if (!(error instanceof SimulatorRefusal)) throw error
      return errorOf(query, errorCodes.get(error.message) ?? 400, error.message)
    }
  }

  /** What is asked of no group in particular. */
  #general(query: BinaryNode, actor: string): ReadonlyArray<BinaryNode> {
    const { actions, groups } = this.#exchange
    const asked = firstChild(query) ?? node("nothing")
    switch (asked.tag) {
      case "create": {
        const numbers = this.#numbers(asked).map(([, number]) => number)
        return [groupNode(actions.create(actor, asked.attrs["subject"] ?? "", numbers.filter(isKnown)))]
      }
      case "participating":
        return [node("groups", {}, groups.of(actor).map(groupNode))]
      case "leave":
        for (const { attrs } of children(asked, "group")) {
          const group = actions.requireMember(groups.get(attrs["id"] ?? ""), actor)
          actions.change(group, actor, { action: "remove", numbers: [actor] })
        }
        return [asked]
      case "invite": {
        const group = groups.all().find(({ inviteCode }) => inviteCode === asked.attrs["code"])
        if (group === undefined) throw new SimulatorRefusal("gone")
        if (query.attrs["type"] === "get") return [groupNode(group)]
        actions.join(group, actor)
        return [node("group", { jid: group.id })]
      }
      default:
        return []
    }
  }

  #ofGroup(query: BinaryNode, actor: string): ReadonlyArray<BinaryNode> {
    const { actions, groups } = this.#exchange
    const group = actions.requireMember(groups.get(query.attrs["to"] ?? ""), actor)
    const asked = firstChild(query) ?? node("nothing")
    switch (asked.tag) {
      case "query":
        return [groupNode(group)]
      case "add":
      case "remove":
      case "promote":
      case "demote":
        return [this.#change(group, actor, { asked, action: asked.tag })]
      case "subject":
        actions.rename(group, actor, bytesIn(asked).toString())
        return []
      case "description":
        if (this.#exchange.faults.take(actor, "refuse-description") !== undefined) {
          throw new SimulatorRefusal("forbidden")
        }
        actions.describe(
          group,
          actor,
          child(asked, "body") === undefined ? null : bytesOfChild(asked, "body").toString()
        )
        return []
      case "invite":
        if (query.attrs["type"] === "set") actions.renewInvite(group, actor)
        return [node("invite", { code: group.inviteCode })]
      default:
        return []
    }
  }

  /** The answer has a line for each number; one that could not be changed has an error. */
  #change(group: Group, actor: string, { action, asked }: { action: MemberAction; asked: BinaryNode }): BinaryNode {
    const wanted = this.#numbers(asked)
    const numbers = wanted.map(([, number]) => number).filter(isKnown)
    const changed = new Set(this.#exchange.actions.change(group, actor, { action, numbers }))
    return node(
      action,
      {},
      wanted.map(([jid, number]) =>
        number === undefined
          ? node("participant", { jid, error: "404" })
          : node("participant", { jid: lidJid(userOf(number)), ...(changed.has(number) ? {} : { error: "409" }) })
      )
    )
  }

  /** The jids that are named, each with its number where somebody has it. */
  #numbers(asked: BinaryNode): ReadonlyArray<readonly [string, string | undefined]> {
    return children(asked, "participant").map(({ attrs: { jid = "" } }) =>
      [jid, this.#exchange.find(jid)?.number] as const
    )
  }
}

const isKnown = (number: string | undefined): number is string => number !== undefined
