import { Layer } from "effect"
import { Templates } from "./Templates.ts"
import { TemplatesHttp } from "./TemplatesHttp.ts"

/** Templates with their endpoints, and what senders read them by. */
export const TemplatesLayer = TemplatesHttp.pipe(Layer.provideMerge(Templates.layer))
