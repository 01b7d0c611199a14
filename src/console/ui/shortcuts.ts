import { type Html, html, type HtmlValue } from "../../platform/http/html.ts"
import type { AccountAsk, PersonAsk } from "../page/Ask.ts"
import type { Entry } from "../page/Page.ts"
import { icon } from "./parts.ts"

const keys = (pairs: ReadonlyArray<readonly [key: string, does: HtmlValue]>) =>
  html`<dl class="keys">${pairs.map(([key, does]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}</dl>`

/**
 * The list of the keys, which a script shows above the page. Without it, as for a person who has switched the keys off, the
 * script reacts to none of them. Only the search opens with Ctrl and K all the same.
 */
export const shortcutList = (
  { signedIn: { person }, t }: AccountAsk,
  places: ReadonlyArray<Pick<Entry, "key" | "label">>
): Html | false =>
  person.has_shortcuts &&
  html`<template id="shortcuts"><h2>${t.text("shortcuts.title")}</h2>${
    keys([
      ["/", t.text("find.title")],
      ["?", t.text("shortcuts.list")],
      ["j", t.text("shortcuts.next")],
      ["k", t.text("shortcuts.previous")],
      ["Enter", t.text("shortcuts.open")]
    ])
  }<p>${t.text("shortcuts.go")}</p>${
    keys(places.map(({ key, label }) => [key, t.named(label)]))
  }<p><a href="/console/me">${t.text("shortcuts.off")}</a></p><form method="dialog" class="buttons"><button>${
    t.text("common.close")
  }</button></form></template>`

/** Opens the list. Scripts show this button. */
export const shortcutButton = ({ signedIn: { person }, t }: PersonAsk): Html | false =>
  person.has_shortcuts &&
  html`<button type="button" data-shortcuts hidden>${icon("keyboard")}<span>${
    t.text("shortcuts.title")
  }</span></button>`
