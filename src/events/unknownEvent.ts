import { eventAliases } from "./EventAliases.ts"
import { eventNames } from "./EventNames.ts"
import { nearest } from "./nearest.ts"

/** Every name that an event goes by. */
const knownNames: ReadonlyArray<string> = [...eventNames, ...eventAliases.keys()]

/** Why a word is refused that is none of `known`: with what it is near to, or what to use `instead`. */
export const unknownEvent = (
  word: string,
  { instead, known }: { readonly known: ReadonlyArray<string>; readonly instead: string }
): string => {
  const near = nearest(word, known)
  return near.length === 0
    ? `unknown event "${word}", use ${instead}`
    : `unknown event "${word}", did you mean ${near.join(" or ")}?`
}

/** Why a word is refused where one event has to be named. */
export const unknownEventName = (word: string): string =>
  unknownEvent(word, { known: knownNames, instead: "a name such as \"message.sent\"" })
