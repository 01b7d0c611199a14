/** Runs the command line of users as this process. */
import { Command } from "effect/cli"
import { runProcess } from "../shell/commandLine.ts"
import { api } from "./api.ts"
import { login, logout } from "./connection.ts"
import { domains } from "./domains.ts"
import { logs } from "./logs.ts"
import { otp, send } from "./send.ts"
import { webhooks } from "./webhooks.ts"
import { whatsapp } from "./whatsapp.ts"

const root = Command.make("messaging").pipe(
  Command.withDescription(
    "Send and receive messages. Reads MESSAGING_URL and MESSAGING_API_KEY"
  ),
  Command.withExamples([{ command: "messaging send sms +250788123456 'Your order is ready.'" }]),
  Command.withSubcommands([login, logout, send, logs, whatsapp, domains, webhooks, otp, api])
)

runProcess(root, { forUsers: true })
