-- Test keys may do what their owner may do: the shadow accounts of owners in their trial are in it too.
update accounts s set trial_ends_at = o.trial_ends_at
from accounts o where s.shadow_of = o.id and o.trial_ends_at is not null;
