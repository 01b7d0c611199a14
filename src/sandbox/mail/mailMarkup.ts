const doctype = /^\s*<!doctype[^>]{0,300}>/i

/**
 * A mail's own markup for its frame. Links would open inside the frame; the base element sends them to a tab of their
 * own. It follows the doctype, for anything before that would change how browsers lay the mail out.
 */
export const mailMarkup = (markup: string): string => {
  const [head = ""] = doctype.exec(markup) ?? []
  return `${head}<meta charset="utf-8"><base target="_blank">${markup.slice(head.length)}`
}
