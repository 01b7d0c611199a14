import { Effect, Layer, Logger } from "effect"

/** Warnings of the library in every normal start and shutdown of a node. */
const expectedWarnings = ["No healthy runners available", "Could not find entity manager for address, retrying"]

const isExpected = (message: unknown): boolean =>
  Array.isArray(message) ? message.some(isExpected) : expectedWarnings.some((text) => text === message)

/** Removes expected warnings from a layer's logs, so that the remaining ones deserve attention. */
export const withoutStartupNoise = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrap(Effect.map(Logger.CurrentLoggers, (loggers) => {
    const filtered = [...loggers].map((logger) =>
      Logger.make((entry) => isExpected(entry.message) ? undefined : logger.log(entry))
    )
    return Layer.provide(layer, Layer.succeed(Logger.CurrentLoggers, new Set(filtered)))
  }))
