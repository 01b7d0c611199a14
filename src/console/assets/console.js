// What scripts add to the pages. Every page works without them.
;(() => {
  const show = (root) => {
    for (const button of root.querySelectorAll("[data-copy], [data-shortcuts]")) button.hidden = false
  }

  const pageOf = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html")

  // What the labels of the buttons say otherwise.
  const labels = new WeakMap()
  // The label of a button says for two seconds that its text is copied.
  const sayCopied = (button, copied) => {
    const label = button.querySelector("span")
    if (!labels.has(label)) labels.set(label, label.textContent)
    label.textContent = copied
    setTimeout(() => (label.textContent = labels.get(label)), 2000)
  }

  const copy = async (button) => {
    await navigator.clipboard.writeText(button.dataset.copy)
    sayCopied(button, button.dataset.copied)
  }

  // A page of another address opens above this one.
  const openAbove = (main, address, opener) => {
    for (const part of main.querySelectorAll(".crumbs, .foot, .done")) part.remove()
    const dialog = document.createElement("dialog")
    dialog.setAttribute("aria-label", main.querySelector("h1, h2").textContent)
    dialog.append(...main.childNodes)
    for (const form of dialog.querySelectorAll("form:not([action])")) form.action = address
    dialog.addEventListener("close", () => {
      dialog.remove()
      opener.focus()
    })
    document.body.append(dialog)
    show(dialog)
    dialog.showModal()
  }

  // What the service sends. Says so where it does not answer.
  const reach = async (opener, address, options) => {
    try {
      return await fetch(address, { credentials: "same-origin", ...options })
    } catch (error) {
      openAbove(document.querySelector("template#away").content.cloneNode(true), location.href, opener)
      throw error
    }
  }

  // A page that asks for a confirmation opens above the page that leads to it. One that leads elsewhere, as to the
  // sign-in page, takes the whole window.
  const openDialog = async (link) => {
    const answer = await reach(link, link.href)
    const main = (await pageOf(answer)).querySelector("main")
    if (!answer.ok || answer.redirected || main === null) return void location.assign(link.href)
    // A person may have clicked twice.
    if (document.querySelector("dialog[open]") !== null) return
    openAbove(main, link.href, link)
  }

  // Sends a form and copies the text that the answer shows. Browsers copy only what a click began, so the clipboard gets the
  // promise of the text. What cannot be copied is shown.
  const copyAnswer = async (form, button) => {
    const body = new URLSearchParams(new FormData(form))
    // The form stays, and a second press asks for a new text: that of the first one may have ended.
    body.delete("_once")
    const answer = reach(button, form.action, { method: "POST", body })
    const page = answer.then(pageOf)
    const source = page.then((found) => found.querySelector("main [data-copy]").dataset)
    const text = source.then(({ copy }) => new Blob([copy], { type: "text/plain" }))
    try {
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": text })])
      sayCopied(button, (await source).copied)
    } catch {
      if ((await answer).redirected) return void location.assign(form.action)
      openAbove((await page).querySelector("main"), form.action, button)
    }
  }

  document.addEventListener("submit", (event) => {
    // Without TLS there is no clipboard: then the form loads its answer.
    if (!event.target.matches("[data-copies]") || navigator.clipboard === undefined) return
    event.preventDefault()
    copyAnswer(event.target, event.submitter).catch(() => undefined)
  })

  // A second click would discard the answer to the first, and a secret is shown once. A preview has its own frame.
  const sent = new WeakSet()
  document.addEventListener("submit", (event) => {
    const form = event.target
    if (event.defaultPrevented || form.method !== "post" || event.submitter?.formTarget) return
    if (sent.has(form)) return void event.preventDefault()
    sent.add(form)
    setTimeout(() => sent.delete(form), 2000)
  })

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]")
    if (button !== null) return void copy(button)
    const link = event.target.closest("a[data-dialog]")
    if (link !== null && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault()
      return void openDialog(link).catch(() => undefined)
    }
    const cancel = event.target.closest("dialog .buttons a")
    if (cancel !== null) {
      event.preventDefault()
      return void cancel.closest("dialog").close()
    }
    // A menu closes when a person looks elsewhere.
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false
    }
  })

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return
    const menu = document.querySelector("details.menu[open]")
    if (menu === null) return
    menu.open = false
    menu.querySelector("summary").focus()
  })

  // The keys of a person who has not switched them off: then the page has a list of them.
  const list = document.querySelector("template#shortcuts")
  const showList = (opener) => openAbove(list.content.cloneNode(true), location.href, opener)
  // Its menu closes with the next click, so the focus returns to the button of the menu.
  document.querySelector("[data-shortcuts]")?.addEventListener("click", ({ currentTarget }) =>
    showList(currentTarget.closest("details").querySelector("summary")))

  // On a narrow screen a link stands for the search.
  const find = () => {
    const field = document.querySelector("#find-q")
    if (field === null) return
    if (!field.checkVisibility()) return void document.querySelector("a.find").click()
    field.focus()
    field.select()
  }

  const moveBy = (step) => {
    const rows = [...document.querySelectorAll("main .list tbody tr:has(a)")]
    const at = rows.findIndex((row) => row.contains(document.activeElement))
    rows[Math.max(0, at + step)]?.querySelector("a").focus()
  }

  // The keys of a keyboard for another alphabet count by their places.
  const keyOf = ({ code, key }) => {
    if (key.codePointAt(0) < 128) return key.toLowerCase()
    return key === "؟" ? "?" : code === "Slash" ? "/" : code.replace("Key", "").toLowerCase()
  }

  let isAfterG = false
  const doings = {
    "/": find,
    "?": () => showList(document.activeElement),
    j: () => moveBy(1),
    k: () => moveBy(-1),
    g: () => (isAfterG = true)
  }
  const doingOf = (event) => {
    const key = keyOf(event)
    const link = isAfterG && document.querySelector(`.nav a[data-key="${CSS.escape(key)}"]`)
    isAfterG = false
    if (document.querySelector("dialog[open]") !== null || event.altKey || event.isComposing) return undefined
    if (event.ctrlKey || event.metaKey) return key === "k" ? find : undefined
    if (list === null || event.target.matches("input, select, textarea, [contenteditable]")) return undefined
    return link ? () => link.click() : doings[key]
  }

  document.addEventListener("keydown", (event) => {
    const doing = doingOf(event)
    if (doing === undefined) return
    event.preventDefault()
    doing()
  })

  // Counts down how long to wait. A page that was refused loads itself again then, and a form waits for the person.
  for (const line of document.querySelectorAll("[data-wait]")) {
    const { reloads, seconds, wait } = line.dataset
    const sentences = JSON.parse(wait)
    const end = Date.now() + 1000 * seconds
    const tick = () => {
      const left = Math.ceil((end - Date.now()) / 1000)
      if (left <= 0) return void (reloads === undefined ? line.remove() : location.reload())
      line.textContent = sentences.findLast(([from]) => from <= left)[1].replace("#", left)
      setTimeout(tick, 1000)
    }
    tick()
  }

  // The form of the first start knows the zone of the browser, if it is one of ours.
  const zone = document.querySelector("form:not(:has(.problem)) select[data-guess=zone]")
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (zone !== null && [...zone.options].some(({ value }) => value === own)) zone.value = own

  show(document)
  // A new part of the page comes as it is without scripts.
  document.addEventListener("htmx:after:swap", () => show(document))
  document.querySelector(".problem")?.focus()
})()
// A page whose data change loads itself again while a person looks at it, and not in the middle of their work.
;(() => {
  const gone = new Set([403, 404, 410])
  let isPaused = false

  const isTypedIn = (form) =>
    [...form.querySelectorAll("input:not([type=hidden]), select, textarea")].some((field) =>
      field === document.activeElement || field.matches(":user-valid, :user-invalid")
    )

  // A form in which a person types stays as it is, while the rest of the page changes.
  const keepForms = (main) => {
    for (const form of main.querySelectorAll("form")) form.toggleAttribute("hx-morph-skip", isTypedIn(form))
  }

  // The next page may lack the form, and then the text would be lost.
  const losesText = (main, next) =>
    [...main.querySelectorAll("form[hx-morph-skip] textarea")].some(({ id, value }) =>
      value !== "" && next.querySelector(`#${id}`) === null
    )

  // What the next page lacks leaves its place empty, so that nothing moves: a button beside the title, and the one that pauses.
  const placeOf = (part) => {
    const place = part.cloneNode(true)
    place.setAttribute("data-gone", "")
    for (const name of ["id", "hx-preserve"]) place.removeAttribute(name)
    return place
  }
  // The sentence of the first new thing of a list, with their number, as a link to the whole list.
  const newsOf = ([item, ...others]) => {
    const link = document.createElement("a")
    // Without the #main of the skip link, with which a press would load nothing.
    link.href = location.pathname + location.search
    // What does not fit is the end of the sentence.
    link.dir = "auto"
    link.append(others.length > 0 ? `(${others.length + 1}) ` : "", ...item.querySelector("p").cloneNode(true).childNodes)
    const news = item.cloneNode(false)
    news.id = `new-${item.id}`
    news.classList.add("new")
    news.append(link)
    return news
  }
  // What comes into a list waits beside its heading, and what leaves it keeps its place.
  const holdItems = (main, next) => {
    for (const { children, dataset } of main.querySelectorAll("[data-held]")) {
      const list = next.querySelector(`[data-held=${dataset.held}]`)
      const coming = new Map([...(list?.children ?? [])].map((item) => [item.id, item]))
      const kept = [...children].filter((item) => !item.matches(".new")).map((item) => {
        const same = coming.get(item.id)
        coming.delete(item.id)
        return same ?? Object.assign(placeOf(item), { id: item.id })
      })
      list?.replaceChildren(...(coming.size > 0 ? [newsOf([...coming.values()])] : []), ...kept)
    }
  }
  // The label of a button that copies changes for a while, and that of one with a name whenever there is something new.
  const nameOf = ({ dataset, textContent }) => dataset.name ?? dataset.copy ?? textContent
  const keepPlaces = (main, next) => {
    const [shown, coming] = [main, next].map((root) => [...root.querySelectorAll(".head > .buttons > *")])
    const names = new Set(coming.map(nameOf))
    shown.forEach((button, index) => {
      if (!names.has(nameOf(button))) coming.splice(index, 0, placeOf(button))
    })
    next.querySelector(".head > .buttons")?.append(...coming)
    holdItems(main, next)
    const controls = main.querySelector(".live")
    if (next.querySelector(".live") === null && controls !== null) next.querySelector(".foot")?.before(placeOf(controls))
  }

  const hasDialog = () => document.querySelector("dialog[open]") !== null

  // Says under the page that it is stale, or that it waits.
  const say = (what) => {
    const line = document.querySelector("[data-stale]")
    if (line !== null) line.textContent = line.dataset[what] ?? ""
  }

  const load = async () => {
    const main = document.querySelector("main[data-live]")
    if (main === null || isPaused || document.hidden) return
    if (hasDialog()) return void say("waits")
    const asked = location.href
    // An answer to an update leaves out what the page keeps. A node of another version may have answered without a
    // place for it.
    const keeps = main.querySelector("[data-kept]:not(:empty)") !== null
    const answer = await fetch(asked, { credentials: "same-origin", headers: keeps ? { "x-update": main.dataset.since ?? "1" } : {} })
    // The person has signed out elsewhere, or what the page shows is gone: then another page says so.
    if (answer.redirected || gone.has(answer.status)) return void location.reload()
    // The service answers again, with the whole page in the place of the one that said so.
    if (answer.ok && main.querySelector("[data-away]") !== null) return void location.reload()
    if (!answer.ok) throw new Error(answer.statusText)
    const page = new DOMParser().parseFromString(await answer.text(), "text/html")
    const next = page.querySelector("main")
    if (isPaused || location.href !== asked) return
    keepForms(main)
    if (hasDialog() || losesText(main, next)) return void say("waits")
    keepPlaces(main, next)
    await htmx.swap({ sourceElement: main, target: "main", swap: "outerMorph", text: next.outerHTML })
    document.title = page.title
    say("nothing")
  }

  const next = () => {
    const seconds = document.querySelector("main[data-live]")?.dataset.live ?? 2
    setTimeout(() => load().catch(() => say("stale")).finally(next), seconds * 1000)
  }
  next()

  // A code to scan disappears when it expires, even if no other one comes.
  let pictureEnd
  const endPicture = () => {
    clearTimeout(pictureEnd)
    const picture = document.querySelector("main [data-over]")
    if (picture === null) return
    const { millis, over } = picture.dataset
    pictureEnd = setTimeout(() => {
      const line = document.createElement("p")
      line.textContent = over
      picture.replaceChildren(line)
    }, Number(millis))
  }
  endPicture()
  document.addEventListener("htmx:after:swap", endPicture)

  const button = document.querySelector("[data-pause]")
  if (button === null) return
  button.hidden = false
  button.addEventListener("click", () => {
    isPaused = !isPaused
    const label = button.querySelector("span")
    const { other } = button.dataset
    button.dataset.other = label.textContent
    label.textContent = other
  })
})()
// Passkeys: the browser's answer goes into the form, which is then sent as any other.
;(() => {
  if (typeof PublicKeyCredential?.parseRequestOptionsFromJSON !== "function") return
  const answerOf = async ({ dataset }) => {
    const wanted = JSON.parse(dataset.wanted)
    const credential = dataset.passkey === "create"
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(wanted) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(wanted) })
    return JSON.stringify(credential.toJSON())
  }
  const ask = async (form) => {
    form.elements.namedItem("answer").value = await answerOf(form)
    form.submit()
  }
  // The page behind the link proves the identity. Then the form around the link is sent as it is, with all that was typed.
  const prove = async (link) => {
    const page = await fetch(link.href, { credentials: "same-origin" })
    const form = new DOMParser().parseFromString(await page.text(), "text/html").querySelector("form[data-passkey=get]")
    if (page.redirected || form === null) return false
    const body = new URLSearchParams(new FormData(form))
    body.set("answer", await answerOf(form))
    return (await fetch(link.href, { method: "POST", body, credentials: "same-origin" })).redirected
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-proof]")
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    prove(link).then(
      (isProven) => isProven ? link.closest("form").submit() : location.assign(link.href),
      () => undefined
    )
  })
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false
    form.addEventListener("submit", (event) => {
      event.preventDefault()
      // A person who closes the browser's question stays on the page.
      ask(form).catch(() => undefined)
    })
  }
})()
