import { Context, Effect, Layer, Redacted, Result } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"
import { parseSmppUrl, type SmppAddress } from "./parseSmppUrl.ts"

/** The carrier of the setting SMPP_URL. */
export class SmppCarrier
  extends Context.Service<SmppCarrier, SmppAddress>()("messaging-service/channels/sms/smpp/SmppCarrier")
{
  /** Fails with `WrongSetting` when SMPP_URL cannot be used. */
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
