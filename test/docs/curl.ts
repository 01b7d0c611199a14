/** The request that a curl command sends. Splits words as a shell does, and does nothing else that a shell does. */
export const requestOf = (command: string) => {
  const words = [...command.matchAll(/(?:[^\s'"\\]|\\\n|'[^']*'|"[^"]*")+/g)]
    .map(([word]) => word.replaceAll("\\\n", "").replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"))
    .filter((word) => word !== "")
  const isUrl = (word: string) => word.startsWith("http://")
  const url = words.find(isUrl) ?? ""
  const options = words.slice(1).filter((word) => !isUrl(word))
  const headers: Record<string, string> = {}
  let body: string | undefined
  let method: string | undefined
  for (let index = 0; index < options.length; index += 2) {
    const [option, value = ""] = options.slice(index)
    if (option === "-d") body = value
    else if (option === "-X") method = value
    else if (option === "-H") headers[value.slice(0, value.indexOf(":")).toLowerCase()] = value.replace(/^[^:]*: */, "")
    else throw new Error(`This test does not support curl's ${option}.`)
  }
  return {
    path: new URL(url).pathname + new URL(url).search,
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers,
    body
  }
}
