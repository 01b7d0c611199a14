"use strict"
// Keeps the parts of a page that have data-live up to date, and shows times in the reader's time zone.
const live = new Map([...document.querySelectorAll("[data-live]")].map((part) => [part, part.innerHTML]))

const showTimes = (root) => {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime)
    const isToday = at.toDateString() === new Date().toDateString()
    time.title = at.toLocaleString()
    time.textContent = at.toLocaleString([], isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" })
  }
}

const lastOf = (list) => list.scrollHeight - list.clientHeight
const showEnd = () => {
  for (const list of document.querySelectorAll("[data-end]")) list.scrollTop = lastOf(list)
}

/** Replaces a part, and keeps what is open, focused and scrolled. */
const replace = (part, fresh) => {
  const open = [...part.querySelectorAll("details[open]")].map(({ id }) => id)
  const focused = part.contains(document.activeElement) ? document.activeElement : null
  const place = focused?.id ? `#${CSS.escape(focused.id)}` : focused?.href && `a[href="${CSS.escape(focused.getAttribute("href"))}"]`
  const isAtEnd = lastOf(part) - part.scrollTop < 60
  part.innerHTML = fresh
  for (const id of open) part.querySelector(`details[id="${CSS.escape(id)}"]`)?.setAttribute("open", "")
  if (place) part.querySelector(place)?.focus({ preventScroll: true })
  showTimes(part)
  if (isAtEnd && part.matches("[data-end]")) showEnd()
}

const isWriting = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")

const refresh = async () => {
  if (document.hidden) return
  const response = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" })
  if (!response.ok) return
  const next = new DOMParser().parseFromString(await response.text(), "text/html")
  document.title = next.title
  for (const [part, shown] of live) {
    const fresh = next.getElementById(part.id)?.innerHTML
    if (fresh === undefined || fresh === shown || isWriting(part)) continue
    live.set(part, fresh)
    replace(part, fresh)
  }
}

const repeat = () => refresh().catch(() => {}).finally(() => setTimeout(repeat, 1000))

// The cookie has the token from now on, so the address need not show it.
const address = new URL(location.href)
if (address.searchParams.has("token")) {
  address.searchParams.delete("token")
  history.replaceState(null, "", address)
}
showTimes(document)
showEnd()
// Pictures have their size by now.
addEventListener("load", showEnd)
if (live.size > 0) setTimeout(repeat, 1000)

// The second click of a double click must not send a form again.
let sentAt = -Infinity
addEventListener("submit", (event) => {
  if (event.timeStamp - sentAt < 1000) event.preventDefault()
  else sentAt = event.timeStamp
})
