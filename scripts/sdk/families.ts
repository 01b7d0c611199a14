/** Families of errors, which are hand-written in every SDK under the same names. */
const families: ReadonlyArray<readonly [from: number, to: number, name: string]> = [
  [400, 400, "InvalidRequestError"],
  [401, 401, "AuthenticationError"],
  [402, 402, "PaymentRequiredError"],
  [403, 403, "PermissionDeniedError"],
  [404, 404, "NotFoundError"],
  [409, 409, "ConflictError"],
  [410, 410, "GoneError"],
  [413, 422, "InvalidRequestError"],
  [429, 429, "RateLimitError"],
  [500, 599, "ServerError"]
]

/** The class of a status, for types that have none. */
export const familyOf = (status: number): string =>
  families.find(([from, to]) => from <= status && status <= to)?.[2] ?? "ApiError"

/** The class of an error of the contract. */
export const errorClassOf = (name: string): string => name.endsWith("Error") ? name : `${name}Error`
