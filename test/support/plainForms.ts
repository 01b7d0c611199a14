/** Forms as a browser without scripts sees and sends them. */
import { Effect } from "effect"
import { type Answer, Service } from "./Service.ts"

export interface PlainForm {
  /** The path and query of its page. */
  readonly page: string
  readonly method: string
  /** Where it goes. */
  readonly address: string
  /** Its name within the page; for a form that reads, its address. */
  readonly name: string
  /** Only scripts show it. */
  readonly isHidden: boolean
  readonly markup: string
  /** What it sends as it is drawn, in order. */
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
}

const signs: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", "#39": "'" }

const plain = (text: string) => text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (all, name: string) => signs[name] ?? all)

/** The value of an attribute; undefined if the tag lacks it. */
export const attribute = (tag: string, name: string): string | undefined => {
  const found = new RegExp(`\\s${name}(?:="([^"]*)")?(?=[\\s>])`).exec(tag)
  return found === null ? undefined : plain(found[1] ?? "")
}

const control = /<input\b[^>]*>|<(select|textarea)\b.*?<\/\1>/gs

const valueOf = (found: string) => {
  const [tag = ""] = /^<[^>]*>/.exec(found) ?? []
  if (tag.startsWith("<textarea")) return plain(found.slice(tag.length).replace(/^\n/, "").replace("</textarea>", ""))
  if (tag.startsWith("<select")) {
    const options = [...found.matchAll(/<option\b[^>]*>/g)].map(([option]) => option)
    return attribute(options.find((option) => / selected/.test(option)) ?? options[0] ?? "", "value") ?? ""
  }
  const isChoice = /type="(?:checkbox|radio)"/.test(tag)
  return isChoice && !/ checked/.test(tag) ? undefined : attribute(tag, "value") ?? ""
}

/** What is shown without scripts: what stands in a template is not. */
export const withoutTemplates = (markup: string) => markup.replaceAll(/<template.*?<\/template>/gs, "")

export const formsOf = (page: string, markup: string): ReadonlyArray<PlainForm> =>
  [...withoutTemplates(markup).matchAll(/(<form\b[^>]*>)(.*?)<\/form>/gs)].map(([, tag = "", inside = ""]) => {
    const fields = [...inside.matchAll(control)].flatMap(([found]) => {
      const name = attribute(found, "name")
      const value = name === undefined ? undefined : valueOf(found)
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    })
    const address = attribute(tag, "action") ?? page
    return {
      page,
      address,
      method: (attribute(tag, "method") ?? "get").toLowerCase(),
      name: fields.find(([name]) => name === "_action")?.[1] ?? address,
      isHidden: attribute(tag, "hidden") !== undefined,
      markup: `${tag}${inside}</form>`,
      fields
    }
  })

/** A browser without scripts. It keeps the token of its sign-in. */
export const plainBrowser = (cookie: string) => {
  let jar = cookie
  /** Follows where an answer leads. */
  const ask = Effect.fnUntraced(
    function*(method: string, path: string, body?: string): Effect.fn.Return<Answer, never, Service> {
      const { request } = yield* Service
      const answer = yield* request(method, path, {
        ...(body !== undefined && { body }),
        headers: {
          accept: "text/html",
          cookie: jar,
          ...(body !== undefined && {
            "content-type": "application/x-www-form-urlencoded",
            "sec-fetch-site": "same-origin"
          })
        }
      })
      const [renewed] = /\bconsole=lt_live_\w+/.exec(answer.headers["set-cookie"] ?? "") ?? []
      jar = renewed ?? jar
      const { location } = answer.headers
      return location === undefined ? answer : yield* ask("GET", location)
    }
  )
  return {
    open: (path: string) => ask("GET", path),
    /** Sends a form as it is drawn, but for some values. */
    send: ({ address, fields, method }: PlainForm, typed: Readonly<Record<string, string>> = {}) => {
      const values = String(
        new URLSearchParams(fields.map(([name, value]): [string, string] => [name, typed[name] ?? value]))
      )
      return method === "post" ? ask("POST", address, values) : ask("GET", `${address.replace(/\?.*/, "")}?${values}`)
    }
  }
}

export type PlainBrowser = ReturnType<typeof plainBrowser>
