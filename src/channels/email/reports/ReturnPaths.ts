import { Context, Effect, Layer, Option, Result } from "effect"
import { type KeyObject, timingSafeEqual } from "node:crypto"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"
import { decodeBase32, encodeBase32 } from "../../../platform/crypto/base32.ts"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { shortMac } from "../../../platform/crypto/Vault.ts"
import { parseDomainName } from "../../../values/DomainName.ts"
import { EmailMessageId } from "../../../values/Ids.ts"
import type { SmtpMail } from "../smtp/Smtp.ts"

/** The bounce domain of the sandbox, which no DNS server publishes. */
const sandboxDomain = "bounces.localhost.localdomain"

/** Where this node receives reports, if it does. Fails if they could not arrive. */
export const bounceSettings = Effect.gen(function*() {
  const { bounceHost: host, bouncePort, mailBounceDomain, smtpUrl } = yield* AppConfig
  // The sandbox also sends reports, so every outcome of a mail can be tried without settings.
  const isSandbox = smtpUrl === "sandbox"
  const port = bouncePort ?? (isSandbox ? 0 : undefined)
  const domain = mailBounceDomain ?? (isSandbox ? sandboxDomain : undefined)
  if (port !== undefined && domain === undefined) {
    return yield* new WrongSetting({
      name: "MAIL_BOUNCE_DOMAIN",
      expects: "the domain whose MX leads here, as BOUNCE_PORT is set",
      value: ""
    })
  }
  return { host, port, domain }
})

// Seven bytes hold every id below 2^53. 20 bytes in total leave base32 no spare bits that could be changed.
const idLength = 7
const macLength = 13

const tokenLength = (idLength + macLength) / 5 * 8

/** The purpose of an address: `b` receives reports about its message; `u` unsubscribes its recipient. */
export type AddressKind = "b" | "u"

/** The prefix keeps these local parts apart from addresses that people choose. */
const localPart = new RegExp(`^([bu])\\+([a-z2-7]{${tokenLength}})$`, "i")

const idBytes = (id: number) => Buffer.from(id.toString(16).padStart(idLength * 2, "0"), "hex")

const macOf = (key: KeyObject, id: number) => shortMac(key, String(id), macLength)

/**
 * The public name of a message: its id with a MAC, so that another message's token cannot be guessed. It survives mail
 * servers that change the case of letters.
 */
export const verpToken = (key: KeyObject, id: EmailMessageId): string =>
  encodeBase32(Buffer.concat([idBytes(id), macOf(key, id)]))

/** The message of a token; none if any bit is wrong. */
export const readVerpToken = (key: KeyObject, token: string): Option.Option<EmailMessageId> => {
  const bytes = token.length === tokenLength ? decodeBase32(token) : undefined
  if (bytes === undefined) return Option.none()
  const id = Number.parseInt(Buffer.from(bytes.subarray(0, idLength)).toString("hex"), 16)
  if (!Number.isSafeInteger(id) || id < 1) return Option.none()
  return timingSafeEqual(macOf(key, id), bytes.subarray(idLength))
    ? Option.some(EmailMessageId.make(id))
    : Option.none()
}

/** The local part of a message's address (VERP): 34 of the 64 characters that are allowed. */
export const verpLocalPart = (kind: AddressKind, key: KeyObject, id: EmailMessageId): string =>
  `${kind}+${verpToken(key, id)}`

/** The message of such a local part, in either case of letters. */
export const readVerpLocalPart = (kind: AddressKind, key: KeyObject, local: string): Option.Option<EmailMessageId> => {
  const [, written, token] = localPart.exec(local) ?? []
  return token === undefined || written?.toLowerCase() !== kind ? Option.none() : readVerpToken(key, token)
}

/** The meaning of one of our addresses. */
export type Addressee =
  /** A message's return path. */
  | { readonly _tag: "Message"; readonly id: EmailMessageId }
  /** The address in a message's List-Unsubscribe. */
  | { readonly _tag: "Unsubscribe"; readonly id: EmailMessageId }
  /** `fbl@`, the address registered with feedback loops; the report itself must name the message. */
  | { readonly _tag: "FeedbackLoop" }

/**
 * The addresses that receive reports about our mail: each message has its own return path (VERP) at the bounce domain.
 * Without a bounce domain mail has its sender as its return path.
 */
export class ReturnPaths extends Context.Service<ReturnPaths, {
  /** The bounce domain. */
  readonly domain: string | undefined
  /** The mailto address by which a recipient unsubscribes from the message's sender (RFC 2369 3.2). */
  readonly unsubscribeMailto: (id: EmailMessageId) => string | undefined
  /**
   * The envelope of a message to one recipient: its own return path, and a request for delivery reports (RFC 3461), which
   * relays without DSN do not get. Without a bounce domain the envelope is unchanged.
   */
  readonly envelopeOf: (id: EmailMessageId, envelope: SmtpMail["envelope"]) => SmtpMail["envelope"]
  /** Identifies the message in its Message-ID, also without a bounce domain, since one may be set later. */
  readonly tokenOf: (id: EmailMessageId) => string
  /** The message of a token, if the token is ours. */
  readonly messageOf: (token: string) => Option.Option<EmailMessageId>
  /** The meaning of an address at the bounce domain; none for any other address. */
  readonly read: (address: string) => Option.Option<Addressee>
}>()("messaging-service/channels/email/reports/ReturnPaths") {
  static readonly layer = Layer.effect(
    ReturnPaths,
    Effect.gen(function*() {
      const { bounce: key, unsubscribe: unsubscribeKey } = yield* MacKeys
      const { domain } = yield* bounceSettings
      const addresseeOf = (local: string): Option.Option<Addressee> => {
        if (local.toLowerCase() === "fbl") return Option.some({ _tag: "FeedbackLoop" })
        const message = Option.map(readVerpLocalPart("b", key, local), (id) => ({ _tag: "Message", id }) as const)
        return Option.isSome(message)
          ? message
          : Option.map(readVerpLocalPart("u", unsubscribeKey, local), (id) => ({ _tag: "Unsubscribe", id }))
      }
      return ReturnPaths.of({
        domain,
        envelopeOf: (id, envelope) =>
          domain === undefined ? envelope : {
            from: `${verpLocalPart("b", key, id)}@${domain}`,
            to: envelope.to,
            dsn: { envid: verpToken(key, id), notify: ["SUCCESS", "FAILURE", "DELAY"], ret: "HDRS", orcpt: envelope.to }
          },
        tokenOf: (id) => verpToken(key, id),
        messageOf: (token) => readVerpToken(key, token),
        read: (address) => {
          const at = address.lastIndexOf("@")
          // The listener's library converts an internationalised domain to Unicode.
          const written = Result.getOrUndefined(parseDomainName(address.slice(at + 1)))
          if (written === undefined || written !== domain) return Option.none()
          return addresseeOf(address.slice(0, at))
        },
        // Some mail programs do not send a mail without a subject.
        unsubscribeMailto: (id) =>
          domain === undefined ? undefined : `${verpLocalPart("u", unsubscribeKey, id)}@${domain}?subject=unsubscribe`
      })
    })
  )
}
