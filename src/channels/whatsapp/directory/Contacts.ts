import { Context, Effect, Layer, Option } from "effect"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import type { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { PageOf, Window } from "../../../values/Page.ts"
import type { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { SessionNotConnected } from "../model/SessionErrors.ts"
import type { Contact, NumberCheck } from "./Contact.ts"
import { ContactsRepo } from "./ContactsRepo.ts"
import { Directory } from "./Directory.ts"

/** The contacts of an account's sessions. */
export class Contacts extends Context.Service<Contacts, {
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    filter: { readonly session_id?: WhatsAppSessionId; readonly q?: string },
    window: Window
  ) => Effect.Effect<PageOf<Contact>>
  /** Checks whether a number has WhatsApp, over the given session or over any connected one. */
  readonly check: (
    accountId: AccountId,
    phone: PhoneNumber,
    sessionId: WhatsAppSessionId | undefined
  ) => Effect.Effect<NumberCheck, NotFound | SessionNotConnected>
}>()("messaging-service/channels/whatsapp/directory/Contacts") {
  static readonly layer = Layer.effect(
    Contacts,
    Effect.gen(function*() {
      const repo = yield* ContactsRepo
      const directory = yield* Directory

      const answer = (phone: PhoneNumber, whatsapp_id: string | null): NumberCheck => ({
        phone,
        is_whatsapp_user: whatsapp_id !== null,
        whatsapp_id
      })

      return Contacts.of({
        list: Effect.fn("Contacts.list")((accountId, { q = null, session_id: sessionId = null }, window) =>
          Query.windowOf(repo, { accountId, sessionId, q, ...window })
        ),
        check: Effect.fn("Contacts.check")(function*(accountId, phone, sessionId) {
          const session = Option.getOrUndefined(
            yield* repo.findSession({ accountId, sessionId: sessionId ?? null })
          )
          if (session === undefined && sessionId !== undefined) return yield* new NotFound({ param: "session_id" })
          if (session?.status !== "connected") {
            return yield* new SessionNotConnected({ session_status: session?.status ?? "disconnected" })
          }
          const { id } = session
          const number = phone.slice(1)
          const cached = yield* repo.check({ id, phone: number })
          if (Option.isSome(cached)) return answer(phone, cached.value.whatsapp_id)
          const asked = yield* directory.check(id, number)
          if (asked._tag === "Checked") return answer(phone, asked.whatsapp_id)
          if (asked._tag === "NotConnected") return yield* new SessionNotConnected({ session_status: "disconnected" })
          // No answer does not mean that the number has no WhatsApp.
          return { phone, is_whatsapp_user: null, whatsapp_id: null }
        })
      })
    })
  ).pipe(Layer.provide(ContactsRepo.layer))
}
