import { Effect } from "effect"
import SMTPConnection from "nodemailer/lib/smtp-connection"

/** A mail server's answer to one mail. */
export interface MailAnswer {
  readonly code: number
  readonly text: string
  /** Its answer to EHLO. */
  readonly ehlo: string
}

const codeOf = (response: string) => Number(response.slice(0, 3))

/** Delivers one mail to a local port as another mail server would, with the null sender. */
export const deliverMail = (port: number, to: string | ReadonlyArray<string>, raw: Uint8Array) =>
  deliverFrom(port, { from: "", to }, raw)

/** Delivers one mail with a sender, optionally over STARTTLS with any certificate, as mail servers do. */
export const deliverFrom = (
  port: number,
  { from, to, tls = false }: {
    readonly from: string
    readonly to: string | ReadonlyArray<string>
    readonly tls?: boolean
  },
  raw: Uint8Array
): Effect.Effect<MailAnswer> =>
  Effect.callback((resume) => {
    const connection = new SMTPConnection({
      host: "127.0.0.1",
      port,
      ignoreTLS: !tls,
      requireTLS: tls,
      tls: { rejectUnauthorized: false }
    })
    let ehlo = ""
    const end = (response: string) => {
      connection.close()
      resume(Effect.succeed({ code: codeOf(response), text: response, ehlo }))
    }
    connection.on("error", (error: Error & { readonly response?: string }) =>
      end(error.response ?? `000 ${error.message}`))
    connection.connect(() => {
      ehlo = String(connection.lastServerResponse)
      connection.send({ from, to: typeof to === "string" ? to : [...to] }, Buffer.from(raw), (error, info) =>
        end(
          error ? (error as { readonly response?: string }).response ?? `000 ${error.message}` : info?.response ?? ""
        ))
    })
    return Effect.sync(() =>
      connection.close()
    )
  })
