import type { domains as english } from "../en/domains.ts"

/** Sending domains. */
export const domains: Readonly<Record<keyof typeof english, string>> = {
  "nav.domains": "Domínios",
  "domains.title": "Domínios de envio",
  "domains.lead": "O e-mail do seu próprio domínio precisa de registros no DNS. O serviço os verifica.",
  "domains.caption": "Domínios de envio desta conta",
  "domains.new": "Adicionar um domínio",
  "domains.domain": "Domínio",
  "domains.domainHint": "Um domínio que pertence a você, como example.com. Um subdomínio é adicionado à parte.",
  "domains.status": "Status",
  "domains.status.pending": "não verificado",
  "domains.status.verified": "verificado",
  "domains.warnings": "A melhorar",
  "domains.warningCount": "{count, plural, one {# aviso} other {# avisos}}",
  "domains.checked": "Última verificação",
  "domains.created": "Adicionado",
  "domains.empty.title": "Ainda não há domínios de envio",
  "domains.empty.text": "Enquanto você não adicionar um, os e-mails saem do endereço deste serviço.",
  "domains.add.title": "Adicionar um domínio de envio",
  "domains.add.button": "Adicionar o domínio",
  "domains.added": "O domínio foi adicionado. Publique os registros e depois verifique o domínio.",
  "domains.state.pending": "Os e-mails deste domínio são recusados até que DKIM e SPF sejam verificados.",
  "domains.state.verified": "Você pode enviar deste domínio.",
  "domains.check": "Verificar agora",
  "domains.check.done": "Os registros foram verificados.",
  "domains.records": "Registros DNS",
  "domains.required": "obrigatório",
  "domains.advised": "recomendado",
  "domains.record.unchecked": "ainda não verificado",
  "domains.record.verified": "verificado",
  "domains.record.missing": "ausente",
  "domains.record.mismatch": "outro valor",
  "domains.record.conflict": "registros demais",
  "domains.record.temporary_error": "sem resposta do DNS",
  "domains.record.type": "Tipo",
  "domains.record.name": "Nome",
  "domains.record.short": "Nome, para provedores de DNS que acrescentam o domínio",
  "domains.record.value": "Valor",
  "domains.record.found": "O que há no DNS",
  "domains.record.nothing": "esse registro não existe",
  "domains.purpose.DKIM": "DKIM",
  "domains.purpose.SPF": "SPF",
  "domains.purpose.DMARC": "DMARC",
  "domains.purpose.MX": "MX",
  "domains.purposeText.DKIM": "Os servidores de destino conferem com ele que o e-mail é seu.",
  "domains.purposeText.SPF": "Permite que este serviço envie em nome do seu domínio.",
  "domains.purposeText.DMARC":
    "Informa aos servidores de destino o que fazer com e-mails falsificados. Os grandes provedores pedem um.",
  "domains.purposeText.MX":
    "Leva as respostas a um servidor de e-mail. Deixe de fora se o seu domínio recebe e-mails em outro lugar.",
  "verdict.spf.missing": "Não há registro SPF. Publique este. Ele pode levar alguns minutos para ficar visível.",
  "verdict.spf.several": "Há {count} registros SPF, o que invalida todos eles. Mantenha só um: {record}",
  "verdict.spf.add":
    "O registro SPF não inclui o host. Não adicione um segundo registro SPF. Altere o existente para: {record}",
  "verdict.spf.target": "{name}, o destino de redirect=, tem {count} registros SPF. Mantenha só um.",
  "verdict.spf.redirect":
    "Nem este registro nem o de {name} inclui o host. Não adicione um segundo registro SPF. Altere o existente para: {record}",
  "verdict.dkim.missing": "Não há registro TXT. Publique este. Ele pode levar alguns minutos para ficar visível.",
  "verdict.dkim.none": "Há um registro TXT, mas nenhuma chave DKIM. Publique exatamente o valor deste registro.",
  "verdict.dkim.several": "Há {count} chaves DKIM. Remova todas, menos a que tem este valor.",
  "verdict.dkim.tags":
    "O registro não é uma lista DKIM de nomes e valores. Publique exatamente o valor deste registro, sem aspas.",
  "verdict.dkim.version": "A versão dele não é DKIM1. Publique exatamente o valor deste registro.",
  "verdict.dkim.type": "O tipo de chave dele não é rsa. Publique exatamente o valor deste registro.",
  "verdict.dkim.sha256": "Ele não permite SHA-256. Publique exatamente o valor deste registro.",
  "verdict.dkim.email": "Ele não permite a chave para e-mail. Publique exatamente o valor deste registro.",
  "verdict.dkim.revoked":
    "A chave dele está vazia, o que a marca como revogada. Publique exatamente o valor deste registro.",
  "verdict.dkim.base64":
    "A chave dele não é base64 válido. Publique exatamente o valor deste registro, sem aspas nem quebras de linha.",
  "verdict.dkim.other":
    "A chave dele não é a deste domínio, ou foi cortada. Publique exatamente o valor deste registro.",
  "verdict.dmarc.missing":
    "Não há registro DMARC. Ele não é obrigatório, mas Gmail e Yahoo exigem um de quem envia e-mails em massa. Publique este.",
  "verdict.dmarc.policy": "O registro DMARC não tem uma política válida. Defina p=none ou publique este registro.",
  "verdict.dmarc.several": "Há {count} registros DMARC, o que invalida todos eles. Mantenha só um.",
  "verdict.mx.missing": "Não há registro MX. Ele não é obrigatório. Este serviço não recebe respostas.",
  "verdict.mx.address": "O registro MX aponta para {host}, que não tem endereço. Dê a ele um registro A ou AAAA.",
  "verdict.mx.none":
    "O registro MX diz que este domínio não aceita e-mails. Ele não é obrigatório. Este serviço não recebe respostas.",
  "verdict.mx.elsewhere":
    "Os e-mails endereçados a este domínio vão para outro servidor, o que está certo. O registro não é obrigatório. Este serviço não recebe respostas.",
  "verdict.unanswered":
    "O DNS não respondeu. Isso não diz nada sobre o registro. Verifique de novo em alguns minutos. ({reason})",
  "verdict.warning.dkim":
    "A chave DKIM não está publicada corretamente. Os servidores de destino não conseguem verificar as assinaturas, e Gmail e Yahoo recusam e-mails em massa sem elas.",
  "verdict.warning.spf": "Nenhum registro SPF inclui este serviço. Sem ele, Gmail e Yahoo recusam e-mails em massa.",
  "verdict.warning.dmarc": "Não há política DMARC. Sem ela, Gmail e Yahoo recusam e-mails em massa; p=none basta.",
  "domains.zone": "Todos os registros como arquivo de zona",
  "domains.tracking": "Rastreamento de aberturas e cliques",
  "domains.tracking.text": "Vale para os e-mails aceitos a partir de agora. Uma requisição pode definir o contrário.",
  "domains.tracking.opens": "Rastrear aberturas",
  "domains.tracking.clicks": "Rastrear cliques",
  "domains.tracking.done": "O rastreamento foi alterado.",
  "domains.delete": "Excluir",
  "domains.delete.title": "Excluir {domain}?",
  "domains.delete.text":
    "A partir daí, os e-mails deste domínio são recusados e a chave dele é apagada. Se você adicionar o domínio de novo, ele recebe uma nova chave, com um novo registro a publicar. Esta ação não pode ser desfeita.",
  "domains.delete.typed": "Digite o domínio",
  "domains.delete.button": "Excluir o domínio",
  "domains.delete.done": "O domínio foi excluído."
}
