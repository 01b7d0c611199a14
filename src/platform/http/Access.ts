import { Context } from "effect"
import type { Permission } from "../../values/Permission.ts"
import type { Scope } from "../../values/Scope.ts"

/** Who may call an endpoint. Every endpoint states it; `test/contract` refuses a silent one. */
export type Rule =
  | { readonly kind: "public" }
  | {
    readonly kind: "account"
    /** Any of these scopes opens the endpoint to a scoped key; none means unscoped keys and login sessions only. */
    readonly scopes: ReadonlyArray<Scope>
    readonly permission: Permission | undefined
    /** `subscription`: not part of the trial. `sending`: refused once the trial is over. */
    readonly paid: "no" | "subscription" | "sending"
  }

/** The annotation that carries an endpoint's {@link Rule}. */
export class Access extends Context.Service<Access, Rule>()("messaging-service/platform/http/Access") {}

/** No credential. */
export const open: Rule = { kind: "public" }

/** A key without scopes or a login session: keys, webhooks and account writes belong to no channel. */
export const full = (permission?: Permission, options: { readonly paid?: "subscription" } = {}): Rule => ({
  kind: "account",
  scopes: [],
  permission,
  paid: options.paid ?? "no"
})

/** Any of the scopes, or a key without scopes (spec 4.1). */
export const channel = (
  scopes: ReadonlyArray<Scope>,
  permission: Permission,
  options: { readonly paid?: "sending" } = {}
): Rule => ({ kind: "account", scopes, permission, paid: options.paid ?? "no" })
