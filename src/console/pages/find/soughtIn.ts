import { Option, Schema } from "effect"
import { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { RequestId } from "../../../requests/RequestRecord.ts"
import {
  EmailBatchId,
  EventId,
  FailoverId,
  MessageBatchId,
  pathId,
  TemplateId,
  VerificationId
} from "../../../values/Ids.ts"
import { placeOf } from "../../page/placeOf.ts"

/** Kinds of records with whole numbers as ids. */
const numbered = ["email", "sms", "whatsapp", "webhook", "delivery", "session", "domain"] as const
export type Numbered = (typeof numbered)[number]

/** What a text may be that a person looks for. */
export type Sought =
  | { readonly kind: "request"; readonly id: RequestId }
  | { readonly kind: "emailBatch"; readonly id: EmailBatchId }
  | { readonly kind: "batch"; readonly id: MessageBatchId; readonly channel: "sms" | "whatsapp" }
  | { readonly kind: "event"; readonly id: EventId }
  | { readonly kind: "failover"; readonly id: FailoverId }
  | { readonly kind: "template"; readonly id: TemplateId }
  | { readonly kind: "verification"; readonly id: VerificationId }
  /** A path of the API, and the page that shows the same. */
  | { readonly kind: "place"; readonly path: string; readonly place: `/${string}` }
  /** A record of one of these kinds. */
  | { readonly kind: "record"; readonly id: number; readonly kinds: ReadonlyArray<Numbered> }
  | { readonly kind: "address"; readonly text: string }
  /** The digits with the code of the country as far as they have one, and the last digits that every spelling has. */
  | { readonly kind: "phone"; readonly digits: string; readonly ending: string }
  | { readonly kind: "words"; readonly text: string }

const decoded = <A, B>(schema: Schema.Codec<A, string>, found: (id: A) => B) => {
  const decode = Schema.decodeUnknownOption(schema)
  return (text: string) => Option.map(decode(text), found)
}

/** Ids that tell by their form what they name. */
const named: ReadonlyArray<(text: string) => Option.Option<Sought>> = [
  decoded(RequestId, (id) => ({ kind: "request", id })),
  decoded(EmailBatchId, (id) => ({ kind: "emailBatch", id })),
  decoded(MessageBatchId, (id) => ({ kind: "batch", id, channel: id.startsWith("sms") ? "sms" : "whatsapp" })),
  decoded(EventId, (id) => ({ kind: "event", id })),
  decoded(FailoverId, (id) => ({ kind: "failover", id })),
  decoded(TemplateId, (id) => ({ kind: "template", id })),
  decoded(VerificationId, (id) => ({ kind: "verification", id })),
  (text) => {
    const path = /\/v1\/[^?#\s]+/.exec(text)?.[0] ?? ""
    return Option.map(Option.fromUndefinedOr(placeOf(path)), (place) => ({ kind: "place", path, place }))
  }
]

const numberId = Schema.decodeUnknownOption(pathId(Schema.Int))

/** `sms 42`, `sms/42`, `sms:42` and `sms #42`. */
const withKind = /^([a-z]+)[\s/:#]+(\d+)$/i

const isNumbered = (word: string): word is Numbered => numbered.some((kind) => kind === word)

const recordIn = (text: string): ReadonlyArray<Sought> => {
  const [, word = "", digits = text] = withKind.exec(text) ?? []
  const id = numberId(digits)
  const kind = word.toLowerCase()
  if (Option.isNone(id) || (word !== "" && !isNumbered(kind))) return []
  return [{ kind: "record", id: id.value, kinds: isNumbered(kind) ? [kind] : numbered }]
}

/** The least digits of a phone number, of which others have the last. */
const leastDigits = 5

const phoneIn = (text: string): ReadonlyArray<Sought> => {
  if (!/^[+(]*[\d\s().\-/]+$/.test(text)) return []
  const digits = text.replaceAll(/\D/g, "").replace(/^00/, "")
  return digits.length < leastDigits ? [] : [{ kind: "phone", digits, ending: digits.replace(/^0+/, "") }]
}

/** Most characters that the search for messages takes. */
const longest = 100

/** What a text may be, the most certain first. Empty for a text without a letter or digit. */
export const soughtIn = (given: string): ReadonlyArray<Sought> => {
  const text = given.trim()
  const id = named.flatMap((find) => Option.toArray(find(text)))
  if (id.length > 0) return id
  const numbers = [...recordIn(text), ...phoneIn(text)]
  if (numbers.length > 0) return numbers
  const words = text.slice(0, longest)
  if (!/[\p{L}\p{N}]/u.test(words)) return []
  return [{ kind: words.includes("@") ? "address" : "words", text: words }]
}

/** Whether a kind of record is a message. */
export const isMessage = Schema.is(SummaryChannel)
