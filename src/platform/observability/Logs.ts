import { Cause, DateTime, Effect, Layer, Logger, type LogLevel, References } from "effect"
import { AppConfig } from "../config/AppConfig.ts"

const levels: Readonly<Record<AppConfig["Service"]["logLevel"], LogLevel.LogLevel>> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warning: "Warn",
  error: "Error"
}

const text = (message: unknown) => typeof message === "string" ? message : JSON.stringify(message)

/** `09:00:00 info listening on …`, for terminals. */
const plain = Logger.make<unknown, string>(({ cause, date, logLevel, message }) => {
  const time = DateTime.formatIso(DateTime.fromDateUnsafe(date)).slice(11, 19)
  const words = (Array.isArray(message) ? message : [message]).map(text).join(" ")
  return `${time} ${logLevel.toLowerCase()} ${words}${cause.reasons.length === 0 ? "" : `\n${Cause.pretty(cause)}`}`
})

/** Logs go to standard error, because commands print their results to standard output. */
export const Logs = Layer.unwrap(Effect.map(AppConfig, ({ logFormat, logLevel }) => {
  const format = logFormat ?? (process.stderr.isTTY ? "pretty" : "json")
  const logger = Logger.withConsoleError(format === "pretty" ? plain : Logger.formatJson)
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, levels[logLevel]))
}))
