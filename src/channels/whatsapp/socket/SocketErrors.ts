import { Schema } from "effect"

/** A request got no answer, or a message did not reach the socket. The reason is the library's text. */
export class SocketFailed extends Schema.TaggedError<SocketFailed>()("SocketFailed", { reason: Schema.String }) {
  override get message() {
    return `WhatsApp did not answer: ${this.reason}.`
  }
}

/** WhatsApp refuses the request: the session is not an admin of the group, or not a member. */
export class GroupRefused extends Schema.TaggedError<GroupRefused>()("GroupRefused", {}) {
  override get message() {
    return "WhatsApp does not let this session do that to the group."
  }
}
