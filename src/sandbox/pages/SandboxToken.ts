import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { encodeBase32 } from "../../platform/crypto/base32.ts"
import { MacKeys } from "../../platform/crypto/MacKeys.ts"
import { wire } from "../../platform/http/ApiError.ts"

export class SandboxTokenMissing extends Schema.TaggedError<SandboxTokenMissing>()(
  "SandboxTokenMissing",
  {},
  wire(403, "sandbox_token_missing", 4039)
) {
  override get message() {
    return "The pages of the sandbox need its token. Open them from Sandbox in the console, or add ?token=… to the URL."
  }
}

const hash = (text: string) => createHash("sha256").update(text).digest()

/**
 * The token of the sandbox's pages. A request from this machine proves nothing: a proxy passes on the requests of others,
 * and every local account can connect. The start prints links with the token; a cookie keeps it in the browser.
 */
export class SandboxToken extends Context.Service<SandboxToken, {
  /** None if the pages are closed. */
  readonly token: Option.Option<Redacted.Redacted>
  /** Whether a token, or the cookie of a `Cookie` header, opens the pages. */
  readonly opens: (given: { readonly token: string | null; readonly cookie?: string | undefined }) => boolean
  /** The `Set-Cookie` value that keeps the token in a browser, which then sends it with requests of these pages only. */
  readonly cookie: Option.Option<string>
}>()("messaging-service/sandbox/pages/SandboxToken") {
  static readonly make = (token: Option.Option<Redacted.Redacted>) => {
    // Cookies ignore ports, so two services on this machine need different names.
    const pair = Option.map(token, (known) => {
      const value = Redacted.value(known)
      return `sandbox-${hash(value).toString("hex", 0, 4)}=${value}`
    })
    const has = (known: Option.Option<string>, given: string) =>
      Option.exists(known, (text) => timingSafeEqual(hash(text), hash(given)))
    return SandboxToken.of({
      token,
      opens: ({ cookie = "", token: given }) =>
        (given !== null && has(Option.map(token, Redacted.value), given))
        || cookie.split(";").some((one) => has(pair, one.trim())),
      cookie: Option.map(pair, (value) => `${value}; Path=/sandbox; HttpOnly; SameSite=Strict`)
    })
  }

  /**
   * The token of SANDBOX_TOKEN. In development, and with SANDBOX_ALLOW, there is always one: all nodes of a database
   * generate the same.
   */
  static readonly layer = Layer.effect(
    SandboxToken,
    Effect.gen(function*() {
      const { mode, sandboxAllow = [], sandboxToken } = yield* AppConfig
      const { sandbox } = yield* MacKeys
      const isOpen = mode === "development" || sandboxAllow.length > 0
      const generated = isOpen ? Redacted.make(encodeBase32(sandbox.export().subarray(0, 20))) : undefined
      return SandboxToken.make(Option.fromUndefinedOr(sandboxToken ?? generated))
    })
  )
}
