import { Effect, Predicate, Schema } from "effect"

const Step = Schema.Literals(["account", "directories", "binaries", "lease", "initdb", "start"])

/** The embedded PostgreSQL does not work on this machine. The message says what to do and ends the start. */
export class EmbeddedPostgresUnavailable
  extends Schema.TaggedError<EmbeddedPostgresUnavailable>()("EmbeddedPostgresUnavailable", {
    step: Step,
    reason: Schema.String
  })
{
  override get message() {
    if (this.step === "directories") {
      return `DATA_DIR cannot be used: ${this.reason} Choose a directory that this account may write to, or set `
        + "DATABASE_URL to your PostgreSQL server (14 or newer)."
    }
    return `The embedded PostgreSQL cannot be used (${this.step}): ${this.reason} `
      + "Or set DATABASE_URL to your PostgreSQL server (14 or newer)."
  }

  /** Runs calls of Node. The error that they throw becomes the reason. */
  static attempt<A>(step: typeof Step.Type, call: () => Promise<A> | A) {
    return Effect.tryPromise({
      try: () => Promise.resolve().then(call),
      catch: (cause) => new EmbeddedPostgresUnavailable({ step, reason: sentence(cause) })
    })
  }
}

const sentence = (cause: unknown) => {
  const text = (Predicate.isError(cause) ? cause.message : String(cause)).trim()
  return /[.!?]$/.test(text) ? text : `${text}.`
}
