/** The first match is the browser: most of them also name others that they resemble. */
const browsers: ReadonlyArray<readonly [name: string, mark: RegExp]> = [
  ["Edge", /\bEdg(?:e|A|iOS)?\/\d/],
  ["Opera", /\bOPR\/\d/],
  ["Samsung Internet", /\bSamsungBrowser\/\d/],
  ["Firefox", /\b(?:Firefox|FxiOS)\/\d/],
  ["Chrome", /\b(?:HeadlessChrome|Chrome|CriOS)\/\d/],
  ["Safari", /\bVersion\/\d.* Safari\//],
  ["curl", /^curl\/\d/]
]

const systems: ReadonlyArray<readonly [name: string, mark: RegExp]> = [
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/]
]

const nameIn = (table: typeof browsers, text: string) => table.find(([, mark]) => mark.test(text))?.[0]

/** The browser and the system that a `User-Agent` names, such as `Firefox, Windows`; undefined for an unknown one. */
export const browserOf = (userAgent: string | null): string | undefined => {
  const found = [nameIn(browsers, userAgent ?? ""), nameIn(systems, userAgent ?? "")].filter((name) =>
    name !== undefined
  )
  return found.length === 0 ? undefined : found.join(", ")
}
