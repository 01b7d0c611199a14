import { Cause, DateTime, Effect, Formatter, Layer, Logger, type LogLevel, References } from "effect"
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

/** A value of several words keeps its quotes, and control characters stay escaped. */
const assigned = ([name, value]: readonly [string, unknown]) =>
  ` ${name}=${Formatter.formatJson(value).replace(/^"([^"\\\s]+)"$/, "$1")}`

/** `09:00:00 info listening on … name=value`, for terminals. */
const plain = Logger.make<unknown, string>(({ cause, date, fiber, logLevel, message }) => {
  const time = DateTime.formatIso(DateTime.fromDateUnsafe(date)).slice(11, 19)
  const head = styled(styles[logLevel] ?? "dim", `${time} ${logLevel.toLowerCase()}`)
  const words = (Array.isArray(message) ? message : [message]).map(text).join(" ")
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  const facts = annotations.filter(([, value]) => value !== undefined).map(assigned).join("")
  const stack = cause.reasons.length === 0 ? "" : `\n${Cause.pretty(cause)}`
  return `${head} ${words}${facts === "" ? "" : styled("dim", facts)}${stack}`
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
