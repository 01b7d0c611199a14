import type { suppressions as english } from "../en/suppressions.ts"

/** Addresses that get no mail. */
export const suppressions: Readonly<Record<keyof typeof english, string>> = {
  "nav.suppressions": "Endereços bloqueados",
  "suppressions.title": "Endereços bloqueados",
  "suppressions.lead": "Endereços que não recebem e-mails desta conta.",
  "suppressions.caption": "Endereços bloqueados, do mais recente ao mais antigo",
  "suppressions.new": "Bloquear um endereço",
  "suppressions.email": "Endereço",
  "suppressions.reason": "Motivo",
  "suppressions.filter": "Bloqueios por motivo",
  "suppressions.all": "todos",
  "suppressions.q": "O endereço completo",
  "suppressions.reason.unsubscribe": "inscrição cancelada",
  "suppressions.reason.bounce": "e-mail devolvido",
  "suppressions.reason.complaint": "denúncia de spam",
  "suppressions.reason.manual": "manual",
  "suppressions.since": "Desde",
  "suppressions.source": "Mensagem",
  "suppressions.empty.title": "Nenhum endereço está bloqueado",
  "suppressions.empty.text":
    "Isso é bom. Os endereços que devolvem e-mails, denunciam spam ou cancelam a inscrição aparecem aqui sozinhos.",
  "suppressions.empty.filtered": "Nenhum endereço está bloqueado por este motivo.",
  "suppressions.empty.address": "Este endereço não está bloqueado.",
  "suppressions.add.title": "Bloquear um endereço",
  "suppressions.add.hint": "Os e-mails para ele param imediatamente, também os que já foram aceitos.",
  "suppressions.add.button": "Bloquear o endereço",
  "suppressions.added": "O endereço não recebe mais e-mails.",
  "suppressions.import": "Importar",
  "suppressions.import.title": "Importar endereços",
  "suppressions.import.list": "Endereços",
  "suppressions.import.hint":
    "Um endereço por linha. Em um arquivo CSV, vale a primeira coluna. Os endereços bloqueados mantêm o seu motivo.",
  "suppressions.import.wrong": "Nada foi importado: {address} não é um endereço de e-mail.",
  "suppressions.import.left": "{done} de {total} endereços foram importados. A lista agora tem os demais.",
  "suppressions.imported": "Os endereços não recebem mais e-mails.",
  "suppressions.remove": "Remover",
  "suppressions.removeNamed": "Remover o bloqueio de {email}",
  "suppressions.remove.title": "Remover o bloqueio?",
  "suppressions.remove.text":
    "Novos e-mails voltam a ser enviados para {email}. As mensagens que foram bloqueadas continuam bloqueadas.",
  "suppressions.remove.bounce":
    "Este endereço devolveu um e-mail. Se devolver outro, os servidores de destino confiarão menos no seu domínio.",
  "suppressions.remove.unsubscribe":
    "Esta pessoa cancelou a inscrição. Escreva para ela somente se ela tiver pedido de novo.",
  "suppressions.remove.button": "Remover o bloqueio",
  "suppressions.removed": "O bloqueio foi removido."
}
