interface SilentLogger {
  readonly level: string
  readonly child: () => SilentLogger
  readonly trace: () => void
  readonly debug: () => void
  readonly info: () => void
  readonly warn: () => void
  readonly error: () => void
}

const discard = () => {}

/** A logger without output, for libraries that would log message contents and keys. */
export const silentLogger: SilentLogger = {
  level: "silent",
  child: () => silentLogger,
  trace: discard,
  debug: discard,
  info: discard,
  warn: discard,
  error: discard
}
