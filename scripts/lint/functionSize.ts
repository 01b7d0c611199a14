import { fromSrc, isOutside, type Node, type Rule } from "./rule.ts"

const lists = new Set(["VariableDeclaration", "FunctionDeclaration", "ExpressionStatement", "ReturnStatement"])

/** Whether a body only defines members and returns them, as a service or a closure over state does. */
const onlyDefinesMembers = (body: Node | null): boolean =>
  body !== null && "body" in body && Array.isArray(body.body) &&
  body.body.every((statement: Node) => lists.has(statement.type))

/**
 * A function is one thought, and has at most as many lines as the option says. A function that only defines members is
 * measured without the functions inside it: each of those is measured by itself.
 */
export const functionSize: Rule = {
  meta: { schema: [{ type: "number" }] },
  create(context) {
    if (isOutside(fromSrc(context.filename))) return {}
    const limit = Number(context.options[0])
    const inside: Array<number> = []
    const enter = () => {
      inside.push(0)
    }
    const leave = (node: Node, isList: boolean) => {
      const lines = 1 + node.loc.end.line - node.loc.start.line
      const inner = inside.pop() ?? 0
      const own = isList ? lines - inner : lines
      inside.push((inside.pop() ?? 0) + lines - 1)
      if (own > limit) context.report({ node, message: `The function has ${own} lines, more than ${limit}` })
    }
    return {
      FunctionDeclaration: enter,
      FunctionExpression: enter,
      ArrowFunctionExpression: enter,
      "FunctionDeclaration:exit": (node) => leave(node, onlyDefinesMembers(node.body)),
      "FunctionExpression:exit": (node) => leave(node, onlyDefinesMembers(node.body)),
      "ArrowFunctionExpression:exit": (node) => leave(node, onlyDefinesMembers(node.body))
    }
  }
}
