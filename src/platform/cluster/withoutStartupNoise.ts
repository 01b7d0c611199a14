import { Effect, Layer, Logger } from "effect"

/** What the library warns of in every ordinary start and end of a node. */
const ordinary = ["No healthy runners available", "Could not find entity manager for address, retrying"]

const isOrdinary = (message: unknown): boolean =>
  Array.isArray(message) ? message.some(isOrdinary) : ordinary.some((text) => text === message)

/** A layer whose warnings are worth a look: what is ordinary, and nobody can do anything about, is not logged. */
export const quietly = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrap(Effect.map(Logger.CurrentLoggers, (loggers) => {
    const quiet = [...loggers].map((logger) =>
      Logger.make((entry) => isOrdinary(entry.message) ? undefined : logger.log(entry))
    )
    return Layer.provide(layer, Layer.succeed(Logger.CurrentLoggers, new Set(quiet)))
  }))
