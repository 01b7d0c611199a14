/**
 * Endpoints with a schema, on the library's server and its client of PostgreSQL, without anything around them: the liveness
 * check, and a new template with the two statements that Fastify has.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { createHash, randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { inputOf } from "./script.ts"

const { socket } = inputOf<{ readonly socket: string }>()

class Health extends HttpApiGroup.make("health")
  .add(HttpApiEndpoint.get("live", "/health/live", { success: Schema.Struct({ status: Schema.String }) }))
{}

const text = (maxLength: number) => Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(maxLength))

const Template = Schema.Struct({
  id: Schema.String,
  numeric_id: Schema.Finite,
  name: Schema.String,
  subject: Schema.String,
  html: Schema.String,
  text: Schema.NullOr(Schema.String),
  variables: Schema.Array(Schema.String),
  created_at: Schema.Date,
  updated_at: Schema.Date
})

class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {}, { httpApiStatus: 401 }) {}

class Templates extends HttpApiGroup.make("templates")
  .add(HttpApiEndpoint.post("create", "/v1/email/templates", {
    payload: Schema.Struct({ name: text(200), subject: text(500), html: text(1_000_000) }),
    success: Schema.Struct({ data: Template }).pipe(HttpApiSchema.status(201)),
    error: Unauthorized
  }))
{}

class Api extends HttpApi.make("bare").add(Health, Templates) {}

const HealthLive = HttpApiBuilder.group(
  Api,
  "health",
  (handlers) => handlers.handle("live", () => Effect.succeed({ status: "ok" }))
)

const TemplatesLive = HttpApiBuilder.group(
  Api,
  "templates",
  Effect.fnUntraced(function*(handlers) {
    const sql = yield* SqlClient.SqlClient
    return handlers.handle("create", ({ payload: { html, name, subject }, request }) =>
      Effect.gen(function*() {
        const token = request.headers["authorization"]?.slice("Bearer ".length) ?? ""
        const hash = createHash("sha256").update(token).digest()
        const [caller] = yield* sql`
          select k.id as key_id, a.id as account_id, k.scopes, k.permissions, a.plan, a.trial_ends_at
          from api_keys k join accounts a on a.id = k.account_id
          where k.key_hash = ${hash} and (k.expires_at is null or k.expires_at > now())`
        if (caller === undefined) return yield* new Unauthorized()
        const variables = [
          ...new Set([...`${subject} ${html}`.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, found = ""]) => found))
        ]
        const [row] = yield* sql<typeof Template.Type>`
          insert into email_templates (id, account_id, name, subject, html, text, variables)
          values (${`tmpl_${randomUUID()}`}, ${caller["account_id"]}, ${name}, ${subject}, ${html}, null, ${variables})
          returning id, numeric_id, name, subject, html, text, variables, created_at, updated_at`
        return row === undefined
          ? yield* Effect.die("no row")
          : { data: { ...row, numeric_id: Number(row.numeric_id) } }
      }).pipe(Effect.catchTag("SqlError", Effect.die)))
  })
)

const Hello = Layer.effectDiscard(Effect.map(HttpServer.HttpServer, ({ address }) => {
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  console.log(JSON.stringify({ port, pid: process.pid }))
}))

const Server = HttpRouter.serve(HttpApiBuilder.layer(Api).pipe(Layer.provide([HealthLive, TemplatesLive])), {
  disableLogger: true,
  disableListenLog: true
})

NodeRuntime.runMain(Layer.launch(
  Layer.merge(Server, Hello).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 })),
    Layer.provide(PgClient.layer({ path: socket, username: "postgres", maxConnections: 10 })),
    Layer.provide(NodeServices.layer)
  )
))
