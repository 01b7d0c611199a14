/** How a person pairs a phone: the picture to scan, and the code to type. */
import { DateTime, Effect } from "effect"
import type { PairingCode, QrCode } from "../../channels/whatsapp/model/Session.ts"
import { type Html, html } from "../../platform/http/html.ts"
import type { Key } from "../language/Messages.ts"
import type { Ask } from "../page/Ask.ts"
import { icon } from "./parts.ts"

/** How long a page waits for a code. It shows the next one by itself. */
export const codeTimeout = "4 seconds"

/** With the zone: the person who holds the phone may read the page of another one's zone. */
const clock = (ask: Ask, instant: string) =>
  new Intl.DateTimeFormat(ask.t.intl, {
    timeZone: ask.timezone,
    timeStyle: "long",
    ...(ask.hourCycle !== undefined && { hourCycle: ask.hourCycle })
  }).format(DateTime.toEpochMillis(DateTime.makeUnsafe(instant)))

/** What a person does on the phone, in order. */
export const steps = ({ t }: Ask, texts: ReadonlyArray<Key>): Html =>
  html`<ol class="steps">${
    texts.map((text) => html`<li>${icon("chevron-right")}<div>${t.named(text)}</div></li>`)
  }</ol>`

export const scanSteps = ["sessions.pair.open", "sessions.pair.devices", "sessions.pair.scan"] as const
const typeSteps = ["sessions.pair.open", "sessions.pair.withNumber", "sessions.pair.type"] as const

/** A code with the time for which phones still take it. */
export interface TimedCode extends QrCode {
  readonly millisLeft: number
}

/** The browser's clock may be wrong, so a page says how long the code lasts. */
export const timed = (qr: QrCode): Effect.Effect<TimedCode> =>
  Effect.map(DateTime.now, (now) => {
    const end = DateTime.toEpochMillis(DateTime.makeUnsafe(qr.expires_at))
    return { ...qr, millisLeft: Math.max(0, end - DateTime.toEpochMillis(now)) }
  })

/** The picture to scan, with the time at which the next one replaces it. Scripts remove it then. */
export const picture = (ask: Ask, qr: TimedCode | undefined): Html =>
  qr === undefined
    ? html`<div class="pairing"><p class="quiet">${ask.t.text("sessions.pair.waiting")}</p></div>`
    : html`<figure class="pairing" data-millis="${qr.millisLeft}" data-over="${
      ask.t.text("sessions.pair.over")
    }"><img src="${qr.qr_code}" width="264" height="264" alt="${
      ask.t.text("sessions.pair.image")
    }"><figcaption class="quiet">${
      ask.t.text("sessions.pair.until", { when: clock(ask, qr.expires_at) })
    }</figcaption></figure>`

/** A code as people read it aloud: four characters, then four. */
const readable = (code: string): string => code.replace(/^(.{4})(.{4})$/, "$1-$2")

/** The code to type into the phone, with its end. */
export const typed = (ask: Ask, { code, expires_at }: PairingCode): Html =>
  html`${steps(ask, typeSteps)}<p class="big" dir="ltr"><code>${readable(code)}</code></p><p class="quiet">${
    ask.t.text("sessions.code.until", { when: clock(ask, expires_at) })
  }</p>`
