import { StringDecoder } from "node:string_decoder"

/** RFC 5321 4.5.3.1.5 allows a line of 512 bytes; what never comes to an end must not fill the memory. */
const longest = 64 * 1024

/** Another line of the same reply follows (RFC 5321 4.2.1). */
const goesOn = /^\d{3}-/

/** Puts the replies of a relay together from the pieces in which they arrive. */
export class SmtpReplies {
  readonly #decoder = new StringDecoder("utf8")
  /** The lines of a reply whose last one has not come yet. */
  #lines = ""
  #line = ""

  /** What has come of a reply that is not whole. */
  get rest(): string {
    return this.#lines + this.#line
  }

  /** The replies that are whole now, their lines separated by LF. Undefined when one would be longer than 64 kB. */
  take(chunk: Buffer): ReadonlyArray<string> | undefined {
    const lines = (this.#line + this.#decoder.write(chunk)).split(/\r?\n/)
    this.#line = lines.pop() ?? ""
    const replies: Array<string> = []
    for (const line of lines) {
      if (goesOn.test(line)) this.#lines += `${line}\n`
      else if (this.#lines !== "" || line.trim() !== "") {
        replies.push(this.#lines + line)
        this.#lines = ""
      }
    }
    return this.rest.length > longest ? undefined : replies
  }
}
