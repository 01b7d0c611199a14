import { distance, nearest } from "../../../values/nearest.ts"

interface Route {
  readonly method: string
  readonly path: string
}

/** More is another path, and not a mistake in one. */
const maxDistance = 1.5

/** No path of the API has more segments. */
const maxSegments = 8

const segmentsOf = (path: string) => path.split("/").filter((segment) => segment !== "")

const isParameter = (segment: string) => segment.startsWith(":")

/** The path of an endpoint as the documentation writes it, with its parameters in braces. */
export const documentedPath = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}")

/**
 * Finds the path of the API that is meant by an unknown one: a segment is misspelt, is missing or is too much, or the
 * version is. `/v1/emails` gives `/v1/email/send` to POST and `/v1/email/messages` to GET.
 */
export const makeNearRoute = (routes: ReadonlyArray<Route>) => {
  const targets = routes.filter(({ path }) => path.startsWith("/v1/")).map(({ method, path }) => {
    const segments = segmentsOf(path).slice(1)
    return { method, path, segments, words: segments.filter((segment) => !isParameter(segment)).length }
  })
  const words = [...new Set(targets.flatMap(({ segments }) => segments.filter((segment) => !isParameter(segment))))]

  return (method: string, path: string): string | undefined => {
    const segments = segmentsOf(path.toLowerCase().replace(/^(?:\/(?:api|v\d+)(?=\/|$))+/, ""))
    if (segments.length > maxSegments) return undefined
    const meant = new Map(segments.map((segment) => [segment, nearest(segment, words)]))
    const cost = (segment: string, known: string) => {
      if (segment === known || (isParameter(known) && /\d/.test(segment))) return 0
      return meant.get(segment)?.includes(known) === true ? 0.25 : 2
    }
    let best: { readonly path: string; readonly distance: number } | undefined
    for (const target of targets) {
      const found = distance(segments, target.segments, cost) + (target.method === method ? 0 : 0.1)
      // Without a segment in common, every short path would be close to every other one.
      if (found < Math.min(best?.distance ?? maxDistance, target.words)) best = { path: target.path, distance: found }
    }
    return best && documentedPath(best.path)
  }
}
