import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, PlanLimitExceeded, ServiceUnavailable, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { RequestRules, WaitsOutside } from "../../../platform/http/RequestRules.ts"
import { pathId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { CursorPaged, cursorQuery, Done, Nothing, Paged, pageQuery } from "../../../values/Page.ts"
import { lineBetween } from "../../../values/Text.ts"
import {
  CreatedSession,
  PairingCode,
  PairingLink,
  PastState,
  QrCode,
  Session,
  SessionDetail
} from "../model/Session.ts"
import { PairingUnavailable, SessionAlreadyConnected } from "../model/SessionErrors.ts"
import { SessionStatus } from "../model/SessionState.ts"

const Name = lineBetween(1, 100)

export const NewSession = Schema.Struct({
  name: Schema.optionalKey(Schema.NullOr(Name)).annotate({ description: "generated if left out" })
}).annotate({ identifier: "NewWhatsAppSession" })
export type NewSession = typeof NewSession.Type

const SessionChange = Schema.Struct({ name: Name }).annotate({ identifier: "WhatsAppSessionChange" })

/** The library reads a missing body as null. */
const absentBody = Schema.Null.pipe(
  Schema.decodeTo(
    Schema.toType(NewSession),
    SchemaTransformation.transform({ decode: (): NewSession => ({}), encode: () => null })
  )
)

/** Accepts a number as people write it, with + and separators. */
export const PairingRequest = Schema.Struct({
  phone_number: Schema.String.annotate({ description: "number of the phone to pair, with its country code" }).check(
    Schema.makeFilter((text: string) =>
      /^\+?[1-9][\d ().-]{6,24}$/.test(text) && /^\d{7,15}$/.test(text.replaceAll(/\D/g, ""))
        ? undefined
        : "must be a phone number with its country code, such as +15550100300"
    )
  )
}).annotate({ identifier: "PairingRequest" })

const params = { id: pathId(WhatsAppSessionId) }
const reading = Access.channel(["whatsapp:read"], "sessions:read")
const writing = Access.channel(["whatsapp:write"], "sessions:write")

const list = HttpApiEndpoint.get("list", "/", {
  query: { ...pageQuery, status: Schema.optionalKey(SessionStatus) },
  success: Paged(Session),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({ summary: "List WhatsApp sessions", description: "Newest first." }))

const create = HttpApiEndpoint.post("create", "/", {
  payload: [NewSession, absentBody],
  success: CreatedSession.pipe(HttpApiSchema.status(201)),
  error: apiErrors(PlanLimitExceeded, PairingUnavailable)
})
  .annotate(WaitsOutside, true)
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Create a WhatsApp session",
    description:
      "Answers with a code to scan with the phone. The first code is valid for 60 seconds, each later one for about 20. "
      + "The event session.qr_updated brings the next code. After 160 seconds without a scan the session fails."
  }))

const get = HttpApiEndpoint.get("get", "/:id", { params, success: SessionDetail, error: apiErrors(NotFound) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a WhatsApp session",
    description: "Includes the reason if the session is disconnected or failed."
  }))

const states = HttpApiEndpoint.get("states", "/:id/states", {
  params,
  query: cursorQuery,
  success: CursorPaged(PastState),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List the states of a WhatsApp session",
    description:
      "Its states of the last 30 days, and the one that it had when they began, newest first. Each ends when the next one begins; the first is the current one. The list has no total; continue with cursor."
  }))

const qr = HttpApiEndpoint.get("qr", "/:id/qr", {
  params,
  success: QrCode,
  error: apiErrors(NotFound, SessionAlreadyConnected, PairingUnavailable)
})
  .annotate(Access.Access, Access.channel(["whatsapp:read", "whatsapp:write"], "sessions:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read the QR code",
    description:
      "Answers with the current code of an unpaired session. A failed session starts over. A paired session tries to "
      + "connect first, and answers 409 if it succeeds."
  }))

const pairingCode = HttpApiEndpoint.post("pairingCode", "/:id/pairing-code", {
  params,
  payload: PairingRequest,
  success: Done(PairingCode),
  error: apiErrors(NotFound, SessionAlreadyConnected, PairingUnavailable)
})
  .annotate(WaitsOutside, true)
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Pair with a code",
    description:
      "Answers with a code to type into the phone (Linked devices, Link with phone number instead). It works instead of "
      + "the QR code, which changes."
  }))

const pairingLink = HttpApiEndpoint.post("pairingLink", "/:id/pairing-link", {
  params,
  success: Done(PairingLink),
  error: apiErrors(NotFound, SessionAlreadyConnected, PairingUnavailable)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Make a pairing link",
    description:
      "Answers with the address of a page for the person who holds the phone. For 10 minutes it shows the codes of this "
      + "session to everyone who has the address, without a sign-in."
  }))

const reconnect = HttpApiEndpoint.post("reconnect", "/:id/reconnect", {
  params,
  success: Done(SessionDetail),
  error: apiErrors(NotFound, SessionAlreadyConnected)
})
  .annotate(WaitsOutside, true)
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Reconnect a WhatsApp session",
    description:
      "Connects a disconnected or failed session now instead of after its pause. The answer has the state that it reached within 20 seconds. A session without a phone shows codes again."
  }))

const logOut = HttpApiEndpoint.post("logOut", "/:id/logout", {
  params,
  success: Done(SessionDetail),
  error: apiErrors(NotFound, ServiceUnavailable)
})
  .annotate(WaitsOutside, true)
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Log a WhatsApp session out",
    description:
      "Removes the device from the phone and erases its credentials. The session stays, is failed with the reason logged_out, and can be paired again. Its waiting messages fail. Without a phone, nothing changes."
  }))

const change = HttpApiEndpoint.put("change", "/:id", {
  params,
  payload: SessionChange,
  success: SessionDetail,
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({ summary: "Rename a WhatsApp session", description: "Changes its name." }))

const remove = HttpApiEndpoint.delete("remove", "/:id", { params, success: Nothing, error: apiErrors(NotFound) })
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a WhatsApp session",
    description: "Logs the device out and erases its credentials. To pair the phone again, create a new session."
  }))

/** WhatsApp sessions (spec 4.2). */
export class SessionsApi extends HttpApiGroup.make("whatsappSessions")
  .add(list, create, get, states, change, qr, pairingCode, pairingLink, reconnect, logOut, remove)
  .prefix("/v1/whatsapp/sessions")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "WhatsApp sessions",
      description: "A session is one paired phone. Messages go out and come in through it."
    })
  )
{}
