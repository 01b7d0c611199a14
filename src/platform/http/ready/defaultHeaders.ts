/** Headers of every answer that does not set them itself. */
export const defaultHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "frame-ancestors 'none'"
} as const
