import { Clock, Data, Duration, Effect, Exit, Option } from "effect"
import type { Scope } from "effect"
import { countersBy, gauge } from "../../../platform/observability/series.ts"
import { millisOf, monotonicMillis } from "../../../platform/schedule/monotonic.ts"
import type { AccountId } from "../../../values/Ids.ts"
import { Breaker } from "./Breaker.ts"
import { HangUps } from "./HangUps.ts"
import type { Admission } from "./RelayCircuit.ts"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import type { SmtpConversation } from "./SmtpConversation.ts"
import { type RecipientRefused, RelayFault, RelayUnavailable, type SendFailure } from "./SmtpErrors.ts"
import { SmtpLanes } from "./SmtpLanes.ts"

/** Limits of the pool. */
export interface SmtpPoolOptions {
  readonly maxConnections: number
  /** Connections that only singles use. */
  readonly reservedForSingle: number
  /** Messages before QUIT: relays limit them, and a new connection may reach another of the relay's hosts. */
  readonly messagesPerConnection: number
  /** Shorter than the five minutes after which relays may disconnect (RFC 5321 4.5.3.2.7). */
  readonly idleTimeout: Duration.Duration
  /** How long a closing pool waits for messages in flight. */
  readonly drainTimeout: Duration.Duration
  /** How long the limit stays reduced after the relay refused another connection. */
  readonly reducedLimitTime: Duration.Duration
}

/** The relay ended a transaction early; the cause may be the relay or the message. */
const duringTransaction: ReadonlySet<RelayFault> = new Set<RelayFault>(["dismissed", "lost"])

const failures = countersBy({
  name: "email_relay_failures_total",
  description: "Failures of the relay that opened the circuit of this node or kept it open, by kind",
  label: "fault",
  values: RelayFault.literals
})

const circuitOpen = gauge("email_relay_circuit_open", "1 while this node pauses mail because the relay is unavailable")

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The relay refused one more connection while others work; never leaves the pool. */
class ConnectionLimitReached extends Data.TaggedError("ConnectionLimitReached") {}

interface Pooled {
  readonly conversation: SmtpConversation
  sent: number
  idleSince: number
}

/**
 * Connections to one relay: opened when needed, kept for the next message, bounded by `maxConnections`, closed with the
 * scope. Further senders wait in their lane. After a failure of the relay the circuit breaker fails every send at once
 * until a probe succeeds.
 */
export class SmtpPool {
  readonly #connect: Effect.Effect<SmtpConversation, RelayUnavailable>
  readonly #options: SmtpPoolOptions
  readonly #lanes: SmtpLanes
  readonly #now: () => number
  readonly #open = new Set<Pooled>()
  readonly #idle: Array<Pooled> = []
  readonly #breaker = new Breaker()
  readonly #hangUps = new HangUps()
  #opening = 0
  #closing = false
  #reducedUntil: number | undefined
  #capabilities: SmtpCapabilities | undefined

  private constructor(
    connect: Effect.Effect<SmtpConversation, RelayUnavailable>,
    options: SmtpPoolOptions,
    clock: Clock.Clock
  ) {
    this.#connect = connect
    this.#now = () => millisOf(clock)
    this.#options = options
    this.#lanes = new SmtpLanes(options.maxConnections, options.reservedForSingle)
  }

