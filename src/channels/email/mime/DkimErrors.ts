import { Schema } from "effect"

/** A private key that cannot sign mail: not readable, not RSA, or too short. It never holds any of the key. */
export class DkimKeyUnusable extends Schema.TaggedError<DkimKeyUnusable>()("DkimKeyUnusable", {
  reason: Schema.String
}) {
  override get message() {
    return `The DKIM key cannot be used: ${this.reason}.`
  }
}

/** A message could not be signed. It must not be sent: unsigned mail fails DMARC and harms the domain. */
export class DkimSigningFailed extends Schema.TaggedError<DkimSigningFailed>()("DkimSigningFailed", {
  domain: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The message could not be signed for ${this.domain}: ${this.reason}.`
  }
}
