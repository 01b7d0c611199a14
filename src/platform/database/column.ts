import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

type Nullable<A> = ReadonlyArray<A | null>

/** For `unnest`. PostgreSQL cannot infer the type of an array that is empty or contains only nulls. */
const columnOf = <A>(elementOid: number) => (values: Nullable<A>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, elementOid))

/** One column of many rows as a parameter, for statements that write or find many rows. */
export const column = {
  int8: columnOf<number>(PgTypes.OID.int8),
  int4: columnOf<number>(PgTypes.OID.int4),
  float8: columnOf<number>(PgTypes.OID.float8),
  text: columnOf<string>(PgTypes.OID.text),
  bool: columnOf<boolean>(PgTypes.OID.bool),
  bytea: columnOf<Uint8Array>(PgTypes.OID.bytea)
}
