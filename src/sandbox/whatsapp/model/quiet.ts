import type { ILogger } from "@whiskeysockets/baileys/lib/Utils/logger.js"

const nothing = () => {}

/** The logger of libraries that would say too much. */
export const quiet: ILogger = {
  level: "silent",
  child: () => quiet,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing
}