  /** Makes a pool that lives as long as the scope; it opens no connection yet. */
  static readonly make = Effect.fn("SmtpPool.make")(
    function*(connect: Effect.Effect<SmtpConversation, RelayUnavailable>, options: SmtpPoolOptions): Effect.fn.Return<
      SmtpPool,
      never,
      Scope.Scope
    > {
      const pool = new SmtpPool(connect, options, yield* Clock.Clock)
      yield* Effect.addFinalizer(() => pool.#shutdown)
      yield* Effect.forkScoped(pool.#closeIdle)
      return pool
    }
  )

  /** The capabilities of the newest connection. */
  get capabilities(): SmtpCapabilities | undefined {
    return this.#capabilities
  }

  /** Sends one message over a pooled connection. */
  readonly send = (mail: SmtpMail): Effect.Effect<Accepted, SendFailure> =>
    Effect.catchTag(
      this.#lanes.withPermit(mail, Effect.suspend(() => this.#sendIfAdmitted(mail, this.#now()))),
      "ConnectionLimitReached",
      // The limit is lower now, so this waits for one of the connections that work.
      () => this.send(mail)
    )

  /** Whether a send may start now, of this account if it names one; asking does not use up the probe. */
  readonly admission = (account?: AccountId): Effect.Effect<Admission> =>
    Effect.sync(() => {
      const now = this.#now()
      const admission = this.#breaker.admission(now)
      return account === undefined || admission._tag !== "Pass" ? admission : this.#hangUps.admission(account, now)
    })

  /** The accounts whose mail may not start now. */
  readonly paused: Effect.Effect<ReadonlySet<AccountId>> = Effect.sync(() => this.#hangUps.paused(this.#now()))

  #sendIfAdmitted(mail: SmtpMail, now: number): Effect.Effect<Accepted, SendFailure | ConnectionLimitReached> {
    const send = Effect.suspend(() => {
      if (this.#reducedUntil !== undefined && now >= this.#reducedUntil) this.#restoreLimit()
      return this.#hangUps.guard(mail, now, this.#attempt(mail))
    })
    return this.#breaker.guard(now, send)
  }

  #attempt(mail: SmtpMail): Effect.Effect<Accepted, SendFailure | ConnectionLimitReached> {
    return Effect.uninterruptibleMask((restore) => {
      const onNew = () => Effect.flatMap(this.#connectNew(restore), (opened) => this.#exchange(opened, mail, restore))
      const kept = this.#checkout()
      return kept === undefined ? onNew() : Effect.catchTag(
        this.#exchange(kept, mail, restore),
        "RelayUnavailable",
        // Relays end connections after a time or a number of messages. The relay did not accept the message, so a new
        // connection may try at once.
        onNew
      )
    })
  }

  #exchange(pooled: Pooled, mail: SmtpMail, restore: Restore): Effect.Effect<Accepted, SendFailure> {
    const isNew = pooled.sent === 0
    pooled.sent++
    return restore(pooled.conversation.send(mail)).pipe(
      Effect.onExit((exit) => this.#afterSend(pooled, exit)),
      Effect.catchTag(
        "RelayUnavailable",
        (failure): Effect.Effect<never, RelayUnavailable | RecipientRefused> =>
          !isNew || this.#closing
            ? failure
            : duringTransaction.has(failure.fault)
            ? this.#hangUps.note(failure, mail)
            : this.#trip(failure)
      )
    )
  }

  // Newest first, so that the oldest stay idle long enough to be closed.
  #checkout(): Pooled | undefined {
    for (let pooled = this.#idle.pop(); pooled !== undefined; pooled = this.#idle.pop()) {
      if (pooled.conversation.usable()) return pooled
      this.#drop(pooled)
    }
    return undefined
  }

  #connectNew(restore: Restore): Effect.Effect<Pooled, RelayUnavailable | ConnectionLimitReached> {
    return Effect.suspend(() => {
      this.#opening++
      return restore(this.#connect)
    }).pipe(
      Effect.onExit(() =>
        Effect.sync(() => {
          this.#opening--
        })
      ),
      Effect.catch((failure): Effect.Effect<never, RelayUnavailable | ConnectionLimitReached> =>
        failure.fault === "connect" && this.#open.size + this.#opening > 0
          ? this.#reduceLimit(failure)
          : this.#trip(failure)
      ),
      Effect.tap(({ capabilities }) => this.#noteCapabilities(capabilities)),
      Effect.map((conversation) => {
        const pooled: Pooled = { conversation, sent: 0, idleSince: 0 }
        this.#open.add(pooled)
        return pooled
      })
    )
  }

  // Logged once, and again after a change: without DSN the service learns of no delivery beyond the relay.
  #noteCapabilities(capabilities: SmtpCapabilities): Effect.Effect<void> {
    return Effect.suspend(() => {
      const before = this.#capabilities?.extensions.includes("DSN")
      const now = capabilities.extensions.includes("DSN")
      this.#capabilities = capabilities
      if (before === now) return Effect.void
      return Effect.logInfo(`SMTP relay ${now ? "reports deliveries (DSN)" : "offers no delivery reports (DSN)"}`)
    })
  }

  #afterSend(pooled: Pooled, exit: Exit.Exit<Accepted, SendFailure>): Effect.Effect<void> {
    const { conversation } = pooled
    const failure = Option.getOrUndefined(Exit.findErrorOption(exit))
    const isReply = failure?._tag === "RecipientRefused" && failure.stage !== "client"
    const recovered = exit._tag === "Success" || isReply ? this.#recover : Effect.void
    return Effect.flatMap(recovered, () => {
      if (conversation.usable() && pooled.sent >= this.#options.messagesPerConnection) return this.#quit(pooled)
      return isReply && conversation.usable()
        ? Effect.andThen(conversation.reset, this.#keep(pooled))
        : this.#keep(pooled)
    })
  }

  #keep(pooled: Pooled): Effect.Effect<void> {
    return Effect.sync(() => {
      if (!pooled.conversation.usable()) return this.#drop(pooled)
      pooled.idleSince = this.#now()
      this.#idle.push(pooled)
    })
  }

  #drop(pooled: Pooled): void {
    pooled.conversation.close()
    this.#open.delete(pooled)
  }

  // A relay that ended the connection would not answer QUIT.
  #quit(pooled: Pooled): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.ensuring(
        pooled.conversation.usable() ? pooled.conversation.quit : Effect.void,
        Effect.sync(() => this.#drop(pooled))
      )
    )
  }

  #trip(failure: RelayUnavailable): Effect.Effect<never, RelayUnavailable> {
    return Effect.suspend(() => {
      this.#restoreLimit()
      failures(failure.fault)
      circuitOpen(1)
      return this.#breaker.trip(failure, "SMTP relay unavailable")
    })
  }

  get #recover(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#hangUps.clear()
      if (!this.#breaker.close()) return Effect.void
      circuitOpen(0)
      return Effect.logInfo("SMTP relay recovered")
    })
  }

  // Other connections work or are still opening, so this may be one too many: relays refuse it with 421 or at TCP. A
  // lower limit keeps mail flowing, while an open circuit would stop it. Each failure lowers the limit, so a relay that
  // is down fails the last connection and opens the circuit.
  #reduceLimit(failure: RelayUnavailable): Effect.Effect<never, ConnectionLimitReached> {
    return Effect.gen({ self: this }, function*() {
      this.#reducedUntil = (yield* monotonicMillis) + Duration.toMillis(this.#options.reducedLimitTime)
      const connections = this.#open.size + this.#opening
      this.#lanes.resize(connections)
      yield* Effect.logInfo("SMTP relay refused another connection").pipe(
        Effect.annotateLogs({ connections, reason: failure.reason })
      )
      return yield* new ConnectionLimitReached()
    })
  }

  #restoreLimit(): void {
    if (this.#reducedUntil === undefined) return
    this.#reducedUntil = undefined
    this.#lanes.resize(this.#options.maxConnections)
  }

  get #closeIdle(): Effect.Effect<never> {
    const idleMillis = Duration.toMillis(this.#options.idleTimeout)
    return Effect.gen({ self: this }, function*() {
      yield* Effect.sleep(idleMillis / 4)
      const since = (yield* monotonicMillis) - idleMillis
      const old = this.#idle.filter((pooled) => pooled.idleSince <= since)
      this.#idle.splice(0, old.length)
      // These are no longer in the pool, so an interruption here would leave them open.
      yield* Effect.uninterruptible(
        Effect.forEach(old, (pooled) => this.#quit(pooled), { concurrency: "unbounded", discard: true })
      )
    }).pipe(Effect.forever)
  }

  get #shutdown(): Effect.Effect<void> {
    const reason = "this node is shutting down"
    return Effect.gen({ self: this }, function*() {
      this.#closing = true
      this.#lanes.close(new RelayUnavailable({ fault: "closing", reason, retryInMillis: 0 }))
      yield* Effect.timeoutOption(Effect.interruptible(this.#lanes.idle), this.#options.drainTimeout)
      const idle = this.#idle.splice(0)
      yield* Effect.forEach(idle, (pooled) => this.#quit(pooled), { concurrency: "unbounded", discard: true })
      for (const pooled of this.#open) this.#drop(pooled)
    })
  }
}
