import { Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { pluralize } from "../../values/messageText.ts"
import { call, client, json, print } from "./connection.ts"

const domain = Argument.String("domain").pipe(Argument.withDescription("Such as mail.example.com"))

interface DnsRecord {
  readonly type: string
  readonly name: string
  readonly value: string
}

const recordLine = ({ name, type, value }: DnsRecord) => `  ${type}\t${name}\t${value}`

const add = Command.make(
  "add",
  { domain, json },
  Effect.fnUntraced(function*({ domain, json }) {
    const { email } = yield* client
    const added = yield* call(() => email.domains.create({ domain }))
    yield* print(
      json,
      added,
      `${added.domain} is ${added.status}. Publish these DNS records:`,
      ...added.dns_records.map(recordLine),
      `Then run: messaging domains verify ${added.domain}`
    )
  })
).pipe(
  Command.withDescription("Add a sending domain, and print its DNS records"),
  Command.withExamples([{ command: "messaging domains add mail.example.com" }])
)

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function*({ json }) {
    const { email } = yield* client
    for (const each of yield* call(() => email.domains.list())) {
      yield* print(json, each, [`${each.id}\t${each.status}\t${each.domain}`, ...each.warnings].join("\n\t"))
    }
  })
).pipe(
  Command.withDescription("List the sending domains"),
  Command.withExamples([{ command: "messaging domains list" }])
)

/** The account has not added it. */
class DomainUnknown extends Schema.TaggedError<DomainUnknown>()("DomainUnknown", { domain: Schema.String }) {
  override get message() {
    return `This account has no domain ${this.domain}. Run: messaging domains add ${this.domain}`
  }
}

/** A script must not send yet. */
class DomainPending extends Schema.TaggedError<DomainPending>()("DomainPending", {
  domain: Schema.String,
  open: Schema.Int
}) {
  override get message() {
    return `${this.domain} is not verified yet: ${
      pluralize(this.open, "record")
    } to repair. New records can take minutes.`
  }
}

const verify = Command.make(
  "verify",
  { domain, json },
  Effect.fnUntraced(function*({ domain, json }) {
    const { email } = yield* client
    const known = yield* call(() => email.domains.list())
    // The service stores names in their ASCII form, without the dot at the end.
    const name = (URL.parse(`http://${domain}`)?.hostname ?? domain).replace(/\.$/, "")
    const found = known.find((each) => each.domain === name || String(each.id) === domain)
    if (found === undefined) return yield* new DomainUnknown({ domain })
    const checked = yield* call(() => email.domains.verify(found.id))
    yield* print(
      json,
      checked,
      `${checked.domain} is ${checked.status}.`,
      ...checked.dns_records.flatMap((record) => [`${record.status}: ${record.detail}`, recordLine(record)])
    )
    const open = checked.dns_records.filter(({ status }) => status !== "verified").length
    return checked.status === "pending" ? yield* new DomainPending({ domain: checked.domain, open }) : undefined
  })
).pipe(
  Command.withDescription("Check a domain's DNS records; exit code 1 while it is pending"),
  Command.withExamples([{ command: "messaging domains verify mail.example.com" }])
)

export const domains = Command.make("domains").pipe(
  Command.withDescription("Add and verify sending domains"),
  Command.withExamples([{ command: "messaging domains add mail.example.com" }]),
  Command.withSubcommands([add, verify, list])
)
