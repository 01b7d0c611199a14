/** A column of sealed values, described so that they can be wrapped anew without a word from its domain. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The primary key's columns and their types, in its order. */
  readonly key: ReadonlyArray<readonly [name: string, type: "bigint" | "text" | "boolean"]>
  /** The columns that `what` is made of. */
  readonly parts: ReadonlyArray<string>
  /** What a row's value was sealed for: the same text as where it is sealed. */
  readonly what: (...parts: ReadonlyArray<string | number>) => string
}

/** `webhooks.secret`, as people are told. */
export const nameOf = ({ column, table }: SealedColumn): string => `${table}.${column}`
