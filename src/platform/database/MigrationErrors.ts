import { Schema } from "effect"

/** A file in the sql directory is not named like 0001_subject.sql, or has the same number as another one. */
export class MigrationMisnamed extends Schema.TaggedError<MigrationMisnamed>()("MigrationMisnamed", {
  file: Schema.String
}) {
  override get message() {
    return `The migration ${this.file} must be named like 0001_subject.sql, with a number that no other one has.`
  }
}

/** A file was edited after it had run on this database. */
export class MigrationChanged extends Schema.TaggedError<MigrationChanged>()("MigrationChanged", {
  file: Schema.String
}) {
  override get message() {
    return `The migration ${this.file} has already run on this database and was changed since: `
      + "restore it, and put the change into a new file."
  }
}

/** A file that has run on this database is missing, although later ones exist. */
export class MigrationMissing extends Schema.TaggedError<MigrationMissing>()("MigrationMissing", {
  file: Schema.String
}) {
  override get message() {
    return `The migration ${this.file} has run on this database but is gone from the sql directory: restore it.`
  }
}

/** A later version of this program has migrated the database. */
export class DatabaseNewer extends Schema.TaggedError<DatabaseNewer>()("DatabaseNewer", {
  file: Schema.String
}) {
  override get message() {
    return `The database is newer than this program: it has run ${this.file}, which this version does not know. `
      + "Start the newer version, or restore a backup made before the upgrade."
  }
}

/** A file was added before one that has already run. Other databases would have run them in the opposite order. */
export class MigrationOutOfOrder extends Schema.TaggedError<MigrationOutOfOrder>()("MigrationOutOfOrder", {
  file: Schema.String,
  after: Schema.String
}) {
  override get message() {
    return `The migration ${this.file} would run after ${this.after}, which this database already has: `
      + "give it a higher number."
  }
}

/** A file's SQL failed. It has no effect, and all files before it are applied. */
export class MigrationFailed extends Schema.TaggedError<MigrationFailed>()("MigrationFailed", {
  file: Schema.String,
  /** The line of the error, counted from 1, if PostgreSQL reports it. */
  line: Schema.optionalKey(Schema.Int),
  reason: Schema.String
}) {
  override get message() {
    const place = this.line === undefined ? this.file : `${this.file}, line ${this.line}`
    return `The migration ${place} failed: ${this.reason}`
  }
}

/** A file needs a table that another session uses, for longer than all tries. It has no effect. */
export class MigrationBlocked extends Schema.TaggedError<MigrationBlocked>()("MigrationBlocked", {
  file: Schema.String
}) {
  override get message() {
    return `The migration ${this.file} needs a table that another session uses, such as pg_dump or a long transaction. `
      + "End that session, or start again when it has ended."
  }
}

/** Every error that stops the migrations. Its message is one sentence for the operator. */
export type MigrationError =
  | MigrationMisnamed
  | MigrationChanged
  | MigrationMissing
  | DatabaseNewer
  | MigrationOutOfOrder
  | MigrationFailed
  | MigrationBlocked
