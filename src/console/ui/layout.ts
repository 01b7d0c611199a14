import { Html, html } from "../../platform/http/html.ts"
import { allows } from "../../values/Permission.ts"
import { assets } from "../assets/Assets.ts"
import { marked } from "../language/Messages.ts"
import type { Key } from "../language/Messages.ts"
import { type AccountAsk, type Ask, type Drawn, isOfPerson, type PersonAsk } from "../page/Ask.ts"
import { type AccountPage, type Entry, navigationGroups } from "../page/Page.ts"
import { copyable, copyLink, curlOf, foreign, icon } from "./parts.ts"
import { shortcutButton, shortcutList } from "./shortcuts.ts"

/** A page of the navigation. */
export interface Place extends Entry {
  readonly path: `/${string}` | ""
  readonly permission: AccountPage<never>["permission"]
}

interface Frame {
  readonly drawn: Drawn
  /** The sentence that says what the form of the page before has done. */
  readonly done?: string | undefined
}

const isAccount = (ask: Ask): ask is AccountAsk => "account" in ask

/** The end of each page. A browser paints nothing before it, so that what it has read later moves nothing. */
const end = html`<span id="end" hidden></span>`

const document = (ask: Ask, title: string, body: Html): string => {
  const { t } = ask
  const theme = isOfPerson(ask) ? ask.signedIn.person.theme : "system"
  return `<!doctype html>\n${
    html`<html lang="${t.locale}" dir="${t.direction}"${theme !== "system" && html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="htmx-config" content="${
      JSON.stringify({
        includeIndicatorCSS: false,
        mode: "same-origin",
        transitions: false,
        // What a person has opened stays open when the page changes.
        morphIgnore: ["data-htmx-powered", "open"]
      })
    }">
<title>${marked(title)}</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="${assets.style().path}">
<link rel="expect" href="#end" blocking="render">
<script src="${assets.script().path}" defer></script>
</head>
${body}
</html>
`.markup
  }`
}

const titleOf = (ask: Ask, drawn: Drawn) =>
  [
    drawn.title,
    ...(isAccount(ask)
      ? [`${ask.account.name}${ask.mode === "test" ? ` (${ask.t.text("frame.test")})` : ""}`]
      : []),
    ask.t.text("frame.name")
  ].join(" · ")

const brand = ({ t }: Ask) =>
  html`<a class="brand" href="/console/"><span class="mark" aria-hidden="true"></span><span>${
    t.text("frame.name")
  }</span></a>`

const crumbsOf = ({ t }: Ask, { crumbs = [] }: Drawn) =>
  crumbs.length > 0 &&
  html`<nav class="crumbs" aria-label="${t.text("frame.crumbs")}"><ol>${
    crumbs.map(({ href, label }) => html`<li><a href="${href}">${marked(label)}</a>${icon("chevron-right")}</li>`)
  }</ol></nav>`

/** A page that has a request for its data can be passed on by its address. */
const headButtons = (ask: Ask, { buttons = false, curl }: Drawn) =>
  (buttons !== false || curl !== undefined) &&
  html`<div class="buttons">${buttons}${curl !== undefined && copyLink(ask)}</div>`

const heading = (ask: Ask, drawn: Drawn) =>
  html`${crumbsOf(ask, drawn)}<div class="head"><h1>${marked(drawn.title)}</h1>${headButtons(ask, drawn)}${
    drawn.lead !== undefined && html`<p class="lead">${drawn.lead}</p>`
  }</div>`

const doneOf = (done: string | undefined) =>
  html`<div role="status" class="done" id="done" hx-preserve>${
    done !== undefined && html`<p class="note good">${icon("circle-check")}<span>${done}</span></p>`
  }</div>`

const accountsMenu = ({ account, mode, signedIn: { accounts }, t }: AccountAsk) =>
  html`<details class="menu accounts"><summary><span class="hidden">${
    t.text("frame.account")
  }: </span><span class="name">${foreign(account.name)}</span>${
    icon("chevron-down")
  }</summary><div class="sheet"><p class="sheet-title">${t.text("frame.accounts")}</p><ul>${
    accounts.map(({ has_test_mode, id, name, role }) =>
      html`<li><a href="/console/${id}${mode === "test" && has_test_mode && "/test"}/"${
        id === account.id && new Html(" aria-current=\"true\"")
      }><span>${foreign(name)}</span><span class="quiet">${t.text(`role.${role}`)}</span></a></li>`
    )
  }</ul></div></details>`

