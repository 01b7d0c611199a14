import type { attention as english } from "../en/attention.ts"

/** What needs attention: a sentence and a button for each kind. */
export const attention: Readonly<Record<keyof typeof english, string>> = {
  "attention.since": "Desde {time}.",
  "attention.webhook_unhealthy": "O webhook {name} está com falhas. Ele não recebe eventos novos.",
  "attention.webhook_unhealthy.button": "Abrir o webhook",
  "attention.webhook_failing": "O webhook {name} está falhando agora. Os eventos dele são enviados de novo.",
  "attention.webhook_failing.button": "Abrir o webhook",
  "attention.session_failed": "A sessão do WhatsApp {name} parou. Vincule o telefone dela de novo.",
  "attention.session_failed.button": "Abrir a sessão",
  "attention.session_disconnected": "A sessão do WhatsApp {name} está desconectada.",
  "attention.session_disconnected.button": "Abrir a sessão",
  "attention.session_unpaired": "A sessão do WhatsApp {name} espera um telefone.",
  "attention.session_unpaired.button": "Mostrar o código QR",
  "attention.domain_lost": "Um registro DNS do domínio de envio {name} está ausente ou incorreto.",
  "attention.domain_lost.button": "Abrir o domínio",
  "attention.domain_pending": "O domínio de envio {name} ainda não foi verificado.",
  "attention.domain_pending.button": "Abrir o domínio",
  "attention.bounces_high":
    "Muitos e-mails das últimas 24 horas foram devolvidos. Remova os endereços que não existem.",
  "attention.bounces_high.button": "Mostrar os e-mails devolvidos",
  "attention.complaints_high": "Muitos e-mails das últimas 24 horas foram denunciados como spam.",
  "attention.complaints_high.button": "Mostrar as denúncias",
  "attention.quota_reached": "A cota do mês se esgotou: {name}.",
  "attention.quota_reached.button": "Mostrar o consumo",
  "attention.quota_near": "Mais de 80 por cento de uma cota foram usados: {name}.",
  "attention.quota_near.button": "Mostrar o consumo",
  "attention.trial_ending": "A avaliação termina em menos de 24 horas.",
  "attention.trial_ending.button": "Mostrar o consumo",
  "attention.relay_away":
    "O servidor de saída está fora do ar. Nada se perde: os e-mails esperam e são enviados quando ele voltar.",
  "attention.relay_away.button": "Mostrar as mensagens em espera",
  "attention.carrier_away":
    "A operadora móvel está fora do ar. Nada se perde: os SMS esperam e são enviados quando ela voltar.",
  "attention.carrier_away.button": "Mostrar as mensagens em espera",
  "attention.queue_late":
    "As mensagens por {name} esperam há mais de um minuto. O servidor de saída ou a operadora móvel pode estar fora do ar.",
  "attention.queue_late.whatsapp":
    "As mensagens do WhatsApp esperam há mais de um minuto. A sessão delas pode estar desconectada ou ter atingido o limite.",
  "attention.queue_late.button": "Mostrar as mensagens em espera",
  "attention.codes_late":
    "Os códigos de uso único por {name} esperam há mais de 10 segundos. O servidor de saída ou a operadora móvel pode estar fora do ar.",
  "attention.codes_late.whatsapp":
    "Os códigos de uso único pelo WhatsApp esperam há mais de 10 segundos. A sessão deles pode estar desconectada ou ter atingido o limite.",
  "attention.codes_late.button": "Mostrar os códigos",
  "attention.codes_blocked": "Os códigos para números que começam com {name} são retidos por provável fraude.",
  "attention.codes_blocked.button": "Mostrar os números bloqueados",
  "attention.key_expiring": "A chave de API {name} expira em menos de sete dias.",
  "attention.key_expiring.button": "Abrir as chaves",
  "attention.key_unused": "A chave de API {name} não é usada há 90 dias.",
  "attention.key_unused.button": "Abrir as chaves",
  "attention.no_second_factor": "O proprietário entra somente com uma senha.",
  "attention.no_second_factor.button": "Adicionar um segundo fator"
}
