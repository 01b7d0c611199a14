import { Schema, SchemaTransformation } from "effect"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"

/** What is said of it where it stands in an address. */
export const chatNumberDescription = "A phone number; its + may be left out"

/** A phone number whose plus may be left out. */
export const ChatNumber = Schema.String.annotate({ description: chatNumberDescription }).pipe(
  Schema.decodeTo(
    PhoneNumber,
    SchemaTransformation.transform({
      decode: (text) => /^\s*\d/.test(text) ? `+${text.trim()}` : text,
      encode: (number: string) => number
    })
  )
)
