import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { answerInTime } from "../../../platform/http/answerInTime.ts"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { Media } from "./Media.ts"
import { MediaApi } from "./MediaApi.ts"

/** A browser must never show a stranger's file as a page of this origin. */
const headers = {
  "content-disposition": "attachment",
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'"
}

export const MediaHttp = endpointGroup(
  baseContract.add(MediaApi),
  "whatsappMedia",
  (handlers) =>
    Effect.gen(function*() {
      const media = yield* Media
      return handlers.handle("fetch", ({ params }) =>
        Effect.gen(function*() {
          const { accountId } = yield* Principal
          const { bytes, mimeType } = yield* media.fetch(accountId, params.id)
          return yield* answerInTime(HttpServerResponse.uint8Array(bytes, { contentType: mimeType, headers }))
        }))
    })
)
