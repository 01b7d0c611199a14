-- When a session came to its status: `updated_at` also changes with each failed attempt and each new name.
alter table whatsapp_sessions add column status_since timestamptz not null default now();
update whatsapp_sessions set status_since = updated_at;
