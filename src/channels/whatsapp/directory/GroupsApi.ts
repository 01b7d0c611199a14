import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ServiceUnavailable, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { RequestRules, WaitsOutside } from "../../../platform/http/RequestRules.ts"
import { pathId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Data, Paged, pageQuery } from "../../../values/Page.ts"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { lineBetween, textBetween } from "../../../values/Text.ts"
import { SessionNotConnected } from "../model/SessionErrors.ts"
import { Group, GroupId, NotGroupAdmin } from "./Group.ts"

const name = lineBetween(1, 100)
const description = Schema.optionalKey(Schema.NullOr(textBetween(0, 2_048)))

const numbers = (minimum: number) =>
  Schema.Array(PhoneNumber).check(
    Schema.isMinLength(minimum, { message: "must name at least one number" }),
    Schema.isMaxLength(256, { message: "must name at most 256 numbers" })
  )

const NewGroup = Schema.Struct({ session_id: WhatsAppSessionId, name, description, participants: numbers(1) }).annotate(
  { identifier: "NewWhatsAppGroup" }
)

const GroupChange = Schema.Struct({
  name: Schema.optionalKey(name),
  description,
  add_participants: Schema.optionalKey(numbers(0)),
  remove_participants: Schema.optionalKey(numbers(0))
}).annotate({ identifier: "WhatsAppGroupChange" })

const params = { id: pathId(GroupId) }
const reading = Access.channel(["whatsapp:read"], "groups:read")
const writing = Access.channel(["whatsapp:write"], "groups:write")

const list = HttpApiEndpoint.get("list", "/", {
  query: { ...pageQuery, session_id: Schema.optionalKey(pathId(WhatsAppSessionId)) },
  success: Paged(Group),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List WhatsApp groups",
    description: "The groups of the sessions, newest first."
  }))

const create = HttpApiEndpoint.post("create", "/", {
  payload: NewGroup,
  success: Data(Group).pipe(HttpApiSchema.status(201)),
  error: apiErrors(NotFound, NotGroupAdmin, SessionNotConnected, ServiceUnavailable)
})
  .annotate(WaitsOutside, true)
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Create a WhatsApp group",
    description: "The session's number becomes its admin. Participants without WhatsApp are left out."
  }))

const get = HttpApiEndpoint.get("get", "/:id", { params, success: Data(Group), error: apiErrors(NotFound) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a WhatsApp group",
    description:
      "With its invitation link if WhatsApp shows it to the session: always to admins, to others if the group allows it."
  }))

const change = HttpApiEndpoint.put("change", "/:id", {
  params,
  payload: GroupChange,
  success: Data(Group),
  error: apiErrors(NotFound, NotGroupAdmin, SessionNotConnected, ServiceUnavailable, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Change a WhatsApp group",
    description:
      "Changes the name, then the description, then the participants. WhatsApp makes each change separately, so a refusal "
      + "does not undo the earlier ones. Numbers that WhatsApp does not add or remove are left out: compare the "
      + "participants of the answer."
  }))

/** Endpoints of WhatsApp groups (api: groups). */
export class GroupsApi extends HttpApiGroup.make("whatsappGroups")
  .add(list, create, get, change)
  .prefix("/v1/whatsapp/groups")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "WhatsApp groups", description: "Groups of a paired phone, and their participants." })
  )
{}
