import { sandboxMailStyle } from "../pages/LocalPage.ts"

/** The style sheet of the phones' pages: the inbox's, and what only phones have. */
export const sandboxPhonesStyle = `${sandboxMailStyle}
section { margin-bottom: 28px; }
section > h2, summary { font-size: 17px; margin: 0 0 10px; font-weight: 600; }
.rows { list-style: none; margin: 0; padding: 0; }
.rows li { display: flex; align-items: center; gap: 8px 14px; flex-wrap: wrap; padding: 10px 20px; }
.rows li + li { border-top: 1px solid var(--line); }
.rows .what { margin-right: auto; overflow-wrap: anywhere; }
form { display: flex; gap: 8px; flex-wrap: wrap; align-items: center; }
form.below { margin-top: 12px; }
input, select { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 8px;
  padding: 6px 12px; max-width: 100%; }
input.wide { flex: 1 1 16rem; }
.problem { border-color: #d0453a; padding: 12px 20px; margin-bottom: 20px; }
.chat { padding: 14px 20px; margin-bottom: 14px; }
.chat h3 { margin: 0 0 8px; font-size: 15px; }
.messages { list-style: none; margin: 0 0 12px; padding: 0; }
.messages li { padding: 4px 0; overflow-wrap: anywhere; }
.messages .own { text-align: right; }
`
