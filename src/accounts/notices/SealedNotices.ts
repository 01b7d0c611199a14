import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type SealBroken, type SealedColumn, Vault } from "../../platform/crypto/Vault.ts"
import * as Query from "../../platform/database/Query.ts"
import { NoticeId } from "../../values/Ids.ts"
import { type ClaimedNotice, laneOf, type Notice } from "./Notice.ts"

const purpose = (id: NoticeId) => `notices:${id}:body`

/** The column of the sealed texts. */
export const noticeColumn: SealedColumn = {
  table: "notices",
  column: "sealed_body",
  key: [["id", "bigint"]],
  parts: ["id"],
  what: (id) => purpose(NoticeId.make(Number(id)))
}

/** The plain text of a sealed notice, which only a node of an older version sends. */
const standIn = "This mail cannot be shown. Request it again."

/** Notices whose text contains a token. The database has the text only sealed, and only until the mail is sent. */
export class SealedNotices extends Context.Service<SealedNotices, {
  /** Writes a notice in the caller's transaction. */
  readonly enqueue: (notice: Notice) => Effect.Effect<void>
  /** The text of a claimed notice, sealed or not. */
  readonly bodyOf: (claimed: ClaimedNotice) => Effect.Effect<string, SealBroken>
}>()("messaging-service/accounts/notices/SealedNotices") {
  static readonly layer = Layer.effect(
    SealedNotices,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const nextId = Query.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ id: NoticeId }),
        execute: () => sql`select nextval(pg_get_serial_sequence('notices', 'id')) as id`
      })

      const enqueue = Effect.fn("SealedNotices.enqueue")(
        function*({ accountId, body, kind, recipient, subject }: Notice) {
          const { id } = yield* nextId()
          const sealed = vault.seal(purpose(id), Buffer.from(body))
          yield* Query.run(
            sql`insert into notices (id, account_id, lane, kind, recipient, subject, body, sealed_body)
              overriding system value
              values (${id}, ${accountId}, ${laneOf(kind)}, ${kind}, ${recipient ?? null}, ${subject}, ${standIn},
                ${sealed})`
          )
        }
      )

      return SealedNotices.of({
        enqueue,
        bodyOf: ({ body, id, sealed_body }) =>
          sealed_body === null
            ? Effect.succeed(body)
            : Effect.map(vault.open(purpose(id), sealed_body), (plain) => Buffer.from(plain).toString("utf8"))
      })
    })
  )
}
