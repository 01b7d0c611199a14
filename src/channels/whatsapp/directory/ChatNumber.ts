import { Schema, SchemaTransformation } from "effect"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"

/** Describes it as a path parameter. */
export const chatNumberDescription = "A phone number, with or without its +"

/** A phone number, with or without its plus. */
export const ChatNumber = Schema.String.annotate({ description: chatNumberDescription }).pipe(
  Schema.decodeTo(
    PhoneNumber,
    SchemaTransformation.transform({
      decode: (text) => /^\s*\d/.test(text) ? `+${text.trim()}` : text,
      encode: (number: string) => number
    })
  )
)
