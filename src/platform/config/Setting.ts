import { Config, Effect, Option, Redacted, Result, Schema } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { parseDomainName } from "../../values/DomainName.ts"

/** One environment variable of the operator: its parser, meaning and default. */
export interface Setting<A> {
  readonly name: string
  /** The default as text; empty means "unset". */
  readonly fallback: string
  /** One line for `.env.example` and the settings table. */
  readonly meaning: string
  /** Ends the sentence "NAME must be …". */
  readonly expects: string
  readonly parse: (text: string) => Option.Option<A>
  /** A secret is masked wherever settings are shown. */
  readonly secret: boolean
}

/** A setting has an invalid value. The start stops with this message. */
export class WrongSetting extends Schema.TaggedError<WrongSetting>()("WrongSetting", {
  name: Schema.String,
  expects: Schema.String,
  value: Schema.String
}) {
  override get message() {
    return `${this.name} must be ${this.expects}, but it is ${JSON.stringify(this.value)}.`
  }
}

/** Settings are invalid. The start stops with a line for each. */
export class WrongSettings extends Schema.TaggedError<WrongSettings>()("WrongSettings", {
  reasons: Schema.Array(Schema.String)
}) {
  override get message() {
    return this.reasons.join("\n")
  }
}

const masked = "********"

/** The current text. An empty variable counts as unset, because shells and compose files leave such variables. */
const textOf = (setting: Setting<unknown>) =>
  Config.option(Config.String(setting.name)).pipe(
    Effect.orDie,
    Effect.map(Option.filter((text) => text !== "")),
    Effect.map(Option.getOrElse(() => setting.fallback))
  )

/** Reads one setting. Fails with {@link WrongSetting}, which never shows a secret. */
export const read = Effect.fnUntraced(function*<A>(setting: Setting<A>) {
  const text = yield* textOf(setting)
  const value = setting.parse(text)
  if (Option.isSome(value)) return value.value
  return yield* new WrongSetting({
    name: setting.name,
    expects: setting.expects,
    value: setting.secret ? masked : text
  })
})

/** The current value as text for `config` and `doctor`; a secret is masked. */
export const shown = Effect.fnUntraced(function*(setting: Setting<unknown>) {
  const text = yield* textOf(setting)
  return setting.secret && text !== "" ? masked : text
})

type Describe<A> = (name: string, fallback: string, meaning: string) => Setting<A>

const kind =
  <A>(expects: string, parse: (text: string) => Option.Option<A>, secret = false): Describe<A> =>
  (name, fallback, meaning) => ({ name, fallback, meaning, expects, parse, secret })

/** A setting that may be unset: its value is then `undefined`. */
export const optional =
  <A>(inner: Describe<A>): (name: string, meaning: string) => Setting<A | undefined> => (name, meaning) => {
    const setting = inner(name, "", meaning)
    return { ...setting, parse: (text) => text === "" ? Option.some(undefined) : setting.parse(text) }
  }

/** Free text, at least one character. */
export const text: Describe<string> = kind("text", (value) => value === "" ? Option.none() : Option.some(value))

/** A whole number within bounds. */
export const int = (minimum: number, maximum: number): Describe<number> =>
  kind(`a whole number from ${minimum} to ${maximum}`, (text) => {
    const value = Number(text)
    return text.trim() !== "" && Number.isInteger(value) && value >= minimum && value <= maximum
      ? Option.some(value)
      : Option.none()
  })

/** A number with up to three decimals within bounds. */
export const decimal = (minimum: number, maximum: number): Describe<number> =>
  kind(`a number from ${minimum} to ${maximum} with at most three decimals`, (text) => {
    const value = Number(text)
    return /^\d+(\.\d{1,3})?$/.test(text) && value >= minimum && value <= maximum ? Option.some(value) : Option.none()
  })

/** A quota: a whole number, or `unlimited`, whose value is `undefined`. */
export const quota: Describe<number | undefined> = kind(
  "a whole number, or unlimited",
  (text) =>
    text === "unlimited"
      ? Option.some(undefined)
      : /^\d{1,12}$/.test(text)
      ? Option.some(Number(text))
      : Option.none()
)

/** `true` or `false`. */
export const boolean: Describe<boolean> = kind(
  "true or false",
  (text) => text === "true" ? Option.some(true) : text === "false" ? Option.some(false) : Option.none()
)

/** One of a few words of lower case, which may be written in capitals. */
export const oneOf = <const L extends ReadonlyArray<string>>(words: L): Describe<L[number]> => {
  const decode = Schema.decodeUnknownOption(Schema.Literals(words))
  return kind(`${words.slice(0, -1).join(", ")} or ${words.at(-1)}`, (text) => decode(text.toLowerCase()))
}

