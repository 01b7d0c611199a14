import type { errors as english } from "../en/errors.ts"

/** What pages say of errors. `error.<type>` is the text of that `error.type`. */
export const errors: Readonly<Record<keyof typeof english, string>> = {
  "problem.missing.title": "Esta página não existe",
  "problem.missing.text": "Ela pode ter sido excluída ou pertence a outra conta.",
  "problem.signedOut.title": "Você não está mais conectado",
  "problem.signedOut.text":
    "Nada foi enviado. Esta página guarda o que você escreveu. Entre em uma nova página e depois volte a esta.",
  "problem.signedOut.back": "Voltar ao formulário",
  "problem.forbidden.title": "O seu papel não permite isto",
  "problem.forbidden.text": "O seu papel nesta conta é: {role}. É preciso ter um destes papéis: {roles}.",
  "problem.forbidden.people": "Estas pessoas têm um desses papéis:",
  "problem.tooFast.title": "Requisições demais",
  "problem.tooFast.text": "Tente de novo em {seconds, plural, one {# segundo} other {# segundos}}.",
  "problem.away.title": "O serviço não responde no momento",
  "problem.away.text": "Nada se perdeu. Carregue esta página de novo em alguns segundos.",
  "problem.broken.title": "Algo deu errado do nosso lado",
  "problem.broken.text": "O erro foi registrado. O ID da requisição é {id}.",
  "problem.crossSite.title": "Este formulário veio de outro site, ou a página dele é antiga demais",
  "problem.crossSite.text": "Nada foi alterado. Confira os valores abaixo e envie-os de novo.",
  "problem.home": "Ir para a página inicial",
  "error.validation_error": "Alguns campos não são válidos.",
  "error.internal_error": "Algo deu errado do nosso lado. Tente de novo.",
  "error.plan_limit_exceeded":
    "O limite foi atingido: {current, number} de {limit, number} em uso. Remova um, peça um plano maior ao operador ou espere o limite ser renovado.",
  "error.email_quota_exceeded":
    "Foram usados {current, number} de {limit, number} e-mails, e este envio tem mais destinatários do que restam. Peça um plano maior ao operador ou espere a cota ser renovada.",
  "error.insufficient_permission": "O seu papel não permite isto. Peça a um proprietário ou a um administrador.",
  "error.fresh_login_required":
    "Você entrou há tempo demais. Entre de novo ou escolha uma expiração mais próxima para a chave.",
  "error.live_key_required": "Isto não é possível no modo de teste. Mude para o modo real.",
  "error.rate_limit_exceeded": "Foram enviadas requisições demais.",
  "error.not_found": "O que este formulário indica já não existe. Recarregue a página e escolha outro.",
  "error.invalid_from_domain":
    "O domínio do remetente não está verificado. Verifique-o em “Domínios” ou deixe o remetente vazio.",
  "error.message_over": "Já foi enviado ou já terminou. Volte para ver o que aconteceu.",
  "error.complaint_not_removable":
    "O destinatário marcou o seu e-mail como spam, por isso este endereço permanece na lista de bloqueio. Não escreva para ele.",
  "error.unsupported_destination":
    "Nenhum SMS é enviado a este país. Confira o número ou peça ao operador que adicione um preço.",
  "error.otp_limit": "Foram enviados códigos demais a este destinatário ou a números próximos.",
  "error.verification_blocked":
    "Os códigos para estes números estão bloqueados, porque quase nenhum foi digitado. Desbloqueie-os na página de códigos de uso único ou espere.",
  "error.country_not_allowed": "Este serviço não envia códigos a este país. Peça ao operador que o adicione.",
  "error.subscription_required": "A avaliação gratuita não inclui isto. Peça um plano ao operador.",
  "error.subscription_expired": "A avaliação gratuita terminou. Peça um plano ao operador para voltar a enviar.",
  "error.address_unconfirmed":
    "O endereço de e-mail desta conta não está confirmado. Abra o link no e-mail que foi enviado a ele.",
  "error.channel_unavailable": "Este canal não pode enviar códigos agora. Escolha outro canal ou tente mais tarde.",
  "error.verification_not_found": "Não há código para conferir: já foi usado. Envie um novo.",
  "error.verification_expired": "Este código expirou. Envie um novo.",
  "error.max_attempts_exceeded": "Foram digitados muitos códigos errados. Envie um novo.",
  "error.domain_already_exists": "Você já adicionou este domínio. Abra-o na lista para ver os seus registros.",
  "error.key_maker_busy": "Estão sendo adicionados domínios demais ao mesmo tempo.",
  "error.pairing_unavailable": "O WhatsApp não enviou um código a tempo. Tente de novo em um minuto.",
  "error.session_already_connected":
    "Esta sessão está conectada a um telefone. Para vincular outro, desconecte primeiro a sessão.",
  "error.session_not_connected":
    "Esta sessão não está conectada. Vincule um telefone ou espere até que se conecte de novo.",
  "error.not_group_admin":
    "Só administradores do grupo podem fazer isso. Torne o número desta sessão administrador, em um telefone.",
  "error.media_gone": "Este arquivo não está mais disponível. Peça ao remetente que o envie de novo.",
  "error.service_unavailable": "O serviço não pode fazer isto no momento. Tente de novo em alguns segundos.",
  "error.storage_low":
    "O serviço está com pouco armazenamento e agora não aceita envios. O que aceitou antes é enviado.",
  "error.daily_volume_exceeded": "Muitos e-mails grandes já foram enviados hoje. Envie um menor ou tente amanhã.",
  "error.payload_too_large": "É grande demais. Encurte.",
  "error.webhook_not_active": "Este webhook não está ativo. Ative-o e tente de novo.",
  "error.event_expired": "O conteúdo deste evento já não está guardado, por isso não pode ser reenviado.",
  "error.source_gone": "Os textos deste e-mail não são mais guardados, portanto ele não tem código-fonte.",
  "error.recovery_in_progress":
    "Uma repetição deste webhook está em andamento. Espere até que termine ou interrompa-a.",
  "error.key_not_rotatable": "Outra chave substituiu esta, ou ela expirou. Crie outra chave.",
  "error.recovery_ended": "Esta repetição já terminou.",
  "error.sandbox_closed": "O sandbox desta instalação está fechado. Use a URL da sua aplicação.",
  "error.fault_limit":
    "{limit, number} falhas planejadas esperam as suas mensagens. Envie mensagens de teste ou remova as falhas.",
  "error.login_paused": "Foram digitadas muitas senhas ou muitos códigos incorretos.",
  "error.token_expired": "Este link já foi usado ou expirou. Peça um novo.",
  "error.email_taken": "Outra conta já tem este endereço de e-mail. Escolha outro.",
  "error.email_change_limit": "Foram pedidos muitos endereços novos.",
  "error.idempotency_key_reused": "Este formulário já foi enviado com outros valores. Recarregue a página e envie-o.",
  "error.idempotency_in_progress": "Este formulário acabou de ser enviado. Espere um segundo e veja se foi feito.",
  "error.other": "O serviço recusou. Diz em inglês: {detail}"
}
