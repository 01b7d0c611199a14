import { createHash } from "node:crypto"

/** A weak entity tag of a body (RFC 9110, 8.8.3): equal bodies have equal tags on every node. */
export const entityTag = (body: string): string =>
  `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`

/** Whether `If-None-Match` names the tag, by weak comparison (RFC 9110, 13.1.2). */
export const isNamed = (etag: string, header: string | undefined): boolean =>
  header !== undefined &&
  (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag.slice(2)))
