-- The sweeper looks for webhooks that wait for an empty backlog every second. They are few.
create index webhooks_backlog_full on webhooks (id) where unhealthy_reason = 'backlog_full';
