import { Cause, Context, Effect, Layer, Option } from "effect"
import { Database } from "../../../platform/database/Database.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { GroupChange } from "../socket/DirectorySocket.ts"
import { requestTimeout } from "../socket/DirectorySocket.ts"
import { DirectoryEntity, type NotDone } from "./DirectoryEntity.ts"

/** Requests to WhatsApp on behalf of HTTP requests. Each is answered within a timeout, or as unavailable. */
export class Directory extends Context.Service<Directory, {
  readonly check: (
    id: WhatsAppSessionId,
    number: string
  ) => Effect.Effect<{ readonly _tag: "Checked"; readonly whatsapp_id: string | null } | NotDone>
  readonly createGroup: (
    id: WhatsAppSessionId,
    group: { readonly name: string; readonly description: string | null; readonly numbers: ReadonlyArray<string> }
  ) => Effect.Effect<{ readonly _tag: "Created"; readonly id: number } | NotDone>
  readonly changeGroup: (
    id: WhatsAppSessionId,
    jid: string,
    changes: ReadonlyArray<GroupChange>
  ) => Effect.Effect<{ readonly _tag: "Changed" } | NotDone>
  readonly inviteCode: (
    id: WhatsAppSessionId,
    jid: string
  ) => Effect.Effect<{ readonly _tag: "Code"; readonly code: string | null } | NotDone>
}>()("messaging-service/channels/whatsapp/directory/Directory") {
  static readonly layer = Layer.effect(
    Directory,
    Effect.gen(function*() {
      const actor = yield* DirectoryEntity.client
      const { waitWithoutConnection } = yield* Database

      const unavailable = (): NotDone => ({ _tag: "Unavailable" })

      /** The cluster interrupts the callers of an actor that moves to another node, and refuses requests until it runs. */
      const whileMoving = <A, E>(request: Effect.Effect<A | NotDone, E>) =>
        request.pipe(
          Effect.orElseSucceed(unavailable),
          Effect.catchCauseIf(Cause.hasInterruptsOnly, () => Effect.sync(unavailable))
        )

      const withTimeout = <A, E>(request: Effect.Effect<A | NotDone, E>) =>
        waitWithoutConnection(Effect.timeoutOption(whileMoving(request), requestTimeout)).pipe(
          Effect.map(Option.getOrElse((): A | NotDone => unavailable()))
        )

      return Directory.of({
        check: (id, number) => withTimeout(actor(String(id)).Check({ number })),
        createGroup: (id, group) => withTimeout(actor(String(id)).CreateGroup(group)),
        changeGroup: (id, jid, changes) => withTimeout(actor(String(id)).ChangeGroup({ jid, changes })),
        inviteCode: (id, jid) => withTimeout(actor(String(id)).Invite({ jid }))
      })
    })
  )
}
