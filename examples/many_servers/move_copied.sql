-- Included by the steps of a move, on the new server: waits until every table has been copied.
SET move.shard = :'schema';
DO $$
BEGIN
    WHILE EXISTS (SELECT FROM pg_subscription s JOIN pg_subscription_rel r ON r.srsubid = s.oid
                   WHERE s.subname = current_setting('move.shard') AND r.srsubstate <> 'r') LOOP
        PERFORM pg_sleep(0.1);
    END LOOP;
END $$;
