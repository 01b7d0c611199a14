import type { Member } from "../../people/Person.ts"
import { Html, html } from "../../platform/http/html.ts"
import { allows, type Need, Role } from "../../values/Permission.ts"
import type { Translate } from "../language/Messages.ts"
import type { Refused } from "../page/Action.ts"
import type { Drawn } from "../page/Ask.ts"
import { reasonText } from "../page/refusals.ts"
import { code, countdown, foreign, icon, listed } from "./parts.ts"

/** Why there is no page. */
export type Problem =
  | { readonly kind: "missing" }
  /** The sign-in has ended. `typed` are the fields of the form that a person sent, for the same page. */
  | { readonly kind: "signedOut"; readonly typed: ReadonlyArray<readonly [name: string, value: string]> }
  | {
    readonly kind: "forbidden"
    readonly role: Role
    readonly permission: Need | undefined
    /** The members of the account. */
    readonly members: ReadonlyArray<Member>
  }
  | { readonly kind: "tooFast"; readonly seconds: number }
  | { readonly kind: "away" }
  | { readonly kind: "broken"; readonly requestId: string }
  | { readonly kind: "other"; readonly refused: Refused }

const statuses = { missing: 404, signedOut: 401, forbidden: 403, tooFast: 429, away: 503, broken: 500 } as const

type Of<K extends Problem["kind"]> = Extract<Problem, { readonly kind: K }>

/** People whom a page names. */
const mostPeople = 5

/** The roles that may do it, and the first people who have one. */
const forbidden = (t: Translate, { members, permission, role }: Of<"forbidden">) => {
  const nameOf = (one: Role) => t.text(`role.${one}`)
  const roles = Role.literals.filter((one) => allows(one, permission))
  const able = members.filter((member) => roles.includes(member.role)).slice(0, mostPeople)
  return html`<p>${
    t.text("problem.forbidden.text", { role: nameOf(role), roles: listed({ t }, roles.map(nameOf)) })
  }</p>${
    able.length > 0 &&
    html`<p>${t.text("problem.forbidden.people")}</p><ul class="points">${
      able.map(({ name, role: one }) => html`<li>${foreign(name)} (${nameOf(one)})</li>`)
    }</ul>`
  }`
}

/** A person signs in on another page. Then this one brings the form back, which says that its page is too old. */
const signedOut = (t: Translate, { typed }: Of<"signedOut">) =>
  html`<form method="post" class="form"><p>${t.text("problem.signedOut.text")}</p>${
    typed.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  }<div class="buttons"><a class="button main" href="/console/sign-in" target="_blank">${
    t.text("signIn.button")
  }</a><button>${t.text("problem.signedOut.back")}</button></div></form>`

const textOf = (
  t: Translate,
  problem: Exclude<Problem, Of<"forbidden" | "signedOut">>,
  isRead: boolean
): Html | string => {
  switch (problem.kind) {
    case "missing":
      return t.text("problem.missing.text")
    case "tooFast":
      return countdown(t, problem.seconds, isRead)
    case "away":
      return t.text("problem.away.text")
    case "other":
      return reasonText(t, problem.refused)
    case "broken":
      return t.rich("problem.broken.text", { id: code(problem.requestId) })
  }
}

/** The page in the place of one that cannot be shown. Scripts try again to read it; a form is not sent again. */
export const problemPage = (t: Translate, problem: Problem, isRead: boolean): Drawn => ({
  title: problem.kind === "other" ? t.text("form.problem") : t.text(`problem.${problem.kind}.title`),
  status: problem.kind === "other" ? problem.refused.status : statuses[problem.kind],
  isLive: problem.kind === "away" && isRead,
  content: problem.kind === "signedOut" ? signedOut(t, problem) : html`${
    problem.kind === "forbidden"
      ? forbidden(t, problem)
      : html`<p${problem.kind === "away" && new Html(" data-away")}>${textOf(t, problem, isRead)}</p>`
  }
<p><a class="button" href="/console/">${icon("arrow-left")}<span>${t.text("problem.home")}</span></a></p>`
})
