import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { RequestRules } from "../../../platform/http/RequestRules.ts"
import { MessageId, pathId } from "../../../values/Ids.ts"
import { MediaGone } from "./MediaErrors.ts"

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
  .annotateMerge(OpenApi.annotations({ title: "WhatsApp media" }))
{}
