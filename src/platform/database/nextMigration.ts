import { Option, Result } from "effect"
import {
  DatabaseNewer,
  MigrationChanged,
  type MigrationError,
  MigrationMissing,
  MigrationOutOfOrder
} from "./MigrationErrors.ts"

/** A migration by its file name and the SHA-256 (hex) of its content. */
export interface MigrationId {
  readonly name: string
  readonly sha256: string
}

/**
 * The first file that this database has not run, if any. Fails if the files contradict the database's history. Both
 * lists are in the order of their names.
 */
export const nextMigration = <File extends MigrationId>(
  files: ReadonlyArray<File>,
  applied: ReadonlyArray<MigrationId>
): Result.Result<Option.Option<File>, MigrationError> => {
  const lastFile = files.at(-1)?.name ?? ""
  for (const { name, sha256 } of applied) {
    const file = files.find((file) => file.name === name)
    if (file === undefined) {
      return Result.fail(name > lastFile ? new DatabaseNewer({ file: name }) : new MigrationMissing({ file: name }))
    }
    if (file.sha256 !== sha256) return Result.fail(new MigrationChanged({ file: name }))
  }
  const next = files.find((file) => !applied.some(({ name }) => name === file.name))
  const lastApplied = applied.at(-1)?.name ?? ""
  if (next !== undefined && next.name < lastApplied) {
    return Result.fail(new MigrationOutOfOrder({ file: next.name, after: lastApplied }))
  }
  return Result.succeed(Option.fromUndefinedOr(next))
}
