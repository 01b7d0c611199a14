import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { pluralize } from "../../values/messageText.ts"
import { call, client, json, print } from "./connection.ts"

const to = Argument.String("to").pipe(Argument.withDescription("The recipient's address, or number with country code"))

const text = Argument.String("text").pipe(Argument.withDescription("The message"))

const optionalText = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** Sent twice with the same one, a message goes out once. */
const key = optionalText("idempotency-key", "Repeated with the same key, it goes out once")

const optionsOf = (key: Option.Option<string>) => ({ idempotencyKey: Option.getOrUndefined(key) })

const email = Command.make(
  "email",
  {
    to,
    subject: optionalText("subject", "The subject; a template has its own"),
    text: optionalText("text", "The text"),
    html: optionalText("html", "The HTML"),
    template: optionalText("template", "A stored template instead of text and HTML"),
    from: optionalText("from", "An address of a verified domain"),
    key,
    json
  },
  Effect.fnUntraced(function*({ from, html, json, key, subject, template, text, to }) {
    const { email } = yield* client
    const mail = {
      to,
      subject: Option.getOrUndefined(subject),
      text: Option.getOrUndefined(text),
      html: Option.getOrUndefined(html),
      template_id: Option.getOrUndefined(template),
      from: Option.getOrUndefined(from)
    }
    const sent = yield* call(() => email.send(mail, optionsOf(key)))
    yield* print(json, sent, `Email ${sent.id} to ${to} is ${sent.status}.`, ...sent.warnings)
  })
).pipe(
  Command.withDescription("Send an email"),
  Command.withExamples([{ command: "messaging send email ada@example.com --subject Receipt --text 'Thank you.'" }])
)

const sms = Command.make(
  "sms",
  { to, text, from: optionalText("from", "The sender: a name, a number or a short code"), key, json },
  Effect.fnUntraced(function*({ from, json, key, text, to }) {
    const { sms } = yield* client
    const message = { to, content: text, sender_id: Option.getOrUndefined(from) }
    const sent = yield* call(() => sms.send(message, optionsOf(key)))
    const price = `${pluralize(sent.segments, "segment")}, ${sent.cost_usd} USD`
    yield* print(json, sent, `SMS ${sent.id} to ${sent.to} is ${sent.status}: ${price}.`)
  })
).pipe(
  Command.withDescription("Send an SMS, which costs what its segments cost"),
  Command.withExamples([{ command: "messaging send sms +250788123456 'Your order is ready.'" }])
)

/** The command needs one connected session, or has to be told which. */
class SessionUnclear extends Schema.TaggedError<SessionUnclear>()("SessionUnclear", {
  ids: Schema.Array(Schema.Int)
}) {
  override get message() {
    return this.ids.length === 0
      ? "No WhatsApp session is connected. Run: messaging whatsapp pair"
      : `Several sessions are connected. Choose one with --session: ${this.ids.join(", ")}`
  }
}

const types = ["text", "image", "video", "audio", "document", "location"] as const

const whatsapp = Command.make(
  "whatsapp",
  {
    to,
    text: Argument.String("content").pipe(
      Argument.withDescription("The text, the URL of a file, or latitude,longitude")
    ),
    type: Flag.Literals("type", types).pipe(Flag.withDescription(types.join(", ")), Flag.withDefault("text")),
    session: Flag.Int("session").pipe(
      Flag.withDescription("Default: the only connected session"),
      Flag.optional
    ),
    key,
    json
  },
  Effect.fnUntraced(function*({ json, key, session, text, to, type }) {
    const { whatsapp } = yield* client
    const only = Effect.gen(function*() {
      const { data } = yield* call(() => whatsapp.sessions.list({ status: "connected" }))
      const [first, ...others] = data.map(({ id }) => id)
      return first === undefined || others.length > 0
        ? yield* new SessionUnclear({ ids: data.map(({ id }) => id) })
        : first
    })
    const session_id = yield* Option.match(session, { onNone: () => only, onSome: Effect.succeed })
    const sent = yield* call(() => whatsapp.send({ session_id, to, type, content: text }, optionsOf(key)))
    yield* print(json, sent, `WhatsApp message ${sent.id} to ${sent.to} is ${sent.status}.`)
  })
).pipe(
  Command.withDescription("Send a WhatsApp message from a paired phone"),
  Command.withExamples([{ command: "messaging send whatsapp +250788123456 'Your table is ready.'" }])
)

export const send = Command.make("send").pipe(
  Command.withDescription("Send one message"),
  Command.withExamples([{ command: "messaging send sms +250788123456 'Your order is ready.'" }]),
  Command.withSubcommands([email, sms, whatsapp])
)

const channels = ["sms", "whatsapp", "email", "auto"] as const

const sendCode = Command.make(
  "send",
  {
    to,
    channel: Flag.Literals("channel", channels).pipe(
      Flag.withDescription(`${channels.join(", ")}. Default: auto`),
      Flag.withDefault("auto")
    ),
    json
  },
  Effect.fnUntraced(function*({ channel, json, to }) {
    const { verify } = yield* client
    const sent = yield* call(() => verify.send({ to, channel }))
    const next = `Check it: messaging otp check ${sent.to} CODE`
    yield* print(
      json,
      sent,
      `A code goes to ${sent.to} by ${sent.channel}, and is valid until ${sent.expires_at}.`,
      next
    )
  })
).pipe(
  Command.withDescription("Send a one-time code"),
  Command.withExamples([{ command: "messaging otp send +250788123456 --channel sms" }])
)

/** The code is wrong, so a script must not go on. */
class CodeWrong extends Schema.TaggedError<CodeWrong>()("CodeWrong", { left: Schema.Int }) {
  override get message() {
    return `The code is wrong. ${pluralize(this.left, "attempt")} left.`
  }
}

const checkCode = Command.make(
  "check",
  { to, code: Argument.String("code").pipe(Argument.withDescription("The code that the person has typed")), json },
  Effect.fnUntraced(function*({ code, json, to }) {
    const { verify } = yield* client
    const checked = yield* call(() => verify.check({ to, code }))
    if (checked.valid) return yield* print(json, checked, `The code is right: ${to} is confirmed.`)
    if (json) yield* print(json, checked)
    return yield* new CodeWrong({ left: checked.attempts_remaining })
  })
).pipe(
  Command.withDescription("Check a one-time code; exit code 1 if it is wrong"),
  Command.withExamples([{ command: "messaging otp check +250788123456 123456" }])
)

export const otp = Command.make("otp").pipe(
  Command.withDescription("Send and check one-time codes"),
  Command.withExamples([{ command: "messaging otp send +250788123456" }]),
  Command.withSubcommands([sendCode, checkCode])
)
