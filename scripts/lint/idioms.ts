import { fromSrc, isIn, isOutside, type Node, type Rule } from "./rule.ts"
import { idioms } from "./table.ts"

/** Time, chance, settings and failure go through Effect, where a test can hold them; the table names who is exempt. */
export const effectIdioms: Rule = {
  create(context) {
    const file = fromSrc(context.filename)
    if (isOutside(file)) return {}
    const check = (node: Node, word: string) => {
      const idiom = idioms.get(word)
      if (idiom === undefined || isIn(file, idiom.except)) return
      context.report({ node, message: `Write ${idiom.instead} instead of ${word}` })
    }
    const checkFunction = (node: Node & { readonly async: boolean }) => {
      if (node.async) check(node, "async")
    }
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier") return
        const name = node.property.type === "Identifier" && !node.computed
          ? node.property.name
          : node.property.type === "Literal"
          ? node.property.value
          : undefined
        check(node, `${node.object.name}.${name}`)
      },
      NewExpression(node) {
        if (node.callee.type === "Identifier") check(node, `new ${node.callee.name}`)
      },
      CallExpression(node) {
        if (node.callee.type === "Identifier") check(node, node.callee.name)
      },
      FunctionDeclaration: checkFunction,
      FunctionExpression: checkFunction,
      ArrowFunctionExpression: checkFunction,
      AwaitExpression: (node) => check(node, "await"),
      ForOfStatement(node) {
        if (node.await) check(node, "await")
      },
      TryStatement: (node) => check(node, "try")
    }
  }
}
