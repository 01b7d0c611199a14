import { Cause, DateTime, Effect, Layer, Logger, type LogLevel, References } from "effect"
import * as NodeProcess from "node:process"
import { styleText } from "node:util"
import { AppConfig } from "../config/AppConfig.ts"

const levels: Readonly<Record<AppConfig["Service"]["logLevel"], LogLevel.LogLevel>> = {
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  warning: "Warn",
  error: "Error"
}

const text = (message: unknown) => typeof message === "string" ? message : JSON.stringify(message)

const styles: Readonly<Record<string, "dim" | "yellow" | "red">> = { Warn: "yellow", Error: "red", Fatal: "red" }

/** Colours a text where standard error is a terminal and NO_COLOR is not set. */
const styled = (style: "dim" | "yellow" | "red", line: string) => styleText(style, line, { stream: NodeProcess.stderr })

/** `09:00:00 info listening on …`, for terminals. */
const plain = Logger.make<unknown, string>(({ cause, date, logLevel, message }) => {
  const time = DateTime.formatIso(DateTime.fromDateUnsafe(date)).slice(11, 19)
  const head = styled(styles[logLevel] ?? "dim", `${time} ${logLevel.toLowerCase()}`)
  const words = (Array.isArray(message) ? message : [message]).map(text).join(" ")
  return `${head} ${words}${cause.reasons.length === 0 ? "" : `\n${Cause.pretty(cause)}`}`
})

const isEmpty = (value: unknown) =>
  value === undefined || (typeof value === "object" && Object.keys(value ?? {}).length === 0)

/** One line of JSON, without the fields that say nothing. */
const json = Logger.map(
  Logger.formatStructured,
  ({ fiberId: _, ...entry }) =>
    JSON.stringify(Object.fromEntries(Object.entries(entry).filter(([, value]) => !isEmpty(value))))
)

/** Logs go to standard error, because commands print their results to standard output. */
export const Logs = Layer.unwrap(Effect.map(AppConfig, ({ logFormat, logLevel }) => {
  const format = logFormat ?? (process.stderr.isTTY ? "pretty" : "json")
  const logger = Logger.withConsoleError(format === "pretty" ? plain : json)
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, levels[logLevel]))
}))
