import type { doors as english } from "../en/doors.ts"

/** The pages before a person is signed in. */
export const doors: Readonly<Record<keyof typeof english, string>> = {
  "signIn.title": "Entrar",
  "signIn.email": "Endereço de e-mail",
  "signIn.password": "Senha",
  "signIn.button": "Entrar",
  "signIn.wrong": "O endereço de e-mail ou a senha está incorreta.",
  "signIn.noOperator.title": "Ainda ninguém pode entrar",
  "signIn.noOperator.text": "O serviço mostrou um link ao iniciar. Para mostrar outro, execute:",
  "signIn.insecure.title": "Este endereço não está protegido",
  "signIn.insecure.text":
    "As senhas não devem trafegar sem criptografia. Coloque um proxy TLS na frente do serviço, defina PUBLIC_URL com o endereço https dele e abra o console lá. Na própria máquina, http://localhost funciona.",
  "signIn.signedOut": "Você saiu.",
  "setup.title": "Configurar esta instalação",
  "setup.lead": "Você se torna o operador dela e o proprietário da primeira conta.",
  "setup.name": "Seu nome",
  "setup.email": "Endereço de e-mail",
  "setup.emailHint": "Você entra com ele.",
  "setup.password": "Senha",
  "setup.passwordHint": "Pelo menos 12 caracteres. Várias palavras sem relação entre si são uma boa opção.",
  "setup.language": "Idioma",
  "setup.zone": "Fuso horário",
  "setup.button": "Começar",
  "setup.stale.title": "Este link não funciona",
  "setup.stale.text":
    "Ele já foi usado, tem mais de um dia, ou outra pessoa configurou a instalação. Para mostrar outro link, execute:",
  "setup.stale.signIn": "Ir para a página de entrada",
  "setup.wrongPassword": "Já existe uma conta com este endereço. Digite a senha dela para se tornar o operador.",
  "noAccount.title": "Você ainda não pertence a nenhuma conta",
  "noAccount.text": "Peça a um proprietário que adicione você.",
  "language.en": "English",
  "language.fr": "Français",
  "language.es": "Español",
  "language.pt": "Português",
  "language.de": "Deutsch",
  "language.ar": "العربية",
  "language.sw": "Kiswahili",
  "language.rw": "Ikinyarwanda"
}