/** Some of a few words, separated by commas. */
export const words = <const L extends ReadonlyArray<string>>(all: L): Describe<ReadonlySet<L[number]>> => {
  const decode = Schema.decodeUnknownOption(Schema.NonEmptyArray(Schema.Literals(all)))
  return kind(
    `some of ${all.join(", ")}, separated by commas`,
    (text) => Option.map(decode(text.split(",").map((entry) => entry.trim())), (entries) => new Set(entries))
  )
}

/** An absolute URL of one of the given schemes (without the colon). It may carry a password, so it is a secret. */
export const url = (schemes: ReadonlyArray<string>, isSecret = true): Describe<Redacted.Redacted<URL>> =>
  kind(
    `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`,
    (text) =>
      Option.fromNullishOr(URL.parse(text)).pipe(
        Option.filter((parsed) => schemes.includes(parsed.protocol.slice(0, -1)) && parsed.hostname !== ""),
        Option.map((parsed) => Redacted.make(parsed, { label: "URL" }))
      ),
    isSecret
  )

/** A fixed word, or a value of the other kind. */
export const wordOr = <const W extends string, A>(word: W, inner: Describe<A>): Describe<W | A> => (...args) => {
  const setting = inner(...args)
  return {
    ...setting,
    expects: `${word} or ${setting.expects}`,
    parse: (text) => text === word ? Option.some(word) : setting.parse(text)
  }
}

/** Addresses or networks, separated by commas. */
export const networks: Describe<ReadonlyArray<IpNetwork.IpNetwork>> = kind(
  "addresses or networks such as 10.0.0.0/8, separated by commas",
  (text) =>
    Option.all(
      text.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "").map((entry) =>
        Result.getSuccess(
          IpNetwork.fromString(entry.includes("/") ? entry : `${entry}/${entry.includes(":") ? 128 : 32}`)
        )
      )
    )
)

/** Words, separated by commas. */
export const list: Describe<ReadonlyArray<string>> = kind("a list, separated by commas", (text) => {
  const entries = text.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "")
  return entries.length === 0 ? Option.none() : Option.some(entries)
})

/** Countries, separated by commas. */
export const countries: Describe<ReadonlySet<string>> = kind(
  "two-letter codes of countries such as RW, separated by commas",
  (text) => {
    const codes = text.split(",").map((entry) => entry.trim().toUpperCase()).filter((entry) => entry !== "")
    return codes.length > 0 && codes.every((code) => /^[A-Z]{2}$/.test(code))
      ? Option.some(new Set(codes))
      : Option.none()
  }
)

const addressAndPort = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/i

/** Address and port in the form that resolvers accept. In the setting a bare IPv6 address has no brackets. */
const nameServer = (entry: string): Option.Option<string> => {
  const [, v6, v4 = entry, port = "53"] = addressAndPort.exec(entry) ?? []
  const text = v6 ?? v4
  const address = NetAddress.ipFromString(text)
  if (Result.isFailure(address) || Number(port) < 1 || Number(port) > 65_535) return Option.none()
  return Option.some(NetAddress.isIpv4Address(address.success) ? `${text}:${port}` : `[${text}]:${port}`)
}

/** Name servers in the order of their use, separated by commas. */
export const nameServers: Describe<ReadonlyArray<string>> = kind(
  "addresses of name servers such as 127.0.0.1:53, separated by commas",
  (text) =>
    Option.all(text.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "").map(nameServer)).pipe(
      Option.filter((servers) => servers.length > 0)
    )
)

/** A secret that people copy from a link: letters, digits, `-` and `_`. */
export const token: Describe<Redacted.Redacted> = kind(
  "16 to 128 letters, digits, - or _",
  (text) => /^[\w-]{16,128}$/.test(text) ? Option.some(Redacted.make(text)) : Option.none(),
  true
)

/** A host name. */
export const domainName: Describe<string> = kind("a domain name", (text) => Result.getSuccess(parseDomainName(text)))

/** A version of three numbers. */
export const version: Describe<readonly [number, number, number]> = kind(
  "a version such as 2.3000.1023223821",
  (text) => {
    const [, major, minor, patch] = /^(\d{1,10})\.(\d{1,10})\.(\d{1,10})$/.exec(text) ?? []
    return patch === undefined ? Option.none() : Option.some([Number(major), Number(minor), Number(patch)] as const)
  }
)

/** 32 bytes in base64, such as the output of `openssl rand -base64 32`. */
export const key256: Describe<Redacted.Redacted<Uint8Array>> = kind(
  "32 bytes in base64 (openssl rand -base64 32)",
  (text) => {
    const bytes = Buffer.from(text, "base64")
    return bytes.length === 32 && bytes.toString("base64") === text
      ? Option.some(Redacted.make(new Uint8Array(bytes)))
      : Option.none()
  },
  true
)
