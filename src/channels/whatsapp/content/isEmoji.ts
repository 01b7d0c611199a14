const recommended = /^\p{RGI_Emoji}$/v

/** Pictures, with or without the sign that asks for colours, and what joins them to one (UTS #51, 1.4.9). */
const joined =
  /^\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?(?:\u200D\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?)*$/u

/** Whether a text is one emoji and nothing else; those that are younger than this program among them. */
export const isEmoji = (text: string): boolean => recommended.test(text) || joined.test(text)
