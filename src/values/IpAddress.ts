import { Effect, Option, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/
const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/

/** The canonical spelling of an address; undefined for any other text. An IPv4 address in an IPv6 one becomes IPv4. */
const canonical = (text: string): string | undefined => {
  if (ipv4.test(text)) return text
  if (text.length > 45 || !/^[\da-fA-F:.]+$/.test(text)) return undefined
  const name = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1)
  const [, high, low] = mapped.exec(name ?? "") ?? []
  if (high === undefined || low === undefined) return name
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [first >> 8, first & 255, second >> 8, second & 255].join(".")
}

const Canonical = Schema.String.check(
  Schema.makeFilter((text: string) => canonical(text) === text ? undefined : "must be an IP address in its usual form")
).pipe(Schema.brand("IpAddress"))

/** An IPv4 or IPv6 address, without a zone or a port. */
export const IpAddress = Schema.String.annotate({ description: "An IPv4 or IPv6 address" }).pipe(
  Schema.decodeTo(
    Canonical,
    SchemaTransformation.transformEffect({
      decode: (text, options) =>
        Effect.mapError(
          Effect.fromOption(Option.fromUndefinedOr(canonical(text))),
          () => new SchemaIssue.InvalidValue({ message: "must be an IPv4 or IPv6 address" }, text, options)
        ),
      encode: Effect.succeed
    })
  )
)
export type IpAddress = typeof Canonical.Type

/**
 * What one customer of a network provider has: an IPv4 address, or the IPv6 network of 64 bits around an address. Text that
 * is no address stands for itself.
 */
export const networkOf = (address: string): string => {
  const known = canonical(address)
  if (known === undefined || !known.includes(":")) return known ?? address
  return IpNetwork.format(IpNetwork.fromAddressUnsafe(NetAddress.ipFromStringUnsafe(known), 64))
}
