/** What shows the course of things: tabs, bars of counts, timelines. */
import { Html, html, type HtmlValue } from "../../platform/http/html.ts"
import type { Ask } from "../page/Ask.ts"
import { listed, number, type Tone } from "./parts.ts"

/** A part of a page that has its own address. */
export interface Tab {
  readonly label: string
  readonly href: string
  readonly isCurrent: boolean
}

/** Links between the parts of a page. */
export const tabs = (label: string, given: ReadonlyArray<Tab>): Html =>
  html`<nav class="tabs" aria-label="${label}">${
    given.map(({ href, isCurrent, label: text }) =>
      html`<a href="${href}"${isCurrent && new Html(" aria-current=\"true\"")}>${text}</a>`
    )
  }</nav>`

/** A share of a whole. */
export interface Share {
  readonly label: string
  readonly count: number
  readonly tone: Tone
}

const barWidth = 1000

/** The shares of a whole as one bar. Its numbers stand beside it. */
export const bar = (ask: Ask, shares: ReadonlyArray<Share>): Html => {
  const total = shares.reduce((sum, { count }) => sum + count, 0)
  let start = 0
  const pieces = shares.filter(({ count }) => count > 0).map(({ count, tone }) => {
    const width = Math.round(count / total * barWidth)
    const piece = html`<rect class="${tone}" x="${start}" width="${width}" height="10"></rect>`
    start += width
    return piece
  })
  const said = shares.filter(({ count }) => count > 0).map(({ count, label }) => `${label}: ${number(ask, count)}`)
  return html`<svg class="meter" viewBox="0 0 ${barWidth} 10" preserveAspectRatio="none" role="img" aria-label="${
    listed(ask, said)
  }">${pieces}</svg>`
}

/** The numbers of a bar. */
export const legend = (ask: Ask, shares: ReadonlyArray<Share>): Html =>
  html`<dl class="legend">${
    shares.map(({ count, label, tone }) =>
      html`<div class="${tone}"><dt>${label}</dt><dd>${number(ask, count)}</dd></div>`
    )
  }</dl>`

const units = [
  { unit: "day", millis: 86_400_000 },
  { unit: "hour", millis: 3_600_000 },
  { unit: "minute", millis: 60_000 },
  { unit: "second", millis: 1000 },
  { unit: "millisecond", millis: 1 }
] as const

/** A span of time in its largest unit, such as `412 ms` or `1.5 hours`. A large number has no decimal, but that of seconds. */
export const span = ({ t }: Ask, millis: number): string => {
  const { millis: size, unit } = units.find((one) => Math.abs(millis) >= one.millis) ?? units[4]
  const count = millis / size
  const parts = unit === "second" || (unit !== "millisecond" && Math.abs(count) < 10) ? 10 : 1
  return t.text(`span.${unit}`, { count: Math.round(count * parts) / parts })
}

/** One thing that happened. */
export interface Happening {
  readonly at: string
  readonly title: HtmlValue
  readonly tone: Tone
  readonly more?: HtmlValue
}

/** What happened, the oldest first. Each entry has the time since the one before. */
export const timeline = (ask: Ask, given: ReadonlyArray<Happening>): Html => {
  const clock = new Intl.DateTimeFormat(ask.t.intl, {
    timeZone: ask.timezone,
    hourCycle: ask.hourCycle ?? "h23",
    dateStyle: undefined,
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: 3
  })
  return html`<ol class="timeline">${
    given.map(({ at, more, title, tone }, index) => {
      const before = given[index - 1]
      const gap = before === undefined ? undefined : Date.parse(at) - Date.parse(before.at)
      return html`<li class="${tone}"><p class="what">${title}</p><p class="when"><time datetime="${at}">${
        clock.format(Date.parse(at))
      }</time>${gap !== undefined && gap > 0 && html` <span>+${span(ask, gap)}</span>`}</p>${more}</li>`
    })
  }</ol>`
}
