import { Layer } from "effect"
import { Templates } from "./Templates.ts"
import { TemplatesHttp } from "./TemplatesHttp.ts"

/** Templates with their endpoints and their service for senders. */
export const TemplatesLayer = TemplatesHttp.pipe(Layer.provideMerge(Templates.layer))
