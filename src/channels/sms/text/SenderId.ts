import { Schema } from "effect"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { Text } from "../../../values/Text.ts"

/** The address field of GSM holds eleven characters (3GPP 23.040, 9.1.2.5); a name without a letter is a number. */
const name = /^(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 &._-]{1,9}[A-Za-z0-9])$/

const isSenderId = (text: string) => name.test(text) || Schema.is(PhoneNumber)(text) || /^\d{3,8}$/.test(text)

/** The sender that an SMS shows: a name of 3 to 11 letters and digits, a number, or a short code. */
export const SenderId = Text.check(
  Schema.makeFilter(
    (text: string) =>
      isSenderId(text)
        ? undefined
        : "must be a name of 3 to 11 letters and digits with at least one letter, a number such as +250788123456, or a short code of 3 to 8 digits"
  )
).annotate({ description: "A name of 3 to 11 characters, a number in E.164, or a short code" })

/** The type of a sender id. */
export const senderIdType = (id: string): "alphanumeric" | "number" | "short_code" =>
  id.startsWith("+") ? "number" : /^\d+$/.test(id) ? "short_code" : "alphanumeric"
