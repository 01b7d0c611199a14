import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules, WaitsOutside } from "../platform/http/RequestRules.ts"
import { RegistrableDomainName } from "../values/DomainName.ts"
import { EmailDomainId, pathId } from "../values/Ids.ts"
import { Data, Done, Nothing } from "../values/Page.ts"
import {
  AddedDomain,
  CheckedDomain,
  DomainAlreadyExists,
  DomainChange,
  EmailDomain,
  KeyMakerBusy
} from "./EmailDomain.ts"

const NewDomain = Schema.Struct({
  domain: RegistrableDomainName.annotate({
    description: "A domain that you own, such as example.com. Letters beyond ASCII are stored as A-labels"
  })
}).annotate({ identifier: "NewEmailDomain" })

const params = { id: pathId(EmailDomainId) }
const reading = Access.channel(["email:write"], "domains:read")
const writing = Access.channel(["email:write"], "domains:write")

const list = HttpApiEndpoint.get("list", "/", { success: Data(Schema.Array(EmailDomain)) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List sending domains",
    description: "All domains of the account, newest first, with the records to publish."
  }))

const add = HttpApiEndpoint.post("add", "/", {
  payload: NewDomain,
  success: Done(AddedDomain).pipe(HttpApiSchema.status(201)),
  error: apiErrors(ValidationFailed, DomainAlreadyExists, PlanLimitExceeded, KeyMakerBusy)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Add a sending domain",
    description:
      "Generates a DKIM key and returns the four DNS records to publish. The domain is pending until DKIM and SPF are found. A sub-domain needs a separate entry."
  }))

const get = HttpApiEndpoint.get("get", "/:id", { params, success: Data(EmailDomain), error: apiErrors(NotFound) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a sending domain",
    description: "Includes the records to publish and the warnings of the last check."
  }))

const update = HttpApiEndpoint.put("update", "/:id", {
  params,
  payload: DomainChange,
  success: Data(EmailDomain),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Change a sending domain",
    description:
      "Turns open and click tracking on or off for mail accepted afterwards. Both are off by default. Absent fields keep their value."
  }))

const verify = HttpApiEndpoint.post("verify", "/:id/verify", {
  params,
  success: Done(CheckedDomain),
  error: apiErrors(NotFound)
})
  .annotate(WaitsOutside, true)
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Check a sending domain",
    description:
      "Looks the records up and returns for each what was found and what to do. The status is 200 even if the domain stays pending. New records can take minutes to become visible. Repeated requests within ten seconds return the same check."
  }))

const remove = HttpApiEndpoint.delete("remove", "/:id", { params, success: Nothing, error: apiErrors(NotFound) })
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a sending domain",
    description: "Deletes its key too. Batches from it that have not started fail. Adding it again creates a new key."
  }))

/** Sending domains (spec 4.4). */
export class EmailDomainsApi extends HttpApiGroup.make("emailDomains")
  .add(list, add, get, update, verify, remove)
  .prefix("/v1/email/domains")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Email domains",
      description: "Domains that mail may come from, and their DNS records."
    })
  )
{}
