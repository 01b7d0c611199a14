import { Effect, Redacted } from "effect"
import { isLoopbackHost } from "../../values/publicAddress.ts"
import * as Setting from "./Setting.ts"
import type { settings } from "./settings.ts"

/** The settings as they are written, before the mode completes them. */
export type Written = {
  readonly [K in keyof typeof settings]: (typeof settings)[K] extends Setting.Setting<infer A> ? A : never
}

/** The settings whose default depends on the mode. */
export interface ByMode extends Pick<Written, "smtpUrl" | "smsProvider" | "whatsappUrl"> {
  /** Development keeps everything on this machine, and opens what is convenient there. */
  readonly mode: "development" | "production"
  /** Why the service is in this mode, as a clause. */
  readonly modeReason: string
  readonly registration: "open" | "closed"
  readonly registrationConfirm: boolean
  readonly webhookAllowLoopback: boolean
  readonly otpLimitHourAll: number
  readonly otpLimitDayAll: number
}

/** Why others could use this service, if they could. */
const reachable = ({ host, publicUrl }: Written): string | undefined => {
  if (publicUrl !== undefined && !isLoopbackHost(Redacted.value(publicUrl).hostname)) {
    return "PUBLIC_URL is not a loopback address"
  }
  return isLoopbackHost(host) ? undefined : "HOST is not a loopback address"
}

/** The mode, and the defaults that follow from it. Fails if development is asked for where others have access. */
export const byMode = Effect.fnUntraced(function*(written: Written) {
  const why = reachable(written)
  if (written.mode === "development" && why !== undefined) {
    return yield* new Setting.WrongSetting({ name: "MODE", expects: `production, because ${why}`, value: written.mode })
  }
  const assumed = why ?? (written.databaseUrl === undefined ? undefined : "DATABASE_URL is set")
  const mode = written.mode ?? (assumed === undefined ? "development" : "production")
  const isDevelopment = mode === "development"
  const sandbox = isDevelopment ? "sandbox" : undefined
  const twice = (limit: number) => isDevelopment ? Number.POSITIVE_INFINITY : 2 * limit
  return {
    mode,
    modeReason: written.mode === undefined
      ? assumed ?? "the database is embedded, and HOST and PUBLIC_URL are loopback addresses"
      : "MODE is set",
    registration: written.registration ?? (isDevelopment ? "open" : "closed"),
    registrationConfirm: written.registrationConfirm ?? !isDevelopment,
    webhookAllowLoopback: written.webhookAllowLoopback ?? isDevelopment,
    otpLimitHourAll: written.otpLimitHourAll ?? twice(written.otpLimitHour),
    otpLimitDayAll: written.otpLimitDayAll ?? twice(written.otpLimitDay),
    smtpUrl: written.smtpUrl ?? sandbox,
    smsProvider: written.smsProvider ?? sandbox,
    whatsappUrl: written.whatsappUrl ?? sandbox
  } satisfies ByMode
})
