import { fromSrc, isOutside, type Node, type Rule } from "./rule.ts"

/**
 * A function is at most as many lines long as the option says, without the functions inside it: each of those is
 * measured for itself, so the generator that builds a service's layer holds as many short methods as the service has.
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
    const leave = (node: Node) => {
      const lines = node.loc.end.line - node.loc.start.line
      const own = 1 + lines - (inside.pop() ?? 0)
      inside.push((inside.pop() ?? 0) + lines)
      if (own > limit) context.report({ node, message: `The function has ${own} lines of its own, more than ${limit}` })
    }
    return {
      FunctionDeclaration: enter,
      FunctionExpression: enter,
      ArrowFunctionExpression: enter,
      "FunctionDeclaration:exit": leave,
      "FunctionExpression:exit": leave,
      "ArrowFunctionExpression:exit": leave
    }
  }
}
