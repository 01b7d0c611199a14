import type { BinaryNode } from "@whiskeysockets/baileys"
import { addressingOf, lidJid, pnJid, userOf } from "../model/Address.ts"
import { bundleNodes, readPreKey, readSignedPreKey } from "../phones/KeyBundle.ts"
import { bytesOfChild, child, children, errorOf, firstChild, node, numberOfChild, resultOf } from "../wire/stanza.ts"
import type { Companion } from "./Companions.ts"
import type { Exchange } from "./Exchange.ts"
import { GroupQueries } from "./GroupQueries.ts"

/** Answers one query of a companion. */
type Answer = (query: BinaryNode, companion: Companion) => BinaryNode

/** The key of a query in the table below: namespace, type, and the tag of its first child. */
const nameOf = (query: BinaryNode): string =>
  [query.attrs["xmlns"], query.attrs["type"], firstChild(query)?.tag].filter((part) => part !== undefined).join(" ")

/** Answers the queries of companions. An unknown query gets an empty result. */
export class Queries {
  readonly #exchange: Exchange
  readonly #groups: GroupQueries
  readonly #answers: ReadonlyMap<string, Answer>

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    this.#groups = new GroupQueries(exchange)
    this.#answers = new Map<string, Answer>([
      [
        "encrypt get count",
        (query, { preKeys }) => resultOf(query, [node("count", { value: String(preKeys.length) })])
      ],
      ["encrypt get digest", (query) => resultOf(query, [node("digest")])],
      ["encrypt get key", (query) => this.#keys(query)],
      ["encrypt set registration", (query, companion) => this.#upload(query, companion)],
      ["encrypt set rotate", (query, companion) => this.#rotate(query, companion)],
      ["usync get usync", (query, companion) => this.#usync(query, companion)],
      ["w:sync:app:state set sync", (query) => this.#appState(query)],
      ["abt get props", (query) => resultOf(query, [node("props")])],
      ["blocklist get", (query) => resultOf(query, [node("list")])],
      [
        "privacy get privacy",
        (query) => resultOf(query, [node("privacy", {}, [node("category", { name: "readreceipts", value: "all" })])])
      ],
      ["privacy set tokens", (query) => resultOf(query, [node("tokens")])],
      ["w:m set media_conn", (query) => resultOf(query, [exchange.media.hosts])],
      ["w:profile:picture get picture", (query) => errorOf(query, 404, "item-not-found")]
    ])
  }

  answer(query: BinaryNode, companion: Companion): BinaryNode {
    if (query.attrs["xmlns"] === "w:g2") return this.#groups.answer(query, companion)
    return this.#answers.get(nameOf(query))?.(query, companion) ?? resultOf(query)
  }

  /** The key bundles of existing devices. */
  #keys(query: BinaryNode): BinaryNode {
    const users = children(child(query, "key"), "user").flatMap(({ attrs: { jid = "" } }) => {
      const address = this.#exchange.find(jid)
      const bundle = address === undefined ? undefined : this.#exchange.takeBundle(address)
      return bundle === undefined ? [] : [node("user", { jid }, bundleNodes(bundle))]
    })
    return resultOf(query, [node("list", {}, users)])
  }

  #upload(query: BinaryNode, companion: Companion): BinaryNode {
    companion.registrationId = numberOfChild(query, "registration")
    companion.signedPreKey = readSignedPreKey(child(query, "skey"))
    const known = new Set(companion.preKeys.map(({ id }) => id))
    const added = children(child(query, "list"), "key").map(readPreKey).filter(({ id }) => !known.has(id))
    companion.preKeys = [...companion.preKeys, ...added]
    this.#exchange.companions.changed(companion)
    return resultOf(query)
  }

  #rotate(query: BinaryNode, companion: Companion): BinaryNode {
    companion.signedPreKey = readSignedPreKey(child(child(query, "rotate"), "skey"))
    this.#exchange.companions.changed(companion)
    return resultOf(query)
  }

  /** The existing numbers, with their devices and LIDs. */
  #usync(query: BinaryNode, { address: holder }: Companion): BinaryNode {
    const usync = child(query, "usync")
    const requested = child(usync, "query")
    const wants = (protocol: string) => child(requested, protocol) !== undefined
    const users = children(child(usync, "list"), "user").flatMap((user) => {
      const typed = bytesOfChild(user, "contact").toString().replaceAll(/\D/g, "")
      const jid = user.attrs["jid"] ?? pnJid(userOf(typed))
      const number = this.#exchange.find(jid)?.number
      if (number === undefined) return []
      if (wants("devices")) this.#exchange.companions.addListCache(number, holder)
      const parts = [
        ...(wants("contact") ? [node("contact", { type: "in" })] : []),
        ...(wants("devices") ? [this.#devices(number)] : []),
        ...(wants("lid") && addressingOf(jid) === "pn" ? [node("lid", { val: lidJid(userOf(number)) })] : [])
      ]
      return [node("user", { jid }, parts)]
    })
    return resultOf(query, [node("usync", { ...usync?.attrs }, [node("result"), node("list", {}, users)])])
  }

  #devices(number: string): BinaryNode {
    const devices = this.#exchange.devicesOf(number).map(({ device }) =>
      node("device", { id: String(device), ...(device === 0 ? {} : { "key-index": String(device) }) })
    )
    return node("devices", {}, [node("device-list", {}, devices)])
  }

  /** The app state, such as archived chats, is always empty. */
  #appState(query: BinaryNode): BinaryNode {
    const collections = children(child(query, "sync"), "collection").map(({ attrs: { name = "", version = "0" } }) =>
      node("collection", { name, version })
    )
    return resultOf(query, [node("sync", {}, collections)])
  }
}
