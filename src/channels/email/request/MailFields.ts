import { Schema } from "effect"
import { lineBetween, Text, textBetween } from "../../../values/Text.ts"
import { mailboxFor } from "./Mailbox.ts"

/** A stored template, named in the place of texts. */
const TemplateName = Schema.Union([Text, Schema.Finite]).annotate({
  description: "A stored template in the place of html and text; the number that names it too is deprecated"
})

/** The HTML or the text of a mail. */
const MailText = textBetween(1, 5_000_000)

/** Whose mail it is and what it says: the fields that single and bulk mail have in common. */
export const mailFields = {
  from: Schema.optionalKey(
    mailboxFor("An address, or Name <address>, of a verified domain; without it the service's default sender")
  ),
  from_name: Schema.optionalKey(
    lineBetween(1, 200).annotate({ description: "The sender's name, in the place of the one in from" })
  ),
  template_id: Schema.optionalKey(TemplateName),
  subject: Schema.optionalKey(
    lineBetween(1, 500).annotate({
      description: "Required without template_id; with it, in the place of its subject. {{variables}} are filled in"
    })
  ),
  text: Schema.optionalKey(
    MailText.annotate({ description: "For readers without HTML; made of html where it is left out" })
  ),
  track_opens: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether opens are told; in the place of the domain's own setting" })
  ),
  track_clicks: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether clicks are told; in the place of the domain's own setting" })
  )
}

/** The HTML of a mail, with words about when it is required. */
export const htmlField = (required: string) =>
  Schema.optionalKey(MailText.annotate({ description: `${required}. {{variables}} are filled in and escaped` }))

/** In the answer to an accepted mail: what is wrong with its From that did not stop it. */
export const Warnings = Schema.Array(Schema.String).annotate({
  description:
    "What large receivers will hold against this mail, by its domain's last DNS check and the service's settings"
})
