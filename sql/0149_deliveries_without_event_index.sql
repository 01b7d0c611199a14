-- Each delivery changed both.
drop index webhook_queue_event;
drop index webhook_deliveries_event;
