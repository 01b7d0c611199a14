import { Effect, Option, Redacted } from "effect"
import { dkimSelector } from "../../../email-domains/EmailDomain.ts"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { parseDomainName } from "../../../values/DomainName.ts"
import { domainOf, type EmailAddress } from "../../../values/EmailAddress.ts"
import type { AccountId } from "../../../values/Ids.ts"
import { DefaultSender } from "../request/DefaultSender.ts"
import { type DkimSigner, DkimSigningFailed, parseKey } from "./dkim.ts"

/**
 * Finds the signer of a sender's mail: none if its domain has no key; a failure if the key is unusable, or if another
 * account has taken the domain over since the mail was accepted. The default
 * sender, of an account or of the service itself (no account), uses the key that its domain is verified with, whichever
 * account has it: only the domain's owner can publish that key.
 */
export const make = Effect.gen(function*() {
  const domains = yield* EmailDomains
  const standard = yield* DefaultSender

  return Effect.fnUntraced(function*(accountId: AccountId | null, from: EmailAddress) {
    const domain = domainOf(from)
    const failed = (reason: string) => new DkimSigningFailed({ domain, reason })
    // An account may have added the default sender's domain without publishing its key.
    const found = accountId === null || from === standard.address
      ? domains.verifiedKey(domain)
      : domains.dkimKey(accountId, domain)
    const pem = yield* found.pipe(
      Effect.catchTags({
        SenderNotVerified: () => Effect.fail(failed("the domain was removed, or belongs to another account")),
        SealBroken: () => Effect.fail(failed("its key cannot be decrypted"))
      })
    )
    if (Option.isNone(pem)) return Option.none<DkimSigner>()
    const name = yield* Effect.fromResult(parseDomainName(domain)).pipe(Effect.mapError(failed))
    const key = yield* Effect.mapError(parseKey(Redacted.value(pem.value)), ({ reason }) => failed(reason))
    return Option.some({ domain: name, selector: dkimSelector, key })
  })
})
