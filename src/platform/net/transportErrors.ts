/** The guard refused to connect. */
export class BlockedAddressError extends Error {
  readonly code = "BLOCKED_ADDRESS"

  /** What is not public; what to do about it is always the same. */
  constructor(what: string) {
    super(`${what}: use a public host`)
  }
}

/** The name has no address, or its name servers did not give one. */
export class NameError extends Error {
  readonly code = "NAME_NOT_RESOLVED"
}

/** The connection was not there in time. */
export class ConnectTimeoutError extends Error {
  readonly code = "ETIMEDOUT"
}
