import { Messages } from "./Messages.ts"

/** What is told of messages, for the channels. */
export const MessagesLayer = Messages.layer
