import { Effect } from "effect"
import type { AccountId } from "../../../values/Ids.ts"
import { Breaker } from "./Breaker.ts"
import type { Admission } from "./RelayCircuit.ts"
import { asDeferral } from "./relayFailure.ts"
import type { SmtpMail } from "./Smtp.ts"
import type { RecipientRefused, RelayUnavailable } from "./SmtpErrors.ts"

/** One account's mail that the relay hung up on. */
interface Suspects {
  readonly recipients: Set<string>
  readonly breaker: Breaker
}

/**
 * Mail whose transaction the relay ended early on a new connection, by account, since the relay last replied about any
 * recipient. The relay accepted these connections, so the mail may be the cause: one account's mail never stops the mail
 * of another one.
 *
 * While it happens to one recipient of an account alone, it counts as an attempt, like a 4xx reply: a message that crashes
 * a filter must not stop the account's other mail, and must not be retried for ever. When a second recipient follows, the
 * account's own circuit opens and no recipient loses an attempt, except one that is suspected for the second time. Without
 * that exception a few such recipients could keep the circuit open for ever.
 */
export class HangUps {
  readonly #accounts = new Map<AccountId | null, Suspects>()

  /** Whether mail of the account may start. */
  admission(account: AccountId, now: number): Admission {
    return this.#accounts.get(account)?.breaker.admission(now) ?? { _tag: "Pass" }
  }

  /** The accounts whose mail may not start. */
  paused(now: number): ReadonlySet<AccountId> {
    const paused = Array.from(this.#accounts).filter(([, { breaker }]) => breaker.admission(now)._tag === "Refused")
    return new Set(paused.flatMap(([account]) => account ?? []))
  }

  /** Runs a send unless the mail of its account is paused. */
  guard<A, E, R>({ account }: SmtpMail, now: number, send: Effect.Effect<A, E, R>) {
    return this.#accounts.get(account)?.breaker.guard(now, send) ?? send
  }

  /** Notes an early end of a transaction, and fails with what it means for the message. */
  note(failure: RelayUnavailable, { account, envelope: { to } }: SmtpMail) {
    return Effect.suspend((): Effect.Effect<never, RelayUnavailable | RecipientRefused> => {
      const { breaker, recipients } = this.#accounts.get(account) ?? { breaker: new Breaker(), recipients: new Set() }
      this.#accounts.set(account, { breaker, recipients })
      const again = recipients.has(to)
      recipients.add(to)
      if (recipients.size === 1) return asDeferral(failure)
      const tripped = breaker.trip(failure, "SMTP relay hangs up on the mail of an account").pipe(
        Effect.annotateLogs({ account })
      )
      return again ? Effect.andThen(Effect.ignore(tripped), asDeferral(failure)) : tripped
    })
  }

  /** The relay replied about a recipient, so it works. */
  clear(): void {
    this.#accounts.clear()
  }
}
