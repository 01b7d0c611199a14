/** Paths of the API with the page that shows the same, both with the values of the first as `$1` and `$2`. */
const places: ReadonlyArray<readonly [path: RegExp, page: `/${string}`]> = [
  [/^\/v1\/(email|sms|whatsapp)\/(?:messages|status)\/(\d+)(?:\/timeline)?$/, "/messages/$1/$2"],
  [/^\/v1\/messages\/(msg_\w+)(?:\/\w+)?$/, "/messages/$1"],
  [/^\/v1\/(email|sms|whatsapp)\/batches\/(\w+)(?:\/recipients)?$/, "/batches/$1/$2"],
  [/^\/v1\/email\/templates\/(\w+)$/, "/templates/$1"],
  [/^\/v1\/email\/templates\/(\w+)\/versions(?:\/\d+\/restore)?$/, "/templates/$1/versions"],
  [/^\/v1\/email\/domains\/(\d+)$/, "/domains/$1"],
  [/^\/v1\/email\/suppressions\/[^/]+$/, "/suppressions"],
  [/^\/v1\/whatsapp\/sessions\/(\d+)$/, "/whatsapp/$1"],
  [/^\/v1\/webhooks\/(\d+)$/, "/webhooks/$1"],
  [/^\/v1\/webhooks\/(\d+)\/deliveries\/(\d+)$/, "/webhooks/$1/deliveries/$2"],
  [/^\/v1\/webhooks\/(\d+)\/recoveries\/\d+$/, "/webhooks/$1/recover"],
  [/^\/v1\/verify\/status\/(\w+)(?:\/timeline)?$/, "/verify/$1"],
  [/^\/v1\/api-keys\/\d+(?:\/rotate)?$/, "/keys"],
  [/^\/v1\/requests\/([0-9a-f-]+)$/, "/requests/$1"]
]

/** The page of the account that shows what the API has at a path; undefined where no page does. */
export const placeOf = (path: string): `/${string}` | undefined => {
  for (const [pattern, page] of places) {
    const found = pattern.exec(path)
    // Replacing values keeps the slash at the start.
    if (found !== null) {
      return page.replaceAll(/\$(\d)/g, (_, index: string) => found[Number(index)] ?? "") as `/${string}`
    }
  }
  return undefined
}
