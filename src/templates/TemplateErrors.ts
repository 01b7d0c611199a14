import { Schema } from "effect"

/** The parts of a message that are templates. */
export const TemplatePartName = Schema.Literals(["subject", "html", "text"])
export type TemplatePartName = typeof TemplatePartName.Type

/** An invalid `{{ }}` in a template. Line and column, counted from 1, are those of its first brace. */
export class TemplateInvalid extends Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", {
  part: TemplatePartName,
  line: Schema.Int,
  column: Schema.Int,
  /** The fault and its correction, without a full stop. */
  reason: Schema.String
}) {
  override get message() {
    return `line ${this.line}, column ${this.column}: ${this.reason}`
  }
}
