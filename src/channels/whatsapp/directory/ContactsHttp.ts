import { Effect, Schema } from "effect"
import { ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { violationsOf } from "../../../platform/http/violations.ts"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { Contacts } from "./Contacts.ts"
import { ContactsApi } from "./ContactsApi.ts"

const decode = Schema.decodeEffect(PhoneNumber, { errors: "all" })

const readPhone = (text: string) =>
  Effect.mapError(decode(text), ({ issue }) => {
    const errors = violationsOf(issue).map((violation) => ({ ...violation, param: "phone" }))
    return new ValidationFailed({ param: "phone", errors })
  })

export const ContactsHttp = endpointGroup(
  baseContract.add(ContactsApi),
  "whatsappContacts",
  (handlers) =>
    Effect.gen(function*() {
      const contacts = yield* Contacts
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => contacts.list(accountId, query, window), ({ id }) => [id])
        }),
        check: Effect.fnUntraced(function*({ params, query }) {
          const { accountId } = yield* Principal
          const phone = yield* readPhone(params.phone)
          return { data: yield* contacts.check(accountId, phone, query.session_id) }
        })
      })
    })
)
