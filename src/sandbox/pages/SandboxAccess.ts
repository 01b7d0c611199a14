import { Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { type ApiError, wire } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { isForwarded, isLocalRequest, isOwnForm, isOwnName } from "./localRequest.ts"
import { SandboxToken, SandboxTokenMissing } from "./SandboxToken.ts"

/** One channel's pages. */
export interface Part {
  readonly name: string
  readonly path: `/sandbox${string}`
}

/** The parts of the sandbox, in the order of their tabs. */
export const parts = {
  mail: { name: "Mail", path: "/sandbox/mail" },
  sms: { name: "SMS", path: "/sandbox/sms" },
  phones: { name: "Phones", path: "/sandbox/phones" }
} as const satisfies Readonly<Record<string, Part>>

/** In development the answer to a client that no setting names. */
class SandboxNotAllowed extends Schema.TaggedError<SandboxNotAllowed>()(
  "SandboxNotAllowed",
  { address: Schema.String },
  wire(404, "sandbox_not_allowed", 4042)
) {
  override get message() {
    return "The sandbox answers only programs on this machine. To open it to others, set SANDBOX_ALLOW to their networks,"
      + ` such as 172.17.0.0/16. This request came from ${this.address} or passed a proxy.`
  }
}

type Request = HttpServerRequest.HttpServerRequest

/** Whether a client on one of these networks calls this server by an address or by a name that no foreign page can have. */
const isAllowed = (
  { headers, peerAddress, remoteAddress }: Pick<Request, "headers" | "peerAddress" | "remoteAddress">,
  { networks, publicHost }: { readonly networks: ReadonlyArray<IpNetwork.IpNetwork>; readonly publicHost: string }
): boolean => {
  // A trusted proxy has replaced the address. Any other proxy hides the client.
  const isTold = Option.getOrUndefined(peerAddress) !== Option.getOrUndefined(remoteAddress)
  if (isForwarded(headers) && !isTold) return false
  const client = NetAddress.ipFromString(Option.getOrElse(remoteAddress, () => ""))
  if (Result.isFailure(client)) return false
  const address = NetAddress.toCanonical(client.success)
  return networks.some((network) => IpNetwork.contains(network, address)) &&
    isOwnName(headers["host"] ?? "", publicHost)
}

/** Decides who may use the sandbox's pages, and which parts there are. */
export class SandboxAccess extends Context.Service<SandboxAccess, {
  /** The parts that this node serves. */
  readonly parts: ReadonlyArray<Part>
  /** Why a request is refused; undefined if it may use the pages. */
  readonly refusal: (request: Request, token: string | null) => ApiError | undefined
  /** The `Set-Cookie` value that keeps the token in a browser. */
  readonly cookie: Option.Option<string>
}>()("messaging-service/sandbox/pages/SandboxAccess") {
  static readonly layer = Layer.effect(
    SandboxAccess,
    Effect.gen(function*() {
      const { mode, publicUrl, sandboxAllow: networks = [], smsProvider, smtpUrl, whatsappUrl } = yield* AppConfig
      const { cookie, opens, token: known } = yield* SandboxToken
      const publicHost = publicUrl === undefined ? "" : Redacted.value(publicUrl).hostname
      const served = { mail: smtpUrl, sms: smsProvider, phones: whatsappUrl }
      const closed = (request: Request) =>
        mode === "development"
          ? new SandboxNotAllowed({ address: Option.getOrElse(request.remoteAddress, () => "an unknown address") })
          : new NotFound()
      return SandboxAccess.of({
        parts: Object.entries(parts).filter(([name]) => Reflect.get(served, name) === "sandbox").map(([, part]) =>
          part
        ),
        cookie,
        refusal: (request, token) => {
          if (Option.isNone(known)) return new NotFound()
          if (!isLocalRequest(request) && !isAllowed(request, { networks, publicHost })) return closed(request)
          if (request.method !== "GET" && !isOwnForm(request)) return new NotFound()
          return opens({ token, cookie: request.headers["cookie"] }) ? undefined : new SandboxTokenMissing()
        }
      })
    })
  )
}
