import { Schema } from "effect"

/** A question that was not answered, or a message that did not get into the line. Nothing is known of the reason. */
export class SocketFailed extends Schema.TaggedError<SocketFailed>()("SocketFailed", { reason: Schema.String }) {
  override get message() {
    return `WhatsApp did not answer: ${this.reason}.`
  }
}
