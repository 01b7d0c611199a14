import { Context, Effect, Layer, Schema } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"
import { Mailbox } from "./Mailbox.ts"

/** The sender of mail without `from`: the setting MAIL_FROM. */
export class DefaultSender
  extends Context.Service<DefaultSender, Mailbox>()("messaging-service/channels/email/request/DefaultSender")
{
  /** Fails with `WrongSetting` if MAIL_FROM is not a mailbox. */
  static readonly layer = Layer.effect(
    DefaultSender,
    Effect.flatMap(AppConfig, ({ mailFrom }) =>
      Schema.decodeEffect(Mailbox)(mailFrom).pipe(
        Effect.mapError(() =>
          new WrongSetting({ name: "MAIL_FROM", expects: "an address or Name <address>", value: mailFrom })
        )
      ))
  )
}
