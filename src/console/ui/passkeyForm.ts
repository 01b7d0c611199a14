import { type Html, html } from "../../platform/http/html.ts"
import { type Action, onceField } from "../page/Action.ts"
import type { Ask } from "../page/Ask.ts"
import { actionField, tokenField } from "./form.ts"
import { icon } from "./parts.ts"

interface Options {
  /** Makes a passkey, or uses one. */
  readonly kind: "create" | "get"
  /** What the browser needs, as JSON. */
  readonly wanted: string
  readonly label: string
  readonly more?: Html
}

/** A form whose button asks the browser for a passkey. It appears only where scripts run and the browser has passkeys. */
export const passkeyForm = <A extends Ask, R>(
  ask: A,
  action: Action<A, R>,
  { kind, label, more, wanted }: Options
): Html => {
  const { once, token } = ask.seal(action.name)
  return html`<form method="post" class="form passkey" hidden data-passkey="${kind}" data-wanted="${wanted}"><input type="hidden" name="${actionField}" value="${action.name}"><input type="hidden" name="${tokenField}" value="${token}"><input type="hidden" name="${onceField}" value="${once}"><input type="hidden" name="answer" value="">${more}<div class="buttons"><button class="wide">${
    icon("key-round")
  }<span>${label}</span></button></div></form>`
}
