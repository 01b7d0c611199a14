/** One value of a session's credentials; null removes it. */
export interface KeyEntry {
  readonly type: string
  readonly key: string
  readonly value: Uint8Array | null
}
