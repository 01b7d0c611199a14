import type { Html } from "../../platform/http/html.ts"
import { html } from "../../platform/http/html.ts"
import type { Role } from "../../values/Permission.ts"
import type { Translate } from "../language/Messages.ts"
import type { Refused } from "../page/Action.ts"
import type { Drawn } from "../page/Ask.ts"
import { reasonText } from "../page/refusals.ts"
import { code, icon } from "./parts.ts"

/** Why there is no page. */
export type Problem =
  | { readonly kind: "missing" }
  | { readonly kind: "forbidden"; readonly role: Role }
  | { readonly kind: "tooFast"; readonly seconds: number }
  | { readonly kind: "away" }
  | { readonly kind: "broken"; readonly requestId: string }
  | { readonly kind: "other"; readonly refused: Refused }

const statuses = { missing: 404, forbidden: 403, tooFast: 429, away: 503, broken: 500 } as const

const textOf = (t: Translate, problem: Exclude<Problem, { readonly kind: "other" }>): Html => {
  switch (problem.kind) {
    case "missing":
      return html`${t.text("problem.missing.text")}`
    case "forbidden":
      return html`${t.text("problem.forbidden.text", { role: t.text(`role.${problem.role}`) })}`
    case "tooFast":
      return html`${t.text("problem.tooFast.text", { seconds: problem.seconds })}`
    case "away":
      return html`${t.text("problem.away.text")}`
    case "broken":
      return t.rich("problem.broken.text", { id: code(problem.requestId) })
  }
}

/** The page in the place of one that cannot be shown. */
export const problemPage = (t: Translate, problem: Problem): Drawn => ({
  title: problem.kind === "other" ? t.text("form.problem") : t.text(`problem.${problem.kind}.title`),
  status: problem.kind === "other" ? problem.refused.status : statuses[problem.kind],
  content: html`<p>${problem.kind === "other" ? reasonText(t, problem.refused) : textOf(t, problem)}</p>
<p><a class="button" href="/console/">${icon("arrow-left")}<span>${t.text("problem.home")}</span></a></p>`
})
