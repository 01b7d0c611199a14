import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"

export class SenderNotVerified extends Schema.TaggedError<SenderNotVerified>()(
  "SenderNotVerified",
  { param: Schema.String, domain: Schema.String },
  wire(422, "invalid_from_domain", 4221)
) {
  override get message() {
    return `The domain ${this.domain} is not one of your verified domains. Verify it, or leave out "from" to use the default sender.`
  }
}

export class DomainAlreadyExists extends Schema.TaggedError<DomainAlreadyExists>()(
  "DomainAlreadyExists",
  { domain: Schema.String },
  wire(409, "domain_already_exists", 4092)
) {
  override get message() {
    return `Your account already has the domain ${this.domain}. List your domains to see its records, or delete it to get a new key.`
  }
}
