import { HttpApi, OpenApi } from "effect/http-api"
import { openApiHeaders } from "./openApiHeaders.ts"
import { openApiTransform } from "./openApiTransform.ts"

/**
 * The API without its endpoints. `api/Api.ts` adds every group; handlers add their own group alone, so that no handler
 * imports the whole contract. A request that does not fit is told all that is wrong with it.
 */
export const baseContract = HttpApi.make("messaging")
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(OpenApi.Transform, (document) => Object(openApiHeaders(openApiTransform(document))))
