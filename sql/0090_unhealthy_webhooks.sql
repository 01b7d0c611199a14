-- The metrics count unhealthy webhooks at every scrape.
create index webhooks_unhealthy on webhooks (unhealthy_reason) where unhealthy_reason is not null;
