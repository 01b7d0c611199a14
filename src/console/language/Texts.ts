/** What the compiler knows of the texts. */
import type { Html } from "../../platform/http/html.ts"
import type { en } from "./en.ts"

/** The name of a text. */
export type Key = keyof typeof en

/** The texts of a language: the same keys as the English ones. */
export type Texts = Readonly<Record<Key, string>>

type Head<S extends string> = S extends `${infer Before},${string}` ? Before : S

/** `{count, plural, one {# key} other {# keys}}` has the argument `count`: the others are texts. */
type Argument<S extends string> = Head<S> extends `${string}${" " | "#"}${string}` | "" ? never : Head<S>

type ArgumentsOf<S extends string> = S extends `${string}{${infer Rest}`
  ? (Rest extends `${infer Inside}}${string}` ? Argument<Inside> : never) | ArgumentsOf<Rest>
  : never

type TagsOf<S extends string> = S extends `${string}</${infer Name}>${infer Rest}` ? Name | TagsOf<Rest> : never

/** What a text needs besides its key. */
export type Values<K extends Key> = Readonly<Record<ArgumentsOf<(typeof en)[K]>, string | number>>

/** The same for a text whose arguments are markup, and whose tags (`<link>…</link>`) become markup. */
export type RichValues<K extends Key> =
  & Readonly<Record<ArgumentsOf<(typeof en)[K]>, Html | string | number>>
  & Readonly<Record<TagsOf<(typeof en)[K]>, (inside: Html) => Html>>

/** A text without arguments takes no values. */
export type Given<V> = [keyof V] extends [never] ? [] : [values: V]
