import { Clock, Data, Duration, Effect, Exit, Option } from "effect"
import type { Scope } from "effect"
import { RelayCircuit } from "./RelayCircuit.ts"
import type { Admission, CircuitPauses } from "./RelayCircuit.ts"
import { putOff } from "./relayFailure.ts"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import { RelayUnavailable } from "./SmtpErrors.ts"
import type { RecipientRefused, RelayFault, SendFailure } from "./SmtpErrors.ts"
import { SmtpLanes } from "./SmtpLanes.ts"
import type { SmtpSession } from "./SmtpSession.ts"

/** What the pool allows itself. */
export interface SmtpPoolOptions {
  readonly maxConnections: number
  /** Connections that bulk mail may not use. */
  readonly reservedForSingle: number
  /** A connection says QUIT after this many messages: relays cap them, and a fresh one spreads over their hosts. */
  readonly messagesPerConnection: number
  /** Below the five minutes after which relays may hang up (RFC 5321 4.5.3.2.7). */
  readonly idleTimeout: Duration.Duration
  readonly pauses: CircuitPauses
  /** How long a closing pool lets messages in flight finish. */
  readonly closeTimeout: Duration.Duration
  /** How long a relay that answered "too many connections" is given fewer. */
  readonly shrinkTime: Duration.Duration
}

/** The conversation about one message ended early, which the relay or the message may be the reason of. */
const inConversation: ReadonlySet<RelayFault> = new Set<RelayFault>(["dismissed", "lost"])

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The relay refused one more connection while others work; never leaves the pool. */
class Crowded extends Data.TaggedError("Crowded") {}

interface Pooled {
  readonly session: SmtpSession
  sent: number
  idleSince: number
}

/**
 * Connections to one relay: opened when needed, kept for the next message, bounded by `maxConnections`, closed with the
 * scope. Messages in flight never exceed the connections; further senders wait in their lane. A relay that fails is
 * left alone for a growing pause in which every send fails at once.
 */
export class SmtpPool {
  readonly #connect: Effect.Effect<SmtpSession, RelayUnavailable>
  readonly #options: SmtpPoolOptions
  readonly #lanes: SmtpLanes
  readonly #now: () => number
  readonly #live = new Set<Pooled>()
  readonly #idle: Array<Pooled> = []
  #circuit: RelayCircuit = RelayCircuit.closed
  /** Whose conversations ended early, on fresh connections, since the relay last answered about anybody's mail. */
  readonly #suspects = new Set<string>()
  #opening = 0
  #closing = false
  #shrunkUntil: number | undefined
  #capabilities: SmtpCapabilities | undefined

  private constructor(
    connect: Effect.Effect<SmtpSession, RelayUnavailable>,
    options: SmtpPoolOptions,
    clock: Clock.Clock
  ) {
    this.#connect = connect
    this.#now = () => clock.currentTimeMillisUnsafe()
    this.#options = options
    this.#lanes = new SmtpLanes(options.maxConnections, options.reservedForSingle)
  }