/** Live and test mode. Test mode begins with its first key, which is made on the page of new keys. */
const modes = ({ account, can, mode, t }: AccountAsk) =>
  (account.has_test_mode || can("keys:write")) &&
  html`<nav class="modes" aria-label="${t.text("frame.mode")}"><a href="/console/${account.id}/"${
    mode === "live" && new Html(" aria-current=\"true\"")
  }>${t.text("frame.live")}</a><a href="/console/${account.id}/${
    account.has_test_mode ? "test/" : "keys/new?mode=test"
  }"${mode === "test" && new Html(" aria-current=\"true\"")}>${t.text("frame.test")}</a></nav>`

/** The search for everything. On a narrow screen a link stands for it. */
const find = ({ path, query, t, to }: AccountAsk) => {
  const page = to("/find")
  const value = path === page ? query.get("q") ?? "" : ""
  return html`<form method="get" action="${page}" class="find" role="search" aria-label="${
    t.text("find.title")
  }"><label class="hidden" for="find-q">${t.text("find.label")}</label>${
    icon("search")
  }<input type="search" id="find-q" name="q" value="${value}" placeholder="${
    t.text("find.hint")
  }"></form><a class="find" href="${page}">${icon("search")}<span class="hidden">${t.text("find.title")}</span></a>`
}

/** The pages that the person may open, in the order of the navigation. */
const allowedOf = ({ account }: AccountAsk, places: ReadonlyArray<Place>) =>
  navigationGroups.flatMap((group) =>
    places.filter((place) => place.group === group && allows(account.role, place.permission))
      .toSorted((a, b) => a.order - b.order)
  )

const placesOf = (ask: AccountAsk, allowed: ReadonlyArray<Place>) => {
  const isCurrent = (path: string) =>
    path === ""
      ? ask.path === ask.to("")
      : ask.path === ask.to(`/${path.slice(1)}`) || ask.path.startsWith(`${ask.to(`/${path.slice(1)}`)}/`)
  return navigationGroups.flatMap((group) => {
    const own = allowed.filter((place) => place.group === group)
    if (own.length === 0) return []
    const items = html`<ul>${
      own.map((place) =>
        html`<li><a href="${ask.to(place.path)}" data-key="${place.key}"${
          isCurrent(place.path) && new Html(" aria-current=\"page\"")
        }>${icon(place.icon)}<span>${ask.t.named(place.label)}</span></a></li>`
      )
    }</ul>`
    return [group === "" ? items : html`<h2>${ask.t.text(`nav.group.${group}`)}</h2>${items}`]
  })
}

/** The guide of the pages below a path. All others lead to the list of guides. */
export const guides: ReadonlyMap<string, string> = new Map([
  ["send", "first-real-mail"],
  ["messages", "channels"],
  ["domains", "own-domain"],
  ["whatsapp", "receive-whatsapp"],
  ["sms", "channels"],
  ["verify", "one-time-codes"],
  ["webhooks", "verify-webhooks"],
  ["requests", "errors"]
])

const help = (ask: PersonAsk) => {
  const guide = isAccount(ask) ? guides.get(ask.path.slice(ask.to("").length).split("/")[0] ?? "") : undefined
  const label = ask.t.text("frame.help")
  return html`<nav class="aids" aria-label="${label}"><a href="/docs/guides${guide !== undefined && `/${guide}`}">${
    icon("book-open")
  }<span>${label}</span></a></nav>`
}

/** The rest of the header: help, and the person with their own pages. */
const personMenu = (ask: PersonAsk, signOut: Html, own: Surroundings["own"]) =>
  html`<details class="menu person"><summary>${icon("user")}<span class="name">${
    foreign(ask.signedIn.person.name)
  }</span>${icon("chevron-down")}</summary><div class="sheet"><p class="sheet-title">${
    foreign(ask.signedIn.person.email)
  }</p><ul>${own.map(({ label, path }) => html`<li><a href="/console${path}">${ask.t.named(label)}</a></li>`)}</ul>${
    isAccount(ask) && shortcutButton(ask)
  }${signOut}</div></details>`

