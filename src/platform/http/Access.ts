import { Context } from "effect"
import type { Permission, Scope } from "../../values/Permission.ts"
import type { Mode } from "../../values/TestMode.ts"

/** Who may call an endpoint. Every endpoint declares it; a contract test fails when one does not. */
export type Rule =
  | { readonly kind: "public" }
  | {
    readonly kind: "account"
    /** A key with any of these scopes may call the endpoint. An empty list admits unscoped keys and login sessions only. */
    readonly scopes: ReadonlyArray<Scope>
    readonly permission: Permission | undefined
    /** `subscription`: not part of the trial. `sending`: refused once the trial is over. */
    readonly paid: "no" | "subscription" | "sending"
    /** The mode that the caller's key must have; undefined for both. */
    readonly mode: Mode | undefined
  }

/** The annotation that carries an endpoint's {@link Rule}. */
export class Access extends Context.Service<Access, Rule>()("messaging-service/platform/http/Access") {}

/** The setting with an endpoint's own limit per account and minute, if it has one. A replayed answer counts too. */
export const AccountLimit = Context.Reference<"rateLimitCodeCheck" | undefined>(
  "messaging-service/platform/http/Access/AccountLimit",
  { defaultValue: () => undefined }
)

/** The setting with an endpoint's limit per client address and minute, if it has one. It counts before the body is read. */
export const AddressLimit = Context.Reference<"rateLimitLogin" | undefined>(
  "messaging-service/platform/http/Access/AddressLimit",
  { defaultValue: () => undefined }
)

/** An endpoint without authentication. */
export const open: Rule = { kind: "public" }

/** For unscoped keys and login sessions: keys, webhooks and account writes belong to no channel. */
export const full = (
  permission?: Permission,
  options: { readonly paid?: "subscription"; readonly mode?: Mode } = {}
): Rule => ({
  kind: "account",
  scopes: [],
  permission,
  paid: options.paid ?? "no",
  mode: options.mode
})

/** For keys with any of the scopes, and for keys without scopes (spec 4.1). */
export const channel = (
  scopes: ReadonlyArray<Scope>,
  permission: Permission,
  options: { readonly paid?: "sending" } = {}
): Rule => ({ kind: "account", scopes, permission, paid: options.paid ?? "no", mode: undefined })
