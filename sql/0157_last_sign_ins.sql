-- When a person signed in last. Their sign-ins are deleted when they end.
alter table people add column last_sign_in_at timestamptz;
update people p set last_sign_in_at = (select max(created_at) from login_sessions s where s.person_id = p.id);
