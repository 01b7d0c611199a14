import { Marked, type Tokens } from "marked"
import { Html, html } from "../../platform/http/html.ts"

/** A guide as its file has it. `name` is the file's name without `.md`. */
export interface Guide {
  readonly name: string
  readonly text: string
}

/** The anchor of a heading, as common viewers of Markdown make it. */
const anchorOf = (heading: string) => heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")

/** The address of a guide's file, seen from another guide. */
const addressOf = (file: string) => file === "README.md" ? "/docs/guides" : `/docs/guides/${file.replace(/\.md$/, "")}`

const isElsewhere = (href: string) => /^(?:https?:|mailto:|[/#])/.test(href)

/** Renders files of the project. Their markup is trusted, so it is not escaped. */
const markdown = new Marked({
  renderer: {
    heading({ depth, text, tokens }) {
      const content = this.parser.parseInline(tokens)
      const id = anchorOf(text)
      return `<h${depth} id="${id}"><a href="#${id}">${content}</a></h${depth}>\n`
    },
    code({ text }) {
      return html`<pre tabindex="0"><code>${text}</code></pre>
`.markup
    },
    table(token: Tokens.Table) {
      // An empty corner heads nothing.
      const cell = ({ header, tokens }: Tokens.TableCell) => {
        const tag = header && tokens.length > 0 ? "th" : "td"
        return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`
      }
      const cells = (row: ReadonlyArray<Tokens.TableCell>) => `<tr>${row.map(cell).join("")}</tr>\n`
      const rows = token.rows.map((row) => cells(row)).join("")
      return `<div class="table" tabindex="0"><table><thead>${
        cells(token.header)
      }</thead><tbody>${rows}</tbody></table></div>\n`
    },
    // The node serves only the guides. Another document is named by its path in the repository.
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens)
      if (isElsewhere(href)) return `<a href="${href}">${content}</a>`
      const [file = "", anchor] = href.split("#")
      if (!file.includes("/")) {
        return `<a href="${addressOf(file)}${anchor === undefined ? "" : `#${anchor}`}">${content}</a>`
      }
      return `${content} (<code>${
        file.replace(/^(?:\.\.\/)+/, "docs/").replace(/^docs\/(README|CHANGELOG)/, "$1")
      }</code>)`
    }
  }
})

/** The first heading. */
const titleOf = ({ text }: Guide): string => /^# (.*)$/m.exec(text)?.[1] ?? ""

/** A guide as a complete document. */
export const guidePage = (guide: Guide): string =>
  `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${titleOf(guide)}</title>
<link rel="stylesheet" href="/docs/guides/style.css">
<link rel="alternate" type="text/markdown" href="/docs/guides/${guide.name}.md">
</head>
<body>
<header><nav aria-label="Documents"><a href="/docs/guides">Guides</a> <a href="/docs">All endpoints</a></nav></header>
<main>
${new Html(markdown.parse(guide.text, { async: false }))}</main>
<footer><a href="/docs/guides/${guide.name}.md">This page as Markdown</a></footer>
</body>
</html>
`.markup
  }`

/** The style sheet of all guides, dark where the reader's system is. */
export const style = `
:root {
  color-scheme: light dark;
  --page: #fff; --tint: #f3f5f8; --line: #dfe3ea; --text: #1a1f29; --quiet: #5b6577; --accent: #2f49c8;
}
@media (prefers-color-scheme: dark) {
  :root { --page: #0f1218; --tint: #191e28; --line: #2a303c; --text: #e8ebf1; --quiet: #a0aabb; --accent: #9db0ff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.6 system-ui, "Segoe UI", sans-serif; }
header, main, footer { max-width: 46rem; margin: 0 auto; padding: 0 20px; }
header { padding-top: 16px; }
header a { margin-right: 16px; }
footer { padding-top: 24px; padding-bottom: 48px; }
main { overflow-wrap: break-word; }
a { color: var(--accent); }
a:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
h1 { font-size: 30px; line-height: 1.25; }
h2 { font-size: 22px; line-height: 1.3; margin-top: 40px; }
h3 { font-size: 18px; margin-top: 28px; margin-bottom: 4px; }
h3 + p { margin-top: 4px; }
h1 a, h2 a, h3 a { color: inherit; text-decoration: none; }
h2 a:hover, h3 a:hover { text-decoration: underline; }
:target { scroll-margin-top: 16px; background: var(--tint); box-shadow: -8px 0 0 var(--tint), 8px 0 0 var(--tint); }
code { font: 14px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--tint);
  border-radius: 4px; padding: 1px 4px; }
pre, .table { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
pre { background: var(--tint); padding: 12px 16px; }
pre code { padding: 0; background: none; }
table { border-collapse: collapse; width: 100%; font-size: 15px; }
th, td { text-align: left; vertical-align: top; padding: 8px 12px; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
th { color: var(--quiet); font-weight: 600; }
td code { overflow-wrap: normal; }
`.trim()
