import { Context, Effect, type Scope } from "effect"
import type { Readable } from "node:stream"
import type { MediaType } from "../content/media.ts"
import type { ContentOf, WhatsAppContent } from "../content/MessageContent.ts"
import type { Owned } from "../credentials/CredentialsRepo.ts"
import type { Credentials } from "../credentials/CredentialStore.ts"
import type { CloseCause } from "../model/SessionState.ts"
import type { Stanza } from "../wire/Stanza.ts"
import type { DirectorySocket } from "./DirectorySocket.ts"
import type { SocketFailed } from "./SocketErrors.ts"

/** The raw stanzas that messages are made of, before the library folds them into events of its own. */
export type StanzaKind = "ack" | "receipt" | "message" | "group"

/** A group as the library knows it; only what made it reads it. */
export type GroupMetadata = object

/** Somebody, by as many of his names as are known. */
export interface Person {
  /** The hidden number: `…@lid`, without a device. */
  readonly lid: string | undefined
  /** Digits alone. */
  readonly phone: string | undefined
  readonly name: string | undefined
  /** The name is from the phone's address book, and not what he calls himself. */
  readonly isNamed: boolean
}

/** A message as it is kept: a serialised protobuf. What must be stored nowhere is put into its text as it is sent. */
export interface KeptMessage {
  readonly body: Uint8Array
  readonly fillIn?: ((text: string) => string) | undefined
}

/** What the message part knows and learns of one connection. */
export interface SessionTraffic {
  /** Logged in: what was not acknowledged can be sent again. The scope is that of the connection. */
  readonly onOpened: (socket: SessionSocket) => Effect.Effect<void, never, Scope.Scope>
  /** A stanza came in. It must not wait: what takes longer goes into a queue. */
  readonly onStanza: (kind: StanzaKind, stanza: Stanza) => void
  /** The phone, or somebody himself, has told of people. */
  readonly onPeople: (people: ReadonlyArray<Person>) => void
  /** The message that was sent under this id, for a receiver that could not decrypt it. */
  readonly sentMessage: (chat: string, messageId: string) => Effect.Effect<KeptMessage | undefined>
  /** A group that is known already, which saves a question for each message to it. */
  readonly groupMetadata: (chat: string) => Effect.Effect<GroupMetadata | undefined>
}

/** What a connection tells of itself, in this order: codes until it is paired, or open; closed at the end. */
export type SocketEvent =
  /** A code to be scanned, as text. */
  | { readonly _tag: "Code"; readonly text: string }
  /** The phone has signed the credentials, which are stored. */
  | { readonly _tag: "Paired" }
  /** Logged in; the credentials are stored. The number is digits alone. */
  | { readonly _tag: "Opened"; readonly phoneNumber: string }
  | { readonly _tag: "Closed"; readonly cause: CloseCause | "taken"; readonly detail: string }

/** The bytes of a medium on their way, which are not known before they have come. */
export interface OutgoingFile {
  readonly stream: Readable
  readonly mimeType: string
}

/** What a message is made of: a reaction names the message that it is of, a medium brings its bytes along. */
export type Draft =
  | Exclude<WhatsAppContent, { readonly type: MediaType | "reaction" }>
  | { readonly type: "reaction"; readonly emoji: string; readonly of: QuotedMessage }
  | {
    readonly [T in MediaType]: { readonly type: T; readonly content: ContentOf<T>; readonly file: OutgoingFile }
  }[MediaType]

/** A message by which another one can be named at WhatsApp. */
export interface QuotedMessage {
  readonly chat: string
  readonly id: string
  readonly isOwn: boolean
  /** Who wrote it, in a group. */
  readonly author: string | undefined
}

/** A message to a chat, under its name at WhatsApp. */
export interface RelayedMessage extends KeptMessage {
  readonly chat: string
  readonly id: string
}

/** Why a message did not get into the line. */
export interface NotRelayed {
  readonly id: string
  readonly reason: string
}

/** What is sent over a connection that is open. */
export interface SendingSocket {
  /** The chat of a phone number (digits); undefined when nobody has WhatsApp there. */
  readonly chatOf: (number: string) => Effect.Effect<string | undefined, SocketFailed>
  /** Whether there is such a group and the session is in it. */
  readonly isMember: (group: string) => Effect.Effect<boolean, SocketFailed>
  /** The message as it is sent: a serialised protobuf. A medium is uploaded, which can take a while. */
  readonly compose: (draft: Draft) => Effect.Effect<Uint8Array, SocketFailed>
  /**
   * Encrypts for every device of the chats and writes into the line: messages to one chat one after the other, those to
   * different chats side by side. Nothing is sent before the server acknowledges it, and what was written into a line
   * that broke is lost. Answers with those that did not get into the line.
   */
  readonly relay: (messages: ReadonlyArray<RelayedMessage>) => Effect.Effect<ReadonlyArray<NotRelayed>>
}

/** One connection of one session. */
export interface SessionSocket extends SendingSocket, DirectorySocket {
  /** The next thing it tells; credentials that changed before it are durable. After `Closed` there is nothing more. */
  readonly next: Effect.Effect<SocketEvent>
  /** A code to be typed into the phone, on an unpaired connection that has shown a code. Undefined when it has closed. */
  readonly requestPairingCode: (phoneNumber: string) => Effect.Effect<string | undefined>
  /** Removes the device from the phone's list, and closes. */
  readonly logOut: Effect.Effect<void>
}

/** Port: connections to WhatsApp. Each is closed with its scope. */
export class WhatsAppSocket extends Context.Service<WhatsAppSocket, {
  readonly open: (options: {
    readonly credentials: Credentials
    /** With what is stored, or as a new device. */
    readonly isPaired: boolean
    readonly traffic: SessionTraffic
  }) => Effect.Effect<SessionSocket, never, Scope.Scope>
}>()("messaging-service/channels/whatsapp/socket/WhatsAppSocket") {}

/**
 * Port: the message part of sessions. It is attached to each connection before that begins, and detached by the end of
 * the scope. Without one messages are neither sent nor taken.
 */
export const MessageTraffic = Context.Reference<{
  readonly attach: (owned: Owned) => Effect.Effect<SessionTraffic, never, Scope.Scope>
}>("messaging-service/channels/whatsapp/MessageTraffic", {
  defaultValue: () => ({
    attach: () =>
      Effect.succeed({
        onOpened: () => Effect.void,
        onStanza: () => {},
        onPeople: () => {},
        sentMessage: () => Effect.undefined,
        groupMetadata: () => Effect.undefined
      })
  })
})
