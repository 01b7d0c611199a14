import { Option, Result } from "effect"
import type { AppConfig } from "../../platform/config/AppConfig.ts"
import { parseHttpsUrl, type UrlRefusal } from "../../values/HttpsUrl.ts"

type Rules = Pick<AppConfig["Service"], "databaseUrl" | "webhookAllowLoopback">

/** Development, on the embedded database, may have files on this machine, as webhooks may. */
export const allowsLoopback = ({ databaseUrl, webhookAllowLoopback }: Rules): boolean =>
  webhookAllowLoopback ?? databaseUrl === undefined

/** Why no file is fetched from this URL; what its name resolves to is for the download to check. */
export const mediaUrlRefusal = (url: string, rules: Rules): UrlRefusal | undefined =>
  Option.getOrUndefined(Result.getFailure(parseHttpsUrl(url, { allowLoopback: allowsLoopback(rules) })))
