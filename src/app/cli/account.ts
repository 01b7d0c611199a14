import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Accounts } from "../../accounts/Accounts.ts"
import { Audit } from "../../accounts/Audit.ts"
import { Notices } from "../../accounts/notices/Notices.ts"
import { ApiKeys } from "../../api-keys/ApiKeys.ts"
import { DatabaseOfMainKey } from "../../platform/crypto/MainKey.ts"
import { DatabaseAddress } from "../../platform/database/Database.ts"
import { EmailAddress } from "../../values/EmailAddress.ts"
import { AccountId } from "../../values/Ids.ts"
import { pluralize } from "../../values/messageText.ts"
import { Plan } from "../../values/Plan.ts"
import { secretLine } from "../shell/secretLine.ts"

/** No account has this id. */
class AccountUnknown extends Schema.TaggedError<AccountUnknown>()("AccountUnknown", { id: Schema.Int }) {
  override get message() {
    return `Account ${this.id} does not exist. List accounts with: account list`
  }
}

/** Works on the database of a running node too. */
const Services = Layer.merge(Accounts.layer, ApiKeys.layer).pipe(
  Layer.provide([Audit.layer, Notices.layer]),
  Layer.provideMerge(DatabaseOfMainKey),
  Layer.provide(DatabaseAddress.layer),
  Layer.provide(NodeServices.layer)
)

const id = Argument.Int("id").pipe(Argument.withDescription("The account's id"), Argument.withSchema(AccountId))

const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one line of JSON only"),
  Flag.withDefault(false)
)

const create = Command.make(
  "create",
  {
    email: Flag.String("email").pipe(Flag.withDescription("The owner's email address"), Flag.withSchema(EmailAddress)),
    name: Flag.String("name").pipe(Flag.withDescription("The owner's name"), Flag.withSchema(Schema.NonEmptyString)),
    plan: Flag.Literals("plan", Plan.literals).pipe(
      Flag.withDescription(`Plan: ${Plan.literals.join(", ")}`),
      Flag.withDefault("business")
    ),
    trial: Flag.Boolean("trial").pipe(Flag.withDescription("Start the 3-day trial"), Flag.withDefault(false)),
    hasPassword: Flag.Boolean("password-stdin").pipe(
      Flag.withDescription("Read a password for logging in from standard input. Without it only the API key works"),
      Flag.withDefault(false)
    ),
    json
  },
  Effect.fnUntraced(function*({ hasPassword, json, ...wanted }) {
    const accounts = yield* Accounts
    const keys = yield* ApiKeys
    const account = yield* accounts.create({
      ...wanted,
      ...(hasPassword && { password: yield* secretLine("password") })
    })
    const { key } = yield* keys.create(account.id, { name: "First key" })
    yield* Console.log(
      json
        ? JSON.stringify({ account_id: account.id, api_key: key })
        : `Account ${account.id} (${account.plan}) is ready. This API key is shown only once:\n${key}`
    )
  }, Effect.provide(Services))
).pipe(Command.withDescription("Create an account with an API key"))

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function*({ json }) {
    const accounts = yield* (yield* Accounts).list
    if (json) return yield* Console.log(JSON.stringify(accounts))
    for (const { email, id, name, plan, status } of accounts) {
      yield* Console.log(`${id}\t${plan}\t${status}\t${email}\t${name}`)
    }
  }, Effect.provide(Services))
).pipe(Command.withDescription("List accounts"))

const plan = Command.make(
  "plan",
  {
    id,
    plan: Argument.Literals("plan", Plan.literals).pipe(Argument.withDescription(Plan.literals.join(", ")))
  },
  Effect.fnUntraced(function*({ id, plan }) {
    const changed = yield* (yield* Accounts).setPlan(id, plan)
    if (Option.isNone(changed)) return yield* new AccountUnknown({ id })
    yield* Console.log(`Account ${id} is on the ${plan} plan.`)
  }, Effect.provide(Services))
).pipe(Command.withDescription("Change an account's plan, which ends its trial"))

const Days = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_650 }))

const retention = Command.make(
  "retention",
  {
    id,
    messages: Flag.Int("messages").pipe(
      Flag.withDescription("Days that messages are kept; MESSAGE_RETENTION_DAYS without it, and at most"),
      Flag.withSchema(Days),
      Flag.optional
    ),
    content: Flag.Int("content").pipe(
      Flag.withDescription("Days that their texts are kept; CONTENT_RETENTION_DAYS without it, and at most"),
      Flag.withSchema(Days),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ content, id, messages }) {
    const days = { messageDays: Option.getOrNull(messages), contentDays: Option.getOrNull(content) }
    if (Option.isNone(yield* (yield* Accounts).setRetention(id, days))) return yield* new AccountUnknown({ id })
    const shown = (kept: number | null) => kept === null ? "as long as for all accounts" : pluralize(kept, "day")
    yield* Console.log(
      `Account ${id} keeps messages ${shown(days.messageDays)}, and their texts ${shown(days.contentDays)}.`
    )
  }, Effect.provide(Services))
).pipe(Command.withDescription("Keep an account's messages for fewer days than other accounts'"))

const key = Command.make(
  "key",
  { id, json },
  Effect.fnUntraced(function*({ id, json }) {
    if (Option.isNone(yield* (yield* Accounts).find(id))) return yield* new AccountUnknown({ id })
    const { key } = yield* (yield* ApiKeys).create(id, { name: "Created on the command line" })
    yield* Console.log(json ? JSON.stringify({ account_id: id, api_key: key }) : key)
  }, Effect.provide(Services))
).pipe(Command.withDescription("Create another API key for an account"))

export const account = Command.make("account").pipe(
  Command.withDescription("Create and change accounts"),
  Command.withSubcommands([create, list, plan, retention, key])
)
