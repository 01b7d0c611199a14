import { Context } from "effect"

/** A path with `:parameters` and a method that it takes. */
export interface RouteName {
  readonly method: string
  readonly path: string
}

const matcherOf = (path: string) =>
  new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(/:[A-Za-z_]+/g, "[^/]+")}/?$`)

/** The methods of each served path, to tell a wrong method (405) from a wrong path (404) and to answer OPTIONS. */
export class Allowed extends Context.Service<Allowed, {
  /** Methods of a path with HEAD and OPTIONS; empty when nothing is served there. */
  readonly methods: (path: string) => ReadonlyArray<string>
}>()("messaging-service/platform/http/Allowed") {
  static readonly fromRoutes = (routes: ReadonlyArray<RouteName>): Allowed["Service"] => {
    const matchers = routes.map(({ method, path }) => ({ method, matcher: matcherOf(path) }))
    return {
      methods: (path) => {
        const methods = new Set(matchers.filter(({ matcher }) => matcher.test(path)).map(({ method }) => method))
        if (methods.size === 0) return []
        if (methods.has("GET")) methods.add("HEAD")
        return [...methods, "OPTIONS"]
      }
    }
  }
}
