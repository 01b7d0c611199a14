import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Option, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { People } from "../../people/People.ts"
import { setupLinkOf, SetupLinks } from "../../people/SetupLinks.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { publicBase } from "../../platform/http/PublicUrl.ts"
import { EmailAddress } from "../../values/EmailAddress.ts"

/** No account has this address. */
class PersonUnknown extends Schema.TaggedError<PersonUnknown>()("PersonUnknown", { email: Schema.String }) {
  override get message() {
    return `No account has the address ${this.email}. List accounts with: account list`
  }
}

/** The installation has its operator: a link would let a second one in without a password. */
class OperatorExists extends Schema.TaggedError<OperatorExists>()("OperatorExists", {}) {
  override get message() {
    return "This installation has an operator. To add another one, run: npm run cli -- console operator EMAIL"
  }
}

/** Works on the database of a running node too. */
const Services = Layer.merge(People.layer, SetupLinks.layer).pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide(DatabaseAddress.layer),
  Layer.provide(NodeServices.layer)
)

const setupLink = Command.make(
  "setup-link",
  {},
  Effect.fnUntraced(function*() {
    if (yield* (yield* People).hasOperator) return yield* new OperatorExists()
    const config = yield* AppConfig
    const base = publicBase(config) || `http://${config.host}:${config.port}`
    yield* Console.log(setupLinkOf(base, yield* (yield* SetupLinks).make))
  }, Effect.provide(Services))
).pipe(Command.withDescription("Print a link with which the first operator signs in. It works once, within 24 hours"))

const operator = Command.make(
  "operator",
  {
    email: Argument.String("email").pipe(
      Argument.withDescription("The address of the owner of an account"),
      Argument.withSchema(EmailAddress)
    )
  },
  Effect.fnUntraced(function*({ email }) {
    const people = yield* People
    const person = yield* people.byEmail(email)
    if (Option.isNone(person)) return yield* new PersonUnknown({ email })
    yield* people.makeOperator(person.value)
    yield* Console.log(`${email} is an operator of this installation.`)
  }, Effect.provide(Services))
).pipe(Command.withDescription("Make the owner of an account an operator"))

export const consoleAccess = Command.make("console").pipe(
  Command.withDescription("Let people into the console"),
  Command.withSubcommands([setupLink, operator])
)
