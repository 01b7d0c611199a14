import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { tlsOf } from "../../../src/platform/database/DatabaseUrl.ts"
import { cli } from "../../support/cli.ts"
import { otherSelfSigned, selfSigned } from "../../support/selfSigned.ts"
import { temporaryServer } from "../../support/temporaryServer.ts"
import { eventually } from "../../support/waiting.ts"

const tls = (url: string) => tlsOf(new URL(url))

describe("DATABASE_URL", () => {
  it("requires TLS with a verified certificate unless the server is on this machine", () => {
    for (const host of ["db.example", "10.0.0.3", "[2001:db8::1]", "127.evil.example", "localhost.evil.example"]) {
      assert.deepStrictEqual(tls(`postgres://u:p@${host}/x`), Result.succeed("verified"), host)
      assert.deepStrictEqual(tls(`postgres://u:p@${host}/x?sslmode=disable`), Result.succeed("none"), host)
    }
    for (const host of ["localhost", "127.0.0.1", "[::1]", "%2Fvar%2Frun"]) {
      assert.deepStrictEqual(tls(`postgres://u:p@${host}/x`), Result.succeed("none"), host)
      assert.deepStrictEqual(tls(`postgres://u:p@${host}/x?sslmode=require`), Result.succeed("verified"), host)
    }
    assert.deepStrictEqual(tls("postgres://u@localhost/x?host=/var/run"), Result.succeed("none"))
    assert.deepStrictEqual(tls("postgres://u@localhost/x?host=db.example"), Result.succeed("verified"))
  })

  it("refuses a mode that falls back to no TLS, and parameters that would be ignored", () => {
    for (const mode of ["prefer", "allow", "Require", ""]) {
      const refused = tls(`postgres://u:p@db.example/x?sslmode=${mode}`)
      assert.deepStrictEqual(refused, Result.fail("a URL whose sslmode is disable, require, verify-ca, verify-full"))
    }
    const refused = tls("postgres://u:p@db.example/x?sslmode=require&sslrootcert=ca.pem")
    assert.match(
      String(Result.isFailure(refused) && refused.failure),
      /\(sslrootcert is unknown; .* DATABASE_CA_FILE\)$/
    )
  })

  it.live(
    "encrypts connections to a server with TLS, and refuses another certificate or a server without TLS",
    () =>
      Effect.gen(function*() {
        const { base, port } = yield* temporaryServer()
        const key = Buffer.alloc(32, 1).toString("base64")
        const at = (host: string) => `postgres://postgres@${host}:${port}/postgres`
        const migrate = (settings: Readonly<Record<string, string>>) =>
          Effect.map(
            cli(["migrate"], { ENCRYPTION_KEY: key, DATABASE_WAIT_SECONDS: "0", ...settings }),
            ({ code, stderr }) => ({ code, stderr })
          )
        // Linux connects 0.0.0.0 to this machine, which the service cannot know.
        const plain = yield* migrate({ DATABASE_URL: at("0.0.0.0") })
        assert.strictEqual(plain.code, 1)
        assert.include(plain.stderr, "The server does not support TLS")
        assert.strictEqual((yield* migrate({ DATABASE_URL: `${at("0.0.0.0")}?sslmode=disable` })).code, 0)

        const files = NodePath.join(base, "pg18")
        const { gid, uid } = NodeFs.statSync(files)
        for (const [name, text] of Object.entries({ "server.key": selfSigned.key, "server.crt": selfSigned.cert })) {
          NodeFs.writeFileSync(NodePath.join(files, name), text, { mode: 0o600 })
          NodeFs.chownSync(NodePath.join(files, name), uid, gid)
        }
        const [ca, other] = [NodePath.join(base, "ca.pem"), NodePath.join(base, "other.pem")]
        NodeFs.writeFileSync(ca, selfSigned.cert)
        NodeFs.writeFileSync(other, otherSelfSigned.cert)
        yield* Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* sql.unsafe("alter system set ssl = on")
          yield* sql`select pg_reload_conf()`
          yield* eventually(sql`show ssl`, ([row]) => row?.["ssl"] === "on")
        }).pipe(Effect.provide(PgClient.layer({ host: "127.0.0.1", port, username: "postgres" })))

        const url = `${at("localhost")}?sslmode=require`
        const doctor = (settings: Readonly<Record<string, string>>) =>
          Effect.map(
            cli(["doctor"], { ENCRYPTION_KEY: key, DATABASE_WAIT_SECONDS: "0", ...settings }),
            ({ stdout }) => stdout.split("\n").find((line) => line.includes(" database: "))
          )
        assert.match(
          String(yield* doctor({ DATABASE_URL: url, DATABASE_CA_FILE: ca })),
          /^ok {4}database: .*; the connection is encrypted \(TLSv1\.\d\)$/
        )
        assert.match(String(yield* doctor({ DATABASE_URL: url })), /^FAIL {2}database: .*self-signed certificate/)
        assert.match(
          String(yield* doctor({ DATABASE_URL: url, DATABASE_CA_FILE: other })),
          /^FAIL {2}database: .*certificate/
        )
        assert.match(
          String(yield* doctor({ DATABASE_URL: url, DATABASE_CA_FILE: "/nowhere.pem" })),
          /^FAIL {2}database: DATABASE_CA_FILE must be a file that this account can read \(NotFound\)/
        )
        assert.match(
          String(yield* doctor({ DATABASE_URL: `${at("0.0.0.0")}?sslmode=disable` })),
          /^WARN {2}database: .*; the connection is not encrypted$/
        )
      })
  )
})