const footer = (ask: Ask, { curl }: Drawn) =>
  html`<footer class="foot"><p>${ask.t.text("frame.zone", { zone: ask.timezone })}</p>${
    curl !== undefined &&
    html`<details class="curl"><summary>${icon("terminal")}<span>${ask.t.text("common.curl")}</span></summary>${
      copyable(ask, curlOf(ask, { method: "GET", path: curl }), {
        label: ask.t.text("common.curl"),
        isBlock: true
      })
    }</details>`
  }</footer>`

/** The pause before an open page loads itself again, in seconds. */
export const livePause = 2

/** For scripts: whether the page loads itself again. The answer to a refused form stays. */
const loadsAgain = ({ attempt }: Ask, { isLive = false }: Drawn) => isLive !== false && attempt === undefined

const liveMark = (ask: Ask, drawn: Drawn) =>
  loadsAgain(ask, drawn) &&
  html` data-live="${typeof drawn.isLive === "number" ? drawn.isLive : livePause}"${
    drawn.since !== undefined && html` data-since="${drawn.since}"`
  }`

/** Lets a person stop a page that loads itself again, and says when that fails or waits. */
const liveControls = (ask: Ask, drawn: Drawn) =>
  loadsAgain(ask, drawn) &&
  html`<div class="live" id="live" hx-preserve><button type="button" class="quiet" data-pause data-other="${
    ask.t.text("frame.resume")
  }" hidden><span>${ask.t.text("frame.pause")}</span></button><p role="status" data-stale="${
    ask.t.text("frame.stale")
  }" data-waits="${ask.t.text("frame.waits")}"></p></div>`

/** What a script shows above the page where the service does not answer it. */
const away = ({ t }: Ask) =>
  html`<template id="away"><h2>${t.text("problem.away.title")}</h2><p>${
    t.text("problem.away.text")
  }</p><form method="dialog" class="buttons"><button>${t.text("common.close")}</button></form></template>`

/** What the frame shows beside the page. The list of pages gives it. */
export interface Surroundings {
  readonly places: ReadonlyArray<Place>
  /** The person's own pages. */
  readonly own: ReadonlyArray<{ readonly path: `/${string}`; readonly label: Key }>
  readonly signOut: (ask: PersonAsk) => Html
}

/** A page of a signed-in person, with navigation and header. */
export const framed = (ask: PersonAsk, { done, drawn }: Frame, { own, places, signOut }: Surroundings): string => {
  const { t } = ask
  const account = isAccount(ask) ? ask : undefined
  const allowed = account === undefined ? [] : allowedOf(account, places)
  const navigation = account !== undefined &&
    html`<details class="nav"><summary>${icon("menu")}<span>${t.text("frame.menu")}</span></summary><nav aria-label="${
      t.text("frame.navigation")
    }">${placesOf(account, allowed)}</nav></details>`
  return document(
    ask,
    titleOf(ask, drawn),
    html`<body class="app${account?.mode === "test" && " test"}${account === undefined && " personal"}">
<a class="skip" href="#main">${t.text("frame.skip")}</a>
<header class="bar">${brand(ask)}${
      account !== undefined && html`${accountsMenu(account)}${modes(account)}${find(account)}`
    }
${help(ask)}${personMenu(ask, signOut(ask), own)}</header>
${
      account?.mode === "test" &&
      html`<aside class="band" aria-label="${t.text("frame.mode")}">${icon("flask-conical")}<span>${
        t.text("frame.testBand")
      }</span></aside>`
    }
${navigation}
<main id="main" tabindex="-1"${liveMark(ask, drawn)}>${doneOf(done)}${heading(ask, drawn)}${drawn.content}${
      liveControls(ask, drawn)
    }${footer(ask, drawn)}</main>
${account !== undefined && shortcutList(account, allowed)}${away(ask)}
${end}
</body>`
  )
}

/** A page without navigation: a card in the middle. */
export const doorFramed = (ask: Ask, { done, drawn }: Frame): string =>
  document(
    ask,
    titleOf(ask, drawn),
    html`<body class="door">
<header class="bar">${brand(ask)}</header>
<main id="main" tabindex="-1"${liveMark(ask, drawn)}><div class="panel">${doneOf(done)}${
      heading(ask, drawn)
    }${drawn.content}${liveControls(ask, drawn)}</div></main>
${end}
</body>`
  )
