/**
 * Finds the text that says what the API says of a field or of a DNS record. A sentence of the API identifies its rule,
 * as in gettext: the answer has no other name for it. A test compares this list with the sources of the API.
 */
import { Record } from "effect"
import type { Key } from "./Texts.ts"

/** The text of a rule that a field broke, of a verdict on a DNS record, or of a warning about a domain. */
type RuleKey = Extract<Key, `fault.${string}` | `verdict.${string}`>

/** The sentences of the API, each with its text. `<most>` is a part that the text repeats. The first match counts. */
export const rules: ReadonlyArray<readonly [sentence: string, text: RuleKey]> = [
  ["is required", "fault.missing"],
  ["is required unless text or template_id is given", "fault.text"],
  ["is required unless template_id is given", "fault.missing"],
  ["is required, because this service has no shared sender: set an address of a verified domain", "fault.required"],
  ["must not be empty", "fault.missing"],
  ["must not be blank", "fault.missing"],
  ["must be one of <values>", "fault.choice"],
  ["each value may appear once", "fault.once"],
  ["must have at most <most> characters", "fault.most"],
  ["must have at least <least> characters", "fault.least"],
  ["must have at most <most> characters with its values filled in", "fault.filled"],
  ["must have at most <most> bytes with its values filled in", "fault.bytes"],
  ["must not contain line breaks", "fault.line"],
  ["must not contain line breaks or control characters", "fault.line"],
  ["must not contain control characters", "fault.line"],
  ["must not contain a NUL character", "fault.characters"],
  ["must be well-formed Unicode", "fault.characters"],
  ["must not have a name with a NUL character or a lone surrogate", "fault.characters"],
  ["must have at most <most> addresses", "fault.entries"],
  ["must have at most <most> elements", "fault.entries"],
  ["must have at most <most> names", "fault.entries"],
  ["must not be empty: write an address such as <example>", "fault.email.at"],
  ["has no @: write an address such as <example>", "fault.email.at"],
  ["has more than one @: write exactly one address", "fault.email.at"],
  ["has nothing before the @", "fault.email.at"],
  ["has nothing after the @", "fault.email.at"],
  ["must be one address: write several as separate entries, without commas or semicolons", "fault.email.one"],
  ["must be the bare address, such as <example>, without angle brackets or a display name", "fault.email.bare"],
  ["must not have a quoted local part: quotation marks are not supported", "fault.email.characters"],
  ["must not contain a comment in parentheses", "fault.email.characters"],
  ["must not contain spaces", "fault.email.characters"],
  ["must have only ASCII characters before the @, because relays refuse others", "fault.email.characters"],
  ["has a character before the @ that is not allowed there", "fault.email.characters"],
  ["must not have a dot first, last or twice in a row before the @", "fault.email.dots"],
  ["must have at most <most> characters before the @", "fault.email.long"],
  ["has a wrong domain after the @: it <rule>", "fault.email.domain"],
  ["must be written as <example>", "fault.mailbox"],
  ["must have its display name in double quotes, as in <example>", "fault.mailbox"],
  ["has an invalid display name: it <rule>", "fault.mailbox.name"],
  ["must be an email address, because <reason>", "fault.email.channel"],
  ["must not be empty: write a number such as <example>", "fault.phone"],
  ["must begin with the country code, such as <example>", "fault.phone"],
  ["must be a phone number with its country code, such as <example>", "fault.phone"],
  ["must have only digits after the +, without letters or an extension", "fault.phone.digits"],
  ["is not a possible number: check its country code and its length", "fault.phone.impossible"],
  ["must be a phone number or the WhatsApp id of a group", "fault.phone.chat"],
  ["must be a phone number, because <reason>", "fault.phone.channel"],
  ["must be a phone number", "fault.phone.channel"],
  ["is a type of number that receives no codes", "fault.phone.line"],
  ["must not contain a star", "fault.star"],
  ["must be 4 to 8 digits, as a string", "fault.digits"],
  ["must be a bare domain name, without an IP address, a scheme or a port", "fault.domain.bare"],
  ["must be a name, not an IP address", "fault.domain.bare"],
  ["must not have an empty label: check its dots", "fault.domain.dots"],
  ["must not have a label of more than <most> characters", "fault.domain.long"],
  ["must have labels of letters, digits and inner hyphens only", "fault.domain.characters"],
  ["must not contain an underscore", "fault.domain.characters"],
  ["must contain letters, digits, hyphens and dots only", "fault.domain.characters"],
  ["must be a valid internationalised domain name", "fault.domain.characters"],
  ["must have at least two labels, such as example.com", "fault.domain.short"],
  ["must be a domain that you own, not a public suffix", "fault.domain.suffix"],
  ["<rule>; the operator can allow this machine with WEBHOOK_ALLOW_LOOPBACK=true", "fault.url.loopback"],
  ["must start with https://", "fault.url"],
  ["must be a URL that starts with https://, such as <example>", "fault.url"],
  ["must not contain a user name or password", "fault.url.login"],
  ["must not contain a fragment (#)", "fault.url.fragment"],
  ["port <port> is not allowed: <rule>", "fault.url.port"],
  ["\"<host>\" is not a host name", "fault.url.host"],
  ["must have 1 to 64 characters, each a letter, a digit or one of _ . : -", "fault.tag"],
  ["must have 1 to 64 letters, digits or _ . : -", "fault.tag"],
  ["must be at most <most> tags", "fault.tags"],
  ["at most <most> tags", "fault.tags"],
  ["must name at most <most> addresses; use /v1/email/send-bulk for more", "fault.addresses"],
  ["must name at most <most> numbers", "fault.entries"],
  ["must name at least one recipient", "fault.missing"],
  ["must be an RFC 3339 timestamp with an offset, such as <example>", "fault.time"],
  ["must be at least 10 seconds ahead", "fault.time.soon"],
  ["must be at most <days> days ahead", "fault.time.late"],
  ["must not be in the future", "fault.time.future"],
  ["must be after since", "fault.time.order"],
  ["line <line>, column <column>: this {{ is not closed: add }}", "fault.template.open"],
  ["line <line>, column <column>: this {{ is not closed before the next one: add }}", "fault.template.open"],
  ["line <line>, column <column>: there is no name between {{ and }}", "fault.template.empty"],
  [
    "line <line>, column <column>: three braces have no meaning: write {{ name }}; values are always escaped",
    "fault.template.three"
  ],
  ["line <line>, column <column>: {{<name>}} is not a placeholder: <rule>", "fault.template.name"],
  ["line <line>, column <column>: {{<name>}} names a reserved word: choose another name", "fault.template.reserved"],
  ["line <line>, column <column>: a text has at most <most> placeholders", "fault.template.places"],
  [
    "must have at most <most> different variables, with names of at most <length> characters",
    "fault.template.variables"
  ],
  ["must have a value for <names>; or write a default into the text, as in <example>", "fault.values.missing"],
  ["must have text, a number, true or false for <names>, not a list or an object", "fault.values.nested"],
  [
    "must be a name of 3 to 11 letters and digits with at least one letter, a number such as <example>, or a short code of 3 to 8 digits",
    "fault.sender"
  ],
  ["must be listed by GET /v1/sms/sender-ids", "fault.sender.listed"],
  ["name at least one event, or \"*\" for all", "fault.events"],
  ["unknown event \"<name>\", <rule>", "fault.events.unknown"],
  ["at most <most> headers", "fault.headers"],
  ["the name must have 1 to <most> letters, digits or hyphens", "fault.header.name"],
  ["this header is reserved: choose another name", "fault.header.reserved"],
  ["the name appears twice, in another case", "fault.header.twice"],
  ["the value must have at most <most> characters", "fault.header.long"],
  [
    "the value must be printable ASCII on one line, not empty, and without blanks at its ends",
    "fault.header.value"
  ],
  ["no value is stored under this name, so send the value", "fault.header.masked"],
  ["must not be a row of letters, digits or keys", "fault.password.row"],
  ["must not repeat the same few characters", "fault.password.repeat"],
  ["must not be your name or your email address", "fault.password.own"],
  ["must not be one of the most common passwords", "fault.password.common"],
  ["must not resemble one of the most common passwords", "fault.password.common"],
  ["must be harder to guess; use several words that do not belong together", "fault.password.guess"],
  ["must be the same as password", "fault.mismatch"],
  ["must not be the current password", "fault.same_password"],
  ["is not the current password", "fault.wrong_password"],
  [
    "cannot be checked, because the account has no password yet; set one with POST /v1/auth/password/forgot",
    "fault.no_password"
  ],
  ["is not the password of the account with this address", "fault.wrong_password"],
  ["names a batch that has not ended; wait until it is completed", "fault.batch.open"],
  ["names a batch without failed recipients", "fault.batch.none"],
  ["names a batch whose content is no longer kept; send it as a new one", "fault.batch.gone"],
  ["names a batch whose sender id is no longer offered; send it as a new one", "fault.batch.sender"],
  ["names an email of a batch, which has the time of its batch; reschedule the batch", "fault.batch.time"],
  ["must be the word DELETE in capital letters", "fault.delete"],
  ["There is no SPF record. Publish this one; it can take minutes to become visible.", "verdict.spf.missing"],
  ["There are <count> SPF records, which invalidates all of them. Keep only one: <record>", "verdict.spf.several"],
  ["The SPF record does not include the host. <change>: <record>", "verdict.spf.add"],
  ["<name>, the target of redirect=, has <count> SPF records. Keep only one.", "verdict.spf.target"],
  ["Neither this record nor that of <name> includes the host. <change>: <record>", "verdict.spf.redirect"],
  ["There is no TXT record. Publish this one; it can take minutes to become visible.", "verdict.dkim.missing"],
  ["There is a TXT record, but no DKIM key. <publish>", "verdict.dkim.none"],
  ["There are <count> DKIM keys. Remove all but the one with this value.", "verdict.dkim.several"],
  ["The record is not a list of DKIM tags. <publish>", "verdict.dkim.tags"],
  ["Its version is not DKIM1. <publish>", "verdict.dkim.version"],
  ["Its key type is not rsa. <publish>", "verdict.dkim.type"],
  ["It does not allow SHA-256. <publish>", "verdict.dkim.sha256"],
  ["It does not allow the key for email. <publish>", "verdict.dkim.email"],
  ["Its key is empty, which marks it as revoked. <publish>", "verdict.dkim.revoked"],
  ["Its key is not valid base64. <publish>", "verdict.dkim.base64"],
  ["Its key is not this domain's key, or it was cut off. <publish>", "verdict.dkim.other"],
  [
    "There is no DMARC record. It is not required, but Gmail and Yahoo require one from bulk senders. Publish this one.",
    "verdict.dmarc.missing"
  ],
  ["The DMARC record<of> has no valid policy. Set p=none, or publish this record.", "verdict.dmarc.policy"],
  ["There are <count> DMARC records<of>, which invalidates them. Keep only one.", "verdict.dmarc.several"],
  ["There is no MX record. <optional>", "verdict.mx.missing"],
  ["The MX record names <host>, which has no address. Give it an A or AAAA record.", "verdict.mx.address"],
  ["The MX record says that this domain accepts no mail. <optional>", "verdict.mx.none"],
  ["Mail to this domain goes to another server, which is fine. <optional>", "verdict.mx.elsewhere"],
  ["The DKIM key is not published correctly. <why>", "verdict.warning.dkim"],
  ["There is no SPF record that includes this service. <why>", "verdict.warning.spf"],
  ["There is no DMARC policy. <why>", "verdict.warning.dmarc"],
  ["<reason>. This says nothing about the record; check again in a few minutes.", "verdict.unanswered"]
]

/** A sentence as a pattern, with a group for each `<part>`. */
const patternOf = (sentence: string) =>
  new RegExp(
    `^${
      sentence.split(/(<\w+>)/).map((part) =>
        /^<\w+>$/.test(part) ? `(?${part}.*?)` : part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
      ).join("")
    }$`,
    "s"
  )

const patterns = rules.map(([sentence, text]) => ({ pattern: patternOf(sentence), text }))

/** An amount is a number, so that texts write it as the language does. */
const valueOf = (part: string) => /^[1-9]\d{0,8}$/.test(part) ? Number(part) : part

/** The text of a sentence with what it repeats; undefined for a sentence that the console does not know. */
export const ruleOf = (
  sentence: string
): { readonly text: RuleKey; readonly values: Readonly<Record<string, string | number>> } | undefined => {
  for (const { pattern, text } of patterns) {
    const found = pattern.exec(sentence)
    if (found !== null) return { text, values: Record.map({ ...found.groups }, valueOf) }
  }
  return undefined
}
