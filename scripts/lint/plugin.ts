import * as NodePath from "node:path"
import { boundaries } from "./boundaries.ts"
import { functionSize } from "./functionSize.ts"
import { effectIdioms } from "./idioms.ts"
import { plainEnglish } from "./phrases.ts"
import type { Rule } from "./rule.ts"

/** An index file hides which module an import means. */
const noBarrel: Rule = {
  create(context) {
    return {
      Program(node) {
        if (NodePath.parse(context.filename).name !== "index") return
        context.report({ node, message: "Import the file that is meant; there is no index file" })
      }
    }
  }
}

export default {
  meta: { name: "project" },
  rules: {
    boundaries,
    "effect-idioms": effectIdioms,
    "function-size": functionSize,
    "no-barrel": noBarrel,
    "plain-english": plainEnglish
  }
}
