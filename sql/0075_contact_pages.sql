-- Pages of contacts are read per session from their newest.
create index whatsapp_contacts_newest on whatsapp_contacts (session_id, id desc);
