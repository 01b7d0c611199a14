import { Option, Result } from "effect"
import type { AppConfig } from "../../../platform/config/AppConfig.ts"
import { parseHttpsUrl, type UrlRefusal } from "../../../values/HttpsUrl.ts"

type Rules = Pick<AppConfig["Service"], "whatsappMediaAllowLoopback">

/**
 * Why no file is fetched from this URL; what its name resolves to is for the download to check. What webhooks may reach
 * says nothing here: a file is read by whoever it is sent to, and this machine's services are nobody's to read.
 */
export const mediaUrlRefusal = (url: string, { whatsappMediaAllowLoopback }: Rules): UrlRefusal | undefined => {
  const rules = { allowLoopback: whatsappMediaAllowLoopback, example: "https://example.com/photo.jpg" }
  return Option.getOrUndefined(Result.getFailure(parseHttpsUrl(url, rules)))
}
