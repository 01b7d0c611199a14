import { Context, Effect, Layer, Schema } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"
import { ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { domainOf } from "../../../values/EmailAddress.ts"
import { Mailbox } from "./Mailbox.ts"

const mailboxOf = (name: string, value: string) =>
  Schema.decodeEffect(Mailbox)(value).pipe(
    Effect.mapError(() => new WrongSetting({ name, expects: "an address or Name <address>", value }))
  )

/** The sender of mail without `from`: the setting MAIL_FROM. */
export class DefaultSender
  extends Context.Service<DefaultSender, Mailbox>()("messaging-service/channels/email/request/DefaultSender")
{
  /** Fails with `WrongSetting` if MAIL_FROM is not a mailbox. */
  static readonly layer = Layer.effect(
    DefaultSender,
    Effect.flatMap(AppConfig, ({ mailFrom }) => mailboxOf("MAIL_FROM", mailFrom))
  )
}

/** The sender of notices to account owners: the setting NOTICE_FROM, or MAIL_FROM. */
export class NoticeAddress extends Context.Service<NoticeAddress, Mailbox>()(
  "messaging-service/channels/email/request/DefaultSender/NoticeAddress"
) {
  static readonly layer = Layer.effect(
    NoticeAddress,
    Effect.flatMap(
      AppConfig,
      ({ mailFrom, noticeFrom }) =>
        noticeFrom === undefined ? mailboxOf("MAIL_FROM", mailFrom) : mailboxOf("NOTICE_FROM", noticeFrom)
    )
  )
}

/**
 * Decides the sender of an account's mail. All accounts share the default sender, so in production its name stays in the
 * display name: a tenant cannot write as the service itself.
 */
export const makeSenderOf = Effect.gen(function*() {
  const standard = yield* DefaultSender
  const { mailFromShared, mode } = yield* AppConfig
  const nameOf = (name: string) =>
    mode === "production" ? `${name} via ${standard.name ?? domainOf(standard.address)}` : name

  return Effect.fnUntraced(function*(
    { from, from_name }: { readonly from?: Mailbox | undefined; readonly from_name?: string | undefined },
    /** Whether the text is the service's own, as that of a code is. */
    isOwnText = false
  ) {
    if (from !== undefined) return from_name === undefined ? from : { ...from, name: from_name }
    if (!mailFromShared && !isOwnText) {
      const message = "is required, because this service has no shared sender: set an address of a verified domain"
      return yield* ValidationFailed.of("from", message, "missing")
    }
    return from_name === undefined ? standard : { ...standard, name: nameOf(from_name) }
  })
})
