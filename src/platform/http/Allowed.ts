import { Context } from "effect"
import { makeNearRoute } from "./names/nearRoute.ts"

/** A path with `:parameters`, and a method that it accepts. */
export interface RouteName {
  readonly method: string
  readonly path: string
}

/** Tests whether a path is one of a route, with or without a slash at its end. */
export const matcherOf = (path: string) =>
  new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/:[A-Za-z_]+/g, "[^/]+")}/?$`)

const matched = ({ method, path }: RouteName) => ({ method, path, matcher: matcherOf(path) })

/** The paths with their methods. They distinguish a wrong method (405) from a wrong path (404) and answer OPTIONS. */
export class Allowed extends Context.Service<Allowed, {
  /** The methods of a path, with HEAD and OPTIONS; empty for an unknown path. */
  readonly methods: (path: string) => ReadonlyArray<string>
  /** The route of a path, such as `/v1/webhooks/:id`; undefined for an unknown path. */
  readonly route: (path: string) => string | undefined
  /** The path of the API, such as `/v1/webhooks/{id}`, that an unknown one may mean. */
  readonly near: (method: string, path: string) => string | undefined
  /** Adds routes that are loaded after the start. */
  readonly add: (routes: ReadonlyArray<RouteName>) => void
}>()("messaging-service/platform/http/Allowed") {
  static readonly fromRoutes = (routes: ReadonlyArray<RouteName>): Allowed["Service"] => {
    const matchers = routes.map(matched)
    return {
      add: (later) => matchers.push(...later.map(matched)),
      near: makeNearRoute(routes),
      route: (path) => matchers.find(({ matcher }) => matcher.test(path))?.path,
      methods: (path) => {
        const methods = new Set(matchers.filter(({ matcher }) => matcher.test(path)).map(({ method }) => method))
        if (methods.size === 0) return []
        if (methods.has("GET")) methods.add("HEAD")
        return [...methods, "OPTIONS"]
      }
    }
  }
}
