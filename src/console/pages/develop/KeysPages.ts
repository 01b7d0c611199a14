import { DateTime, Effect, Option } from "effect"
import type { ApiKey, CreatedApiKey, RotatedApiKey } from "../../../api-keys/ApiKey.ts"
import { ApiKeys } from "../../../api-keys/ApiKeys.ts"
import { ApiKeysApi } from "../../../api-keys/ApiKeysApi.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { ApiKeyId } from "../../../values/Ids.ts"
import { Action, goTo, show } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { idIn, Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import {
  badge,
  code,
  copyable,
  emptyState,
  foreign,
  linkButton,
  moment,
  momentText,
  note,
  number
} from "../../ui/parts.ts"
import { type Column, table } from "../../ui/table.ts"
import { type Preset, presets, presetsOf } from "./keyPresets.ts"

const crumbs = ({ t, to }: AccountAsk) => [{ href: to("/keys"), label: t.text("keys.title") }]

const accessOf = ({ t }: AccountAsk, { permissions, scopes }: ApiKey) =>
  scopes.length === 0 && permissions.length === 0
    ? t.text("keys.full")
    : html`${[...scopes, ...permissions].map((name) => html`${code(name)} `)}`

/** When a key was used last, with the endpoint and the address of that request. */
const lastUseOf = (ask: AccountAsk, { last_used_at, last_used_endpoint, last_used_ip }: ApiKey) =>
  last_used_at === null
    ? ask.t.text("common.never")
    : html`${moment(ask, last_used_at)}${
      [last_used_endpoint, last_used_ip].map((part) => html`${part !== null && html`<br>${code(part)}`}`)
    }`

/** The requests with a key by the class of their status. The log has those that were not successful. */
const requestsOf = (ask: AccountAsk, { id, mode, requests: { failed, refused, succeeded } }: ApiKey) => {
  const { account, can, t, to } = ask
  // Live mode lists the keys of both modes, and each mode has its own log.
  const log = mode === "test" ? `/console/${account.id}/test/requests` : to("/requests")
  const classes = [["2xx", succeeded, "good"], ["4xx", refused, "warn"], ["5xx", failed, "bad"]] as const
  const shown = classes.filter(([, count]) => count > 0).map(([status, count, tone]) => {
    const label = html`<span class="badge ${tone}"><span>${code(status)} ${number(ask, count)}</span></span>`
    return status !== "2xx" && can("requests:read")
      ? html`<a href="${log}?key_id=${id}&status=${status}">${label}</a>`
      : label
  })
  return shown.length === 0 ? t.text("common.none") : html`<span class="buttons">${shown}</span>`
}

const columns = (ask: AccountAsk): ReadonlyArray<Column<ApiKey>> => {
  const { can, t, to } = ask
  return [
    { label: t.text("keys.name"), cell: ({ name }) => foreign(name) },
    { label: t.text("keys.prefix"), cell: ({ key_prefix }) => code(`${key_prefix}…`) },
    { label: t.text("frame.mode"), cell: ({ mode }) => t.text(`frame.${mode}`) },
    { label: t.text("keys.access"), cell: (key) => accessOf(ask, key) },
    { label: t.text("keys.lastUsed"), cell: (key) => lastUseOf(ask, key) },
    { label: t.text("keys.requests"), cell: (key) => requestsOf(ask, key) },
    {
      label: t.text("keys.expires"),
      cell: ({ expires_at, is_active, rotated_at }) =>
        expires_at === null
          ? t.text("common.never")
          : html`${!is_active && html`${badge(t.text("keys.state.expired"), "warn")} `}${
            rotated_at !== null && html`${badge(t.text("keys.state.rotated"), "quiet")} `
          }${moment(ask, expires_at)}`
    },
    ...(can("keys:write")
      ? [{
        label: t.text("keys.revoke"),
        kind: "actions" as const,
        cell: ({ id, is_active, name, rotated_at }: ApiKey) =>
          html`<span class="buttons">${
            is_active && rotated_at === null &&
            linkButton(to(`/keys/${id}/rotate`), t.text("keys.rotate"), { label: t.text("keys.rotateNamed", { name }) })
          }${
            linkButton(to(`/keys/${id}/revoke`), t.text("keys.revoke"), {
              opensDialog: true,
              label: t.text("keys.revokeNamed", { name })
            })
          }</span>`
      }]
      : [])
  ]
}

const list = Page.account({
  path: "/keys",
  permission: "keys:read",
  entry: { group: "develop", label: "nav.keys", icon: "key-round", order: 1, key: "k" },
  read: ({ accountId }) => Effect.flatMap(ApiKeys, (keys) => keys.list(accountId)),
  draw: (keys, ask) => {
    const { can, t, to } = ask
    const button = can("keys:write") && linkButton(to("/keys/new"), t.text("keys.new"), { icon: "plus", tone: "main" })
    return {
      title: t.text("keys.title"),
      lead: t.text("keys.lead"),
      curl: "/v1/api-keys",
      buttons: keys.length > 0 && button,
      content: keys.length === 0
        ? emptyState({ icon: "key-round", title: t.text("keys.empty.title"), text: t.text("keys.empty.text"), button })
        : table(t.text("keys.caption"), columns(ask), keys)
    }
  }
})

/** Days after which a new key may end. */
const expiries = [30, 90, 365]

/** Counted from the time of the form, so that the same form sent again asks for the same key. */
const dayAfter = (drawn: string, days: string | undefined) => {
  const count = Number(days)
  if (!(count > 0)) return null
  const from = Option.getOrElse(DateTime.make(drawn), () => DateTime.nowUnsafe())
  return DateTime.formatIso(DateTime.add(from, { days: count }))
}

const isPreset = (name: string | undefined): name is Preset => name !== undefined && Object.hasOwn(presets, name)

/** When the key that a new one replaces is refused. */
const endOf = (ask: AccountAsk, { created_at, previous: { expires_at } }: RotatedApiKey) =>
  html`<p>${
    expires_at <= created_at
      ? ask.t.text("keys.rotate.ended")
      : ask.t.text("keys.rotate.ends", { when: momentText(ask, expires_at) })
  }</p>`

/** The whole key, which no other page shows. */
const created = (ask: AccountAsk, { key, mode }: CreatedApiKey, { isReplayed, more }: {
  readonly isReplayed: boolean
  readonly more?: Html
}) => {
  const { account, base, t, to } = ask
  const title = t.text("keys.created.title")
  if (isReplayed) {
    return show({ title, crumbs: crumbs(ask), content: html`${note(t.text("keys.created.again"), "warn")}` })
  }
  const mail = `curl ${base}/v1/email/send -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' `
    + `-d '{"to":"ada@example.com","subject":"Hello","text":"It works."}'`
  return show({
    title,
    crumbs: crumbs(ask),
    content: html`${note(t.text("keys.created.once"), "warn")}
${copyable(ask, key, { label: t.text("keys.created.label") })}
${more}
<h2>${t.text("keys.created.try")}</h2>
${copyable(ask, mail, { label: t.text("keys.created.try"), isBlock: true })}
<div class="buttons">${linkButton(to("/keys"), t.text("keys.created.stored"), { icon: "check", tone: "main" })}${
      mode === "test" && ask.mode === "live" &&
      linkButton(`/console/${account.id}/test/`, t.text("keys.created.openTest"), { icon: "flask-conical" })
    }</div>`
  })
}

/** A test key makes test keys only, and so does a person in test mode. */
const modesOf = ({ mode, t }: AccountAsk) =>
  (mode === "test" ? ["test"] as const : ["live", "test"] as const).map((value) => ({
    value,
    label: t.text(`frame.${value}`),
    hint: t.text(`keys.mode.${value}Hint`)
  }))

const create = Action.make({
  name: "create",
  endpoint: ApiKeysApi.endpoints.create,
  isFresh: true,
  fields: {
    name: Field.text({ label: "keys.create.name", hint: "keys.create.nameHint", autocomplete: "off" }),
    mode: Field.radio({ label: "frame.mode" }),
    preset: Field.radio({ label: "keys.create.preset", options: presetsOf, initial: () => "full" }),
    expires_at: Field.select({
      label: "keys.create.expiry",
      initial: () => "never",
      options: ({ t }) => [
        { value: "never", label: t.text("keys.expiry.never") },
        ...expiries.map((days) => ({ value: String(days), label: t.text("keys.expiry.days", { days }) }))
      ]
    }),
    drawn_at: Field.hidden()
  },
  request: ({ drawn_at, expires_at, mode, name, preset }) => ({
    payload: {
      name: name ?? "",
      mode,
      expires_at: dayAfter(drawn_at, expires_at),
      ...(isPreset(preset) ? presets[preset] : presets.read)
    }
  }),
  after: ({ data }, { ask, isReplayed }) => created(ask, data, { isReplayed })
})

const make = Page.account({
  path: "/keys/new",
  permission: "keys:write",
  read: () => DateTime.now,
  draw: (now, ask) => ({
    title: ask.t.text("keys.create.title"),
    crumbs: crumbs(ask),
    content: form(ask, create, {
      submit: ask.t.text("keys.create.button"),
      cancel: ask.to("/keys"),
      choices: { mode: modesOf(ask) },
      values: {
        drawn_at: DateTime.formatIso(now),
        mode: ask.query.get("mode") === "test" ? "test" : ask.mode
      }
    })
  }),
  actions: [create]
})

const keyIn = (ask: AccountAsk) =>
  Effect.gen(function*() {
    const id = yield* idIn(ask, ApiKeyId)
    return yield* (yield* ApiKeys).find(ask.accountId, id)
  })

/** Seconds during which the old key still works. */
const overlaps = [3600, 86_400, 604_800] as const

const rotateKey = Action.make({
  name: "rotate",
  endpoint: ApiKeysApi.endpoints.rotate,
  isFresh: true,
  fields: {
    overlap_seconds: Field.select({
      label: "keys.rotate.overlap",
      hint: "keys.rotate.overlapHint",
      initial: () => "86400",
      options: ({ t }) => [
        { value: "0", label: t.text("keys.rotate.overlap.0") },
        ...overlaps.map((seconds) => ({ value: String(seconds), label: t.text(`webhooks.rotate.overlap.${seconds}`) }))
      ]
    })
  },
  request: ({ overlap_seconds }, { params }) => ({
    params: { id: params["id"] },
    payload: { overlap_seconds: Number(overlap_seconds) }
  }),
  after: ({ data }, { ask, isReplayed }) => created(ask, data, { isReplayed, more: endOf(ask, data) })
})

const rotate = Page.account({
  path: "/keys/:id/rotate",
  permission: "keys:write",
  read: keyIn,
  draw: ({ key_prefix, name }, ask) => ({
    title: ask.t.text("keys.rotate.title", { name }),
    crumbs: crumbs(ask),
    content: html`<p>${ask.t.rich("keys.rotate.text", { prefix: code(`${key_prefix}…`) })}</p>
${form(ask, rotateKey, { submit: ask.t.text("keys.rotate.button"), cancel: ask.to("/keys") })}`
  }),
  actions: [rotateKey]
})

const revokeKey = Action.make({
  name: "revoke",
  endpoint: ApiKeysApi.endpoints.revoke,
  isFresh: true,
  fields: {},
  request: (_, { params }) => ({ params: { id: params["id"] } }),
  after: (_, { ask }) => goTo(ask.to("/keys"), "keys.revoke.done")
})

const revoke = Page.account({
  path: "/keys/:id/revoke",
  permission: "keys:write",
  read: keyIn,
  draw: ({ key_prefix, last_used_at, name }, ask) => ({
    title: ask.t.text("keys.revoke.title", { name }),
    crumbs: crumbs(ask),
    content: html`<p>${ask.t.rich("keys.revoke.text", { prefix: code(`${key_prefix}…`) })}</p>
<p>${
      last_used_at === null
        ? ask.t.text("keys.revoke.unused")
        : ask.t.text("keys.revoke.used", { when: momentText(ask, last_used_at) })
    }</p>
${form(ask, revokeKey, { submit: ask.t.text("keys.revoke.button"), tone: "danger", cancel: ask.to("/keys") })}`
  }),
  actions: [revokeKey]
})

/** The pages of API keys: list, new, rotate, revoke. */
export const keysPages = [list, make, rotate, revoke] as const
