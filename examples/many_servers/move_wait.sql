-- Included by move_switch.sql, on the old server: waits until the new one has confirmed lsn.
SET move.shard = :'schema';
SET move.lsn = :'lsn';
DO $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = current_setting('move.shard')
                         AND confirmed_flush_lsn >= current_setting('move.lsn')::pg_lsn) LOOP
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
