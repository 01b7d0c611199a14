-- What the sandbox's simulated WhatsApp remembers: virtual phones with their keys, linked devices, chats, groups and
-- stanzas that wait, each as JSON under a name of its own. Empty where another WhatsApp is configured. The keys are those
-- of phones that do not exist, and guard nothing.
create table sandbox_whatsapp (
  name text primary key,
  value text not null
);

-- The node that runs the simulator tells the others its port on the loopback interface.
create table sandbox_whatsapp_host (
  only_row boolean primary key default true check (only_row),
  port integer not null,
  since timestamptz not null default now()
);
