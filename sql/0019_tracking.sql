-- Opens and clicks of email. Off unless the owner of a domain, or whoever sends, wants them.
alter table email_domains
  add column track_opens boolean not null default false,
  add column track_clicks boolean not null default false;

-- links: where the counted links of a mail lead, in the order that their tokens name; null when none are counted.
alter table email_batches
  add column track_opens boolean not null default false,
  add column links text[];

-- links: of an email of its own. opens and clicks count all, machine_opens and bot_clicks those of programs among them;
-- the times are the first ones.
alter table email_messages
  add column if not exists opens integer not null default 0,
  add column if not exists clicks integer not null default 0,
  add column if not exists opened_at timestamptz,
  add column if not exists clicked_at timestamptz,
  add column machine_opens integer not null default 0,
  add column bot_clicks integer not null default 0,
  add column links text[];

-- The links of a message that were followed. An event tells of each once, and once more of the first reader after bots.
create table email_clicks (
  message_id bigint not null references email_messages (id) on delete cascade,
  link smallint not null,
  clicks integer not null default 0,
  bot_clicks integer not null default 0,
  clicked_at timestamptz not null,
  primary key (message_id, link)
);
