import { Context } from "effect"

const MiB = 1024 * 1024

/** The largest body of an endpoint in bytes. Endpoints that take mail or media are annotated with {@link large}. */
export const BodyLimit = Context.Reference<number>("messaging-service/platform/http/BodyLimit", {
  defaultValue: () => MiB
})

/** For `/send` and `/send-bulk`: 500 recipients with their variables, or attachments. */
export const large = 10 * MiB
