import type { BinaryNode } from "@whiskeysockets/baileys"
import { lidJid, userOf } from "../model/Address.ts"
import type { Group } from "../model/Groups.ts"
import { SimulatorRefusal } from "../model/SimulatorState.ts"
import { bytesIn, bytesOfChild, child, children, errorOf, firstChild, node, resultOf } from "../wire/stanza.ts"
import type { Companion } from "./Companions.ts"
import type { Exchange } from "./Exchange.ts"
import { groupNode } from "./GroupActions.ts"
import type { MemberAction } from "./GroupActions.ts"

const errorCodes: ReadonlyMap<string, number> = new Map([["item-not-found", 404], ["forbidden", 403], ["gone", 410]])

/** Answers group queries of companions (`w:g2`). */
export class GroupQueries {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  answer(query: BinaryNode, { address: { number } }: Companion): BinaryNode {
    try {
      const to = query.attrs["to"] ?? ""
      return resultOf(query, to === "@g.us" ? this.#ofNoGroup(query, number) : this.#ofGroup(query, number))
    } catch (error) {
      if (!(error instanceof SimulatorRefusal)) throw error
      return errorOf(query, errorCodes.get(error.message) ?? 400, error.message)
    }
  }

  /** A query that names no group. */
  #ofNoGroup(query: BinaryNode, actor: string): ReadonlyArray<BinaryNode> {
    const { actions, groups } = this.#exchange
    const request = firstChild(query) ?? node("nothing")
    switch (request.tag) {
      case "create": {
        const numbers = this.#numbers(request).map(([, number]) => number)
        return [groupNode(actions.create(actor, request.attrs["subject"] ?? "", numbers.filter(isKnown)))]
      }
      case "participating":
        return [node("groups", {}, groups.of(actor).map(groupNode))]
      case "leave":
        for (const { attrs } of children(request, "group")) {
          const group = actions.requireMember(groups.get(attrs["id"] ?? ""), actor)
          actions.change(group, actor, { action: "remove", numbers: [actor] })
        }
        return [request]
      case "invite": {
        const group = groups.all().find(({ inviteCode }) => inviteCode === request.attrs["code"])
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
    const request = firstChild(query) ?? node("nothing")
    switch (request.tag) {
      case "query":
        return [groupNode(group)]
      case "add":
      case "remove":
      case "promote":
      case "demote":
        return [this.#change(group, actor, { request, action: request.tag })]
      case "subject":
        actions.rename(group, actor, bytesIn(request).toString())
        return []
      case "description":
        if (this.#exchange.faults.take(actor, "refuse-description") !== undefined) {
          throw new SimulatorRefusal("forbidden")
        }
        actions.describe(
          group,
          actor,
          child(request, "body") === undefined ? null : bytesOfChild(request, "body").toString()
        )
        return []
      case "invite":
        if (query.attrs["type"] === "set") actions.renewInvite(group, actor)
        return [node("invite", { code: group.inviteCode })]
      default:
        return []
    }
  }

  /** The answer has one node for each number, with an error for a number that did not change. */
  #change(group: Group, actor: string, { action, request }: { action: MemberAction; request: BinaryNode }): BinaryNode {
    const requested = this.#numbers(request)
    const numbers = requested.map(([, number]) => number).filter(isKnown)
    const changed = new Set(this.#exchange.actions.change(group, actor, { action, numbers }))
    return node(
      action,
      {},
      requested.map(([jid, number]) =>
        number === undefined
          ? node("participant", { jid, error: "404" })
          : node("participant", { jid: lidJid(userOf(number)), ...(changed.has(number) ? {} : { error: "409" }) })
      )
    )
  }

  /** The jids in a request, each with its number if it has a phone. */
  #numbers(request: BinaryNode): ReadonlyArray<readonly [string, string | undefined]> {
    return children(request, "participant").map(({ attrs: { jid = "" } }) =>
      [jid, this.#exchange.find(jid)?.number] as const
    )
  }
}

const isKnown = (number: string | undefined): number is string => number !== undefined
