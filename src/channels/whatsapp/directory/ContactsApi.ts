import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { RequestRules } from "../../../platform/http/RequestRules.ts"
import { pathId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Data, Paged, pageQuery } from "../../../values/Page.ts"
import { lineBetween } from "../../../values/Text.ts"
import { SessionNotConnected } from "../model/SessionErrors.ts"
import { Contact, NumberCheck } from "./Contact.ts"

const session_id = Schema.optionalKey(pathId(WhatsAppSessionId))
const reading = Access.channel(["whatsapp:read"], "contacts:read")

const list = HttpApiEndpoint.get("list", "/", {
  query: { ...pageQuery, session_id, q: Schema.optionalKey(lineBetween(1, 100)) },
  success: Paged(Contact),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List WhatsApp contacts",
    description:
      "Newest first. q searches names and numbers. The service learns contacts from the phone and from messages."
  }))

const check = HttpApiEndpoint.get("check", "/:phone/check", {
  // A plain text, because an invalid number is a wrong value (422), not an unknown id (404).
  params: { phone: Schema.String.annotate({ description: "A phone number with its country code" }) },
  query: { session_id },
  success: Data(NumberCheck),
  error: apiErrors(NotFound, ValidationFailed, SessionNotConnected)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Check a number",
    description:
      "Whether a number has WhatsApp. The request goes over the given session, or over any connected one. The answer is "
      + "cached for a day, or for an hour if the number has no WhatsApp. is_whatsapp_user is null if WhatsApp does not answer."
  }))

/** Endpoints of WhatsApp contacts (api: contacts). */
export class ContactsApi extends HttpApiGroup.make("whatsappContacts")
  .add(list, check)
  .prefix("/v1/whatsapp/contacts")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "WhatsApp contacts", description: "People whom a paired phone knows." }))
{}
