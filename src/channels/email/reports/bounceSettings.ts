import { Effect } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"

/** Of mail that goes to the sandbox, which leads nowhere else. */
const sandboxDomain = "bounces.localhost.localdomain"

/** Where this node takes reports about mail, as far as it does; fails when they could not come. */
export const bounceSettings = Effect.gen(function*() {
  const { bounceHost: host, bouncePort, mailBounceDomain, smtpUrl } = yield* AppConfig
  // The sandbox writes reports as well, so that all that can become of a mail can be seen without a setting.
  const isSandbox = smtpUrl === undefined
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
