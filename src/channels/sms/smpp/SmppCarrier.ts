import { Context, Effect, Layer, Redacted, Result } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"

/** The address of a carrier and the credentials of the bind. */
export interface SmppAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly systemId: string
  readonly password: string
  /** Whether the carrier wants a transmitter and a receiver in place of a transceiver. */
  readonly isPair: boolean
}

const decoded = (text: string) => Result.try(() => decodeURIComponent(text))

/** Whether a text fits into a C-octet string: ASCII only, so that it does not end early. */
const isField = (text: string, maxLength: number) => text.length <= maxLength && !/[^\u0020-\u007e]/.test(text)

const binds = ["", "?bind=transceiver", "?bind=pair"]

/** Parses `smpp(s)://system_id:password@host:port`, which `?bind=pair` may follow. The failure never contains the password. */
export const parseSmppUrl = (url: URL): Result.Result<SmppAddress, string> =>
  Result.gen(function*() {
    const tls = url.protocol === "smpps:"
    const systemId = yield* Result.mapError(decoded(url.username), () => "the system_id is not URL-encoded")
    const password = yield* Result.mapError(decoded(url.password), () => "the password is not URL-encoded")
    if (systemId === "" || !isField(systemId, 15)) {
      return yield* Result.fail("the system_id must have 1 to 15 characters of ASCII")
    }
    if (!isField(password, 64)) return yield* Result.fail("the password must have at most 64 characters of ASCII")
    if ((url.pathname !== "" && url.pathname !== "/") || !binds.includes(url.search) || url.hash !== "") {
      return yield* Result.fail("only ?bind=transceiver or ?bind=pair may follow host and port")
    }
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port === "" ? (tls ? 3550 : 2775) : Number(url.port),
      tls,
      systemId,
      password,
      isPair: url.search === "?bind=pair"
    }
  })

/** The carrier of the setting SMPP_URL. */
export class SmppCarrier
  extends Context.Service<SmppCarrier, SmppAddress>()("messaging-service/channels/sms/smpp/SmppCarrier")
{
  /** Fails with `WrongSetting` when SMPP_URL is missing or invalid. */
  static readonly layer = Layer.effect(
    SmppCarrier,
    Effect.gen(function*() {
      const { smppUrl } = yield* AppConfig
      const parsed = smppUrl === undefined ? Result.fail("it is unset") : parseSmppUrl(Redacted.value(smppUrl))
      if (Result.isSuccess(parsed)) return parsed.success
      return yield* new WrongSetting({
        name: "SMPP_URL",
        expects: `smpp(s)://system_id:password@host:port with SMS_PROVIDER=smpp (${parsed.failure})`,
        value: smppUrl === undefined ? "" : "********"
      })
    })
  )
}
