/** Header fields by their names in lower case, each with its values in order, unfolded and trimmed. */
export type Fields = ReadonlyMap<string, ReadonlyArray<string>>

/** Longer values are no addresses, statuses or answers of mail servers. */
const longestValue = 4_096

const field = /^([!-9;-~]{1,78})[ \t]*:(.*)$/

const add = (group: Map<string, Array<string>>, line: string) => {
  const [, name, value] = field.exec(line) ?? []
  if (name === undefined || value === undefined) return
  const values = group.get(name.toLowerCase())
  if (values === undefined) group.set(name.toLowerCase(), [value.trim()])
  else values.push(value.trim())
}

/**
 * Groups of fields with blank lines between, as in message/delivery-status (RFC 3464 2.1). Lines end with CRLF or LF, a
 * line that is no field is left out, and so are empty groups. Total, and linear in the length of the text.
 */
export const parseFields = (text: string): ReadonlyArray<Fields> => {
  const groups: Array<Fields> = []
  let group = new Map<string, Array<string>>()
  let pending = ""
  const close = () => {
    add(group, pending)
    pending = ""
    if (group.size > 0) groups.push(group)
    group = new Map()
  }
  for (const line of text.split(/\r?\n|\r/)) {
    if (line.trim() === "") close()
    else if (!/^[ \t]/.test(line)) {
      add(group, pending)
      pending = line.slice(0, longestValue)
    } else if (pending !== "" && pending.length < longestValue) pending += ` ${line.trim().slice(0, longestValue)}`
  }
  close()
  return groups
}

/** The first value of a field, empty when there is none. */
export const first = (fields: Fields, name: string): string => fields.get(name)?.[0] ?? ""
