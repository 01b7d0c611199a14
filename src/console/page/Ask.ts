import type { Stream } from "effect"
import type { RelyingParty } from "../../people/Passkeys.ts"
import type { Membership, SignedIn } from "../../people/Person.ts"
import type { Html } from "../../platform/http/html.ts"
import type { AccountId } from "../../values/Ids.ts"
import type { Need } from "../../values/Permission.ts"
import type { Translate } from "../language/Messages.ts"

/** A place in a text, counted from 1. */
export interface TextPlace {
  readonly line: number
  readonly column: number
}

/** One broken rule of a form, at the field with this name; without a field it concerns the whole form. */
export interface FieldFault {
  readonly param: string
  readonly message: string
  /** The API's word for it. The console's own faults have none. */
  readonly type?: string | undefined
  /** Where in the text of the field it is, if the rule is about a place. */
  readonly place?: TextPlace | undefined
}

/**
 * A form that was sent and not done: it was refused, or the person asked for its command, its preview or its draft. Its page
 * shows the values again.
 */
export interface Attempt {
  readonly action: string
  readonly form: URLSearchParams
  /** Why it was refused; undefined where the person asked for something in its place. */
  readonly message: string | undefined
  /** After how many seconds it may be sent again. */
  readonly seconds?: number | undefined
  readonly faults: ReadonlyArray<FieldFault>
  readonly status: number
  /** What made the form work once, if it may have been done nevertheless: sent again, it does nothing twice. */
  readonly once: string | undefined
}

/** A request for a page, as pages see it. */
export interface Ask {
  readonly t: Translate
  /** IANA name of the reader's time zone. */
  readonly timezone: string
  readonly hourCycle: "h12" | "h23" | undefined
  /** The parameters of the path, such as `id`. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** The filter, the tab and the cursor: all of a view is in its address. */
  readonly query: URLSearchParams
  /** The path of this page, without its query. */
  readonly path: string
  /** What the browser sends is encrypted, or stays on this machine. */
  readonly isPrivate: boolean
  /** The address of the service, for examples. No trailing slash. */
  readonly base: string
  /** The site of passkeys; undefined where the page was opened under a name that has none. */
  readonly party: RelyingParty | undefined
  readonly attempt: Attempt | undefined
  /** An open page asks for its changes, and keeps its parts with `data-kept`: the answer may leave their content out. */
  readonly isUpdate: boolean
  /** What the open page has, in the words of {@link Drawn.since}. */
  readonly since: string | undefined
  /** The hidden fields of a form: they prove that a page of this sign-in sent it, and that it was not sent before. */
  readonly seal: (action: string) => { readonly token: string; readonly once: string }
}

/** A request of a signed-in person. */
export interface PersonAsk extends Ask {
  readonly signedIn: SignedIn
}

export const isOfPerson = <A extends Ask>(ask: A): ask is A & PersonAsk => "signedIn" in ask

/** Over https, an operator without a second factor opens only the pages on which they add one. */
export const lacksFactor = ({ base, signedIn: { has_second_factor, person } }: PersonAsk): boolean =>
  person.is_operator && !has_second_factor && base.startsWith("https:")

/** A request for a page of an account. */
export interface AccountAsk extends PersonAsk {
  /** The account with the person's role in it. */
  readonly account: Membership
  readonly mode: "live" | "test"
  /** Whose rows the page reads: the account, or its shadow in test mode. */
  readonly accountId: AccountId
  /** The address of another page of this account and mode, such as `/keys/new`. */
  readonly to: (path: `/${string}` | "") => string
  /** Whether the person's role allows it: a page leaves out what it would refuse. */
  readonly can: (permission: Need) => boolean
}

/** The address of this page with other parameters; null removes one. */
export const withQuery = ({ path, query }: Ask, changes: Readonly<Record<string, string | null>>): string => {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name)
    else next.set(name, value)
  }
  return next.size === 0 ? path : `${path}?${next}`
}

/** A page ready for the frame. */
export interface Drawn {
  /** `<h1>` and the first part of `<title>`. */
  readonly title: string
  readonly content: Html
  /** What stands beside the title: buttons and links. */
  readonly buttons?: Html | false
  /** One sentence under the title. */
  readonly lead?: Html | string
  /** The pages above this one, the topmost first. */
  readonly crumbs?: ReadonlyArray<{ readonly href: string; readonly label: string }>
  readonly status?: number
  /**
   * What the page shows changes by itself, so scripts load it again after this many seconds, or two, while a person
   * looks at it.
   */
  readonly isLive?: boolean | number
  /** What the page shows already. Its updates get it as {@link Ask.since}. */
  readonly since?: string | undefined
  /** The address of the page that stands in for this one. */
  readonly leadsTo?: string
  /** The whole document in the place of the page: foreign markup, for a locked frame of another page. */
  readonly frame?: string
  /** A file to save, in the place of the page. */
  readonly file?: {
    /** Such as `usage.csv`. */
    readonly name: string
    /** By default a table. */
    readonly type?: "application/json" | "message/rfc822"
    readonly lines: Stream.Stream<string>
  } | {
    /** Chosen by a stranger, perhaps. */
    readonly name: string
    readonly type: "application/octet-stream"
    readonly lines?: never
    readonly bytes: Uint8Array
  }
  /** The path of the `GET` request that gives this data, such as `/v1/api-keys`. */
  readonly curl?: string
}
