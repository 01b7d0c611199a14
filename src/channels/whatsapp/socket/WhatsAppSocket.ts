import { Context, type Effect, type Scope } from "effect"
import type { Readable } from "node:stream"
import type { AccountId } from "../../../values/Ids.ts"
import type { MediaType } from "../content/media.ts"
import type { ContentOf, WhatsAppContent } from "../content/MessageContent.ts"
import type { Credentials } from "../credentials/CredentialStore.ts"
import type { CloseCause } from "../model/SessionState.ts"
import type { Stanza } from "../wire/Stanza.ts"
import type { DirectorySocket } from "./DirectorySocket.ts"
import type { SocketFailed } from "./SocketErrors.ts"

/** Raw stanzas about messages, before the library turns them into its own events. */
export type StanzaKind = "ack" | "receipt" | "message" | "group"

/** A group in the library's own form, which only the adapter reads. */
export type GroupMetadata = object

/** A person, by the identifiers and names that are known. */
export interface Person {
  /** The hidden number: `…@lid`, without a device. */
  readonly lid: string | undefined
  /** Digits only. */
  readonly phone: string | undefined
  readonly name: string | undefined
  /** The name is from the phone's address book, not chosen by the person. */
  readonly isNamed: boolean
}

/** A stored message: a serialised protobuf. `fillIn` adds text that must not be stored, right before sending. */
export interface KeptMessage {
  readonly body: Uint8Array
  readonly fillIn?: ((text: string) => string) | undefined
}

/** The handlers of one connection's messages. */
export interface SessionTraffic {
  /** The session has logged in, so unacknowledged messages can be sent again. The scope is the connection's. */
  readonly onOpened: (socket: SessionSocket) => Effect.Effect<void, never, Scope.Scope>
  /** Receives a stanza. It must not block: slow work goes into a queue. */
  readonly onStanza: (kind: StanzaKind, stanza: Stanza) => void
  /** The phone, or a person's own profile, has named people. */
  readonly onPeople: (people: ReadonlyArray<Person>) => void
  /** The message that was sent under this id, for a receiver that could not decrypt it. */
  readonly sentMessage: (chat: string, messageId: string) => Effect.Effect<KeptMessage | undefined>
  /** A stored group, which saves one request for each message to it. */
  readonly groupMetadata: (chat: string) => Effect.Effect<GroupMetadata | undefined>
}

/** Events of a connection, in this order: codes until it is paired, or open, and closed at the end. */
export type SocketEvent =
  /** The text of a code to scan. */
  | { readonly _tag: "Code"; readonly text: string }
  /** The phone has signed the credentials, and they are stored. */
  | { readonly _tag: "Paired" }
  /** Logged in, and the credentials are stored. The number is digits only. */
  | { readonly _tag: "Opened"; readonly phoneNumber: string }
  | { readonly _tag: "Closed"; readonly cause: CloseCause | "ownership_lost"; readonly detail: string }

/** The bytes of a file, as a stream of unknown length. */
export interface OutgoingFile {
  readonly stream: Readable
  readonly mimeType: string
}

/** The parts of a message: a reaction names its message, and a medium brings its file. */
export type Draft =
  | Exclude<WhatsAppContent, { readonly type: MediaType | "reaction" }>
  | { readonly type: "reaction"; readonly emoji: string; readonly of: QuotedMessage }
  | {
    readonly [T in MediaType]: { readonly type: T; readonly content: ContentOf<T>; readonly file: OutgoingFile }
  }[MediaType]

/** The identity of a message at WhatsApp, for a message that refers to it. */
export interface QuotedMessage {
  readonly chat: string
  readonly id: string
  readonly isOwn: boolean
  /** The sender, in a group. */
  readonly author: string | undefined
}

/** A message to a chat, with its id at WhatsApp. */
export interface RelayedMessage extends KeptMessage {
  readonly chat: string
  readonly id: string
}

/** Why a message was not written to the socket. */
export interface NotRelayed {
  readonly id: string
  readonly reason: string
}

/** Sending over an open connection. */
export interface SendingSocket {
  /** False once the connection is closed or closing: its failures say nothing about a message. */
  readonly isOpen: () => boolean
  /** The chat of a phone number (digits). Undefined if the number has no WhatsApp. */
  readonly chatOf: (number: string) => Effect.Effect<string | undefined, SocketFailed>
  /** Whether the group exists and the session is a member. */
  readonly isMember: (group: string) => Effect.Effect<boolean, SocketFailed>
  /** Serialises a message as a protobuf. It uploads the file of a medium first, which can take a while. */
  readonly compose: (draft: Draft) => Effect.Effect<Uint8Array, SocketFailed>
  /**
   * Encrypts for every device of the chats and writes to the socket: messages to one chat in order, different chats
   * concurrently. A message counts as sent only when the server acknowledges it, and a broken connection loses what was
   * written. Answers with the messages that it could not write. It asks `isHeld` right before each message, and writes
   * none while this is false.
   */
  readonly relay: (
    messages: ReadonlyArray<RelayedMessage>,
    isHeld: () => boolean
  ) => Effect.Effect<ReadonlyArray<NotRelayed>>
}

/** One connection of one session. */
export interface SessionSocket extends SendingSocket, DirectorySocket {
  /** The next event. Credentials that changed before it are durable. Nothing follows `Closed`. */
  readonly next: Effect.Effect<SocketEvent>
  /** A code to type into the phone, on an unpaired connection that has shown a code. Undefined once it is closed. */
  readonly requestPairingCode: (phoneNumber: string) => Effect.Effect<string | undefined>
  /** Removes the device from the phone's list and closes the connection. */
  readonly logOut: Effect.Effect<void>
}

/** Port: opens connections to WhatsApp. Each closes with its scope. */
export class WhatsAppSocket extends Context.Service<WhatsAppSocket, {
  readonly open: (options: {
    /** Whose session it is: it decides between WhatsApp and the sandbox. */
    readonly account: AccountId
    readonly credentials: Credentials
    /** Logs in with the stored credentials; otherwise it registers a new device. */
    readonly isPaired: boolean
    readonly traffic: SessionTraffic
  }) => Effect.Effect<SessionSocket, never, Scope.Scope>
}>()("messaging-service/channels/whatsapp/socket/WhatsAppSocket") {}