  /** Makes a pool that lives as long as the scope; nothing is connected yet. */
  static readonly make = Effect.fn("SmtpPool.make")(
    function*(connect: Effect.Effect<SmtpSession, RelayUnavailable>, options: SmtpPoolOptions): Effect.fn.Return<
      SmtpPool,
      never,
      Scope.Scope
    > {
      const pool = new SmtpPool(connect, options, yield* Clock.Clock)
      yield* Effect.addFinalizer(() => pool.#shutdown)
      yield* Effect.forkScoped(pool.#reap)
      return pool
    }
  )

  /** What the newest session was offered. */
  get capabilities(): SmtpCapabilities | undefined {
    return this.#capabilities
  }

  /** Hands one message to the relay over a pooled connection. */
  readonly send = (mail: SmtpMail): Effect.Effect<Accepted, SendFailure> =>
    Effect.catchTag(
      this.#lanes.withPermit(mail.priority, Effect.suspend(() => this.#gated(mail, this.#now()))),
      "Crowded",
      // The permit is back, and there are fewer now: this waits until a connection that works is free.
      () => this.send(mail)
    )

  /** What a send would be told now; it takes no probe away from anybody. */
  readonly admission: Effect.Effect<Admission> = Effect.sync(() =>
    RelayCircuit.admit(this.#circuit, this.#now()).admission
  )

  #gated(mail: SmtpMail, now: number): Effect.Effect<Accepted, SendFailure | Crowded> {
    const { admission, next } = RelayCircuit.admit(this.#circuit, now)
    this.#circuit = next
    if (admission._tag === "Refused") {
      return Effect.fail(
        new RelayUnavailable({ fault: "paused", reason: admission.reason, retryInMillis: admission.retryInMillis })
      )
    }
    if (this.#shrunkUntil !== undefined && now >= this.#shrunkUntil) this.#grow()
    if (admission._tag === "Pass") return this.#attempt(mail)
    // Whatever the probe met (even an interruption) is recorded by now; if it proved nothing, the next one may probe.
    return Effect.ensuring(
      this.#attempt(mail),
      Effect.sync(() => {
        this.#circuit = RelayCircuit.abandon(this.#circuit)
      })
    )
  }

  #attempt(mail: SmtpMail): Effect.Effect<Accepted, SendFailure | Crowded> {
    return Effect.uninterruptibleMask((restore) => {
      const onFresh = () => Effect.flatMap(this.#open(restore), (fresh) => this.#exchange(fresh, mail, restore))
      const kept = this.#checkout()
      return kept === undefined ? onFresh() : Effect.catchTag(
        this.#exchange(kept, mail, restore),
        "RelayUnavailable",
        // A connection that was used before has ended, as relays allow each so much time and so many messages. The
        // message was not taken, so a fresh one may try at once.
        (failure) => inConversation.has(failure.fault) ? onFresh() : failure
      )
    })
  }

  #exchange(pooled: Pooled, mail: SmtpMail, restore: Restore): Effect.Effect<Accepted, SendFailure> {
    const fresh = pooled.sent === 0
    pooled.sent++
    return restore(pooled.session.send(mail)).pipe(
      Effect.onExit((exit) => this.#settle(pooled, exit)),
      Effect.catchTag(
        "RelayUnavailable",
        (failure): Effect.Effect<never, RelayUnavailable | RecipientRefused> =>
          !inConversation.has(failure.fault) ? this.#trip(failure) : fresh ? this.#suspect(failure, mail) : failure
      )
    )
  }

  // Newest first: the old ones at the bottom become idle long enough to be closed.
  #checkout(): Pooled | undefined {
    for (let pooled = this.#idle.pop(); pooled !== undefined; pooled = this.#idle.pop()) {
      if (pooled.session.usable()) return pooled
      this.#drop(pooled)
    }
    return undefined
  }

  #open(restore: Restore): Effect.Effect<Pooled, RelayUnavailable | Crowded> {
    return Effect.suspend(() => {
      this.#opening++
      return restore(this.#connect)
    }).pipe(
      Effect.onExit(() =>
        Effect.sync(() => {
          this.#opening--
        })
      ),
      Effect.catch((failure): Effect.Effect<never, RelayUnavailable | Crowded> =>
        failure.fault === "connect" && this.#live.size + this.#opening > 0 ? this.#shrink(failure) : this.#trip(failure)
      ),
      Effect.tap((session) => this.#learn(session.capabilities)),
      Effect.map((session) => {
        const pooled: Pooled = { session, sent: 0, idleSince: 0 }
        this.#live.add(pooled)
        return pooled
      })
    )
  }

  // Said once, and again when the relay changes its mind: without DSN nobody hears of a delivery beyond the relay.
  #learn(capabilities: SmtpCapabilities): Effect.Effect<void> {
    return Effect.suspend(() => {
      const before = this.#capabilities?.extensions.includes("DSN")
      const now = capabilities.extensions.includes("DSN")
      this.#capabilities = capabilities
      if (before === now) return Effect.void
      return Effect.logInfo(`SMTP relay ${now ? "reports deliveries (DSN)" : "offers no delivery reports (DSN)"}`)
    })
  }

  #settle(pooled: Pooled, exit: Exit.Exit<Accepted, SendFailure>): Effect.Effect<void> {
    const { session } = pooled
    const failure = Option.getOrUndefined(Exit.findErrorOption(exit))
    const isAnswer = failure?._tag === "RecipientRefused" && failure.stage !== "client"
    const heard = exit._tag === "Success" || isAnswer ? this.#heal : Effect.void
    return Effect.flatMap(heard, () => {
      if (session.usable() && pooled.sent >= this.#options.messagesPerConnection) return this.#retire(pooled)
      return isAnswer && session.usable() ? Effect.andThen(session.reset, this.#keep(pooled)) : this.#keep(pooled)
    })
  }

  #keep(pooled: Pooled): Effect.Effect<void> {
    return Effect.sync(() => {
      if (!pooled.session.usable()) return this.#drop(pooled)
      pooled.idleSince = this.#now()
      this.#idle.push(pooled)
    })
  }

  #drop(pooled: Pooled): void {
    pooled.session.close()
    this.#live.delete(pooled)
  }

  // Of a connection that the relay has ended nobody would answer a QUIT.
  #retire(pooled: Pooled): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.ensuring(
        pooled.session.usable() ? pooled.session.quit : Effect.void,
        Effect.sync(() => this.#drop(pooled))
      )
    )
  }

