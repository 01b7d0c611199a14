import type { MailExchanger } from "../platform/net/Dns.ts"
import type { Judgement } from "./EmailDomain.ts"
import { judge } from "./judge.ts"

const optional = "It is not required. This service receives no replies"

/** Whether mail to the domain goes to `host`, which must have an address. Recommended, not required. */
export const judgeMx = (
  exchangers: ReadonlyArray<MailExchanger>,
  host: string,
  hasAddress: boolean
): Judgement => {
  const found = exchangers.map(({ exchange, priority }) => `${priority} ${exchange === "" ? "." : exchange}`)
  if (exchangers.length === 0) return judge("missing", found, `There is no MX record. ${optional}.`)
  if (exchangers.some(({ exchange }) => exchange === host)) {
    return hasAddress
      ? judge("verified", found, `Mail to this domain goes to ${host}.`)
      : judge("mismatch", found, `The MX record names ${host}, which has no address. Give it an A or AAAA record.`)
  }
  return exchangers.every(({ exchange }) => exchange === "")
    ? judge("mismatch", found, `The MX record says that this domain accepts no mail. ${optional}.`)
    : judge("mismatch", found, `Mail to this domain goes to another server, which is fine. ${optional}.`)
}
