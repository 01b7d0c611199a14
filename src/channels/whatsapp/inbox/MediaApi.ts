import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors, wire } from "../../../platform/http/ApiError.ts"
import { NotFound, ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { RequestRules } from "../../../platform/http/RequestRules.ts"
import { MessageId, pathId } from "../../../values/Ids.ts"

/** The file has expired at WhatsApp, or the keys that open it are gone. */
export class MediaGone extends Schema.TaggedError<MediaGone>()("MediaGone", {}, wire(410, "media_gone", 4106)) {
  override get message() {
    return "This file is no longer available. WhatsApp keeps files for some weeks, and only the session's keys open them."
  }
}

const fetch = HttpApiEndpoint.get("fetch", "/:id/media", {
  params: { id: pathId(MessageId) },
  success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
  error: apiErrors(NotFound, MediaGone, ServiceUnavailable)
})
  .annotate(Access.Access, Access.channel(["whatsapp:read"], "messages:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Fetch the file of a WhatsApp message",
    description:
      "Downloads the file from WhatsApp, decrypts it and answers with its bytes and type; up to 100 MiB. 404 if the message has no file."
  }))

/** Files of received WhatsApp messages (api: media). */
export class MediaApi extends HttpApiGroup.make("whatsappMedia")
  .add(fetch)
  .prefix("/v1/whatsapp/messages")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "WhatsApp media", description: "Files of messages that arrived." }))
{}