  /**
   * The relay let us in and then ended the conversation about a message. As long as that happens to one recipient alone,
   * it is that recipient's matter, an attempt like one answered by 4xx: a message that crashes a filter must neither stop
   * everybody else's nor be offered for ever. When it happens to a second one before the relay has answered about anybody
   * else, the relay is sick: it is left alone, and nobody loses an attempt, unless it is their second time. Without that,
   * a few such recipients who are left over could accuse each other and the relay for ever.
   */
  #suspect(failure: RelayUnavailable, { envelope: { to } }: SmtpMail) {
    return Effect.suspend((): Effect.Effect<never, RelayUnavailable | RecipientRefused> => {
      if (this.#closing) return failure
      const again = this.#suspects.has(to)
      this.#suspects.add(to)
      const refusal = putOff(failure)
      if (this.#suspects.size === 1) return refusal
      return again ? Effect.andThen(Effect.ignore(this.#trip(failure)), refusal) : this.#trip(failure)
    })
  }

  #trip(failure: RelayUnavailable): Effect.Effect<never, RelayUnavailable> {
    return Effect.gen({ self: this }, function*() {
      const now = yield* Clock.currentTimeMillis
      const before = this.#circuit
      const { fault, reason } = failure
      const after = RelayCircuit.trip(before, { now, reason, pauses: this.#options.pauses })
      this.#circuit = after
      this.#grow()
      if (after !== before) {
        yield* Effect.logWarning("SMTP relay unavailable").pipe(
          Effect.annotateLogs({ fault, reason, pause_ms: after.pause })
        )
      }
      return yield* new RelayUnavailable({ fault, reason, retryInMillis: Math.max(after.until - now, 0) })
    })
  }

  get #heal(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#suspects.clear()
      if (this.#circuit._tag === "Closed") return Effect.void
      this.#circuit = RelayCircuit.closed
      return Effect.logInfo("SMTP relay takes mail again")
    })
  }

  // Other connections work or may yet, so this was perhaps one too many (421 or a refused connect is how relays say
  // it). Opening the circuit would stop mail that flows; asking for fewer connections does not. Every failure lowers
  // the limit, so a relay that is down is found out by the last one.
  #shrink(failure: RelayUnavailable): Effect.Effect<never, Crowded> {
    return Effect.gen({ self: this }, function*() {
      this.#shrunkUntil = (yield* Clock.currentTimeMillis) + Duration.toMillis(this.#options.shrinkTime)
      const connections = this.#live.size + this.#opening
      this.#lanes.resize(connections)
      yield* Effect.logInfo("SMTP relay takes no further connection").pipe(
        Effect.annotateLogs({ connections, reason: failure.reason })
      )
      return yield* new Crowded()
    })
  }

  #grow(): void {
    if (this.#shrunkUntil === undefined) return
    this.#shrunkUntil = undefined
    this.#lanes.resize(this.#options.maxConnections)
  }

  get #reap(): Effect.Effect<never> {
    const idleMillis = Duration.toMillis(this.#options.idleTimeout)
    return Effect.gen({ self: this }, function*() {
      yield* Effect.sleep(idleMillis / 4)
      const since = (yield* Clock.currentTimeMillis) - idleMillis
      const old = this.#idle.filter((pooled) => pooled.idleSince <= since)
      this.#idle.splice(0, old.length)
      // Taken out of the pool, so nobody else would close them if this were interrupted half way.
      yield* Effect.uninterruptible(
        Effect.forEach(old, (pooled) => this.#retire(pooled), { concurrency: "unbounded", discard: true })
      )
    }).pipe(Effect.forever)
  }

  get #shutdown(): Effect.Effect<void> {
    const reason = "this node is shutting down"
    return Effect.gen({ self: this }, function*() {
      this.#closing = true
      this.#lanes.close(new RelayUnavailable({ fault: "closing", reason, retryInMillis: 0 }))
      yield* Effect.timeoutOption(Effect.interruptible(this.#lanes.idle), this.#options.closeTimeout)
      const idle = this.#idle.splice(0)
      yield* Effect.forEach(idle, (pooled) => this.#retire(pooled), { concurrency: "unbounded", discard: true })
      for (const pooled of this.#live) this.#drop(pooled)
    })
  }
}
