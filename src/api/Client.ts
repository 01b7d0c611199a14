import { Context, Layer, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Authentication } from "../platform/http/Authentication.ts"
import { Api } from "./Api.ts"

/** A typed client of the whole API: each endpoint is a method, each documented error a tagged value. */
export class Client
  extends Context.Service<Client, HttpApiClient.ForApi<typeof Api>>()("messaging-service/api/Client")
{
  /** Calls the service at `baseUrl`, with the key for endpoints that require one. */
  static readonly layer = (options: { readonly baseUrl: string; readonly apiKey?: Redacted.Redacted }) =>
    Layer.effect(
      Client,
      HttpApiClient.make(Api, { transformClient: HttpClient.mapRequest(HttpClientRequest.prependUrl(options.baseUrl)) })
    ).pipe(
      Layer.provide(HttpApiMiddleware.layerClient(Authentication, ({ next, request }) =>
        next(options.apiKey === undefined ? request : HttpClientRequest.bearerToken(request, options.apiKey))))
    )
}
