import { HttpApi, OpenApi } from "effect/http-api"
import { openApiDocument } from "./openApi.ts"

/**
 * The API without endpoints. `api/Api.ts` adds every group; a handler file adds only its own group, so that no handler
 * imports the whole contract. A bad request gets all its violations in one answer.
 */
export const baseContract = HttpApi.make("messaging")
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(OpenApi.Transform, openApiDocument)
