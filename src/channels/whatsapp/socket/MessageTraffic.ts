import { Effect, type Scope } from "effect"
import type { Owned } from "../credentials/CredentialsRepo.ts"
import type { SessionTraffic } from "./WhatsAppSocket.ts"

/** One part of what is done with the messages of a connection; what it does not speak of is another part's. */
export interface TrafficPart {
  readonly attach: (owned: Owned) => Effect.Effect<Partial<SessionTraffic>, never, Scope.Scope>
}

/** The first part that has an answer. */
const firstOf = <A>(questions: ReadonlyArray<Effect.Effect<A | undefined> | undefined>) =>
  Effect.gen(function*() {
    for (const question of questions) {
      const answer = question === undefined ? undefined : yield* question
      if (answer !== undefined) return answer
    }
    return undefined
  })

/** The parts as one: each hears everything, in their order; a question is answered by the first that knows. */
export const mergeTraffic = (parts: ReadonlyArray<TrafficPart>) => ({
  attach: (owned: Owned): Effect.Effect<SessionTraffic, never, Scope.Scope> =>
    Effect.map(Effect.forEach(parts, (part) => part.attach(owned)), (attached) => ({
      onOpened: (socket) =>
        Effect.forEach(attached, (part) => part.onOpened?.(socket) ?? Effect.void, { discard: true }),
      onStanza: (kind, stanza) => {
        for (const part of attached) part.onStanza?.(kind, stanza)
      },
      onPeople: (people) => {
        for (const part of attached) part.onPeople?.(people)
      },
      sentMessage: (chat, id) => firstOf(attached.map((part) => part.sentMessage?.(chat, id))),
      groupMetadata: (chat) => firstOf(attached.map((part) => part.groupMetadata?.(chat)))
    }))
})
