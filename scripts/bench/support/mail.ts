/** The mail that the service and all loops send. */

export const connections = 5

export const subject = "Your order {{order}} has been shipped"

const paragraph =
  "<p style=\"margin:0 0 12px\">Hello {{name}}, your order {{order}}, thank you for it, has been shipped. "
  + "<a href=\"https://shop.example/o/{{order}}?utm=mail\">Follow it here</a></p>\n"

export const html = `<html><body>\n${paragraph.repeat(9)}</body></html>`

const variables = (index: number) => ({ name: `Ana Müller ${index}`, order: 12_345 + index })

export const recipients = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ to: `ana${index}@recipient.example`, variables: variables(index) }))
