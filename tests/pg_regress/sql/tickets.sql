-- Tickets: next_ticket, next_tickets and the sequences that several servers share.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;

-- Two servers take turns: one has the odd tickets, one the even ones.
CREATE SCHEMA tickets;
SET search_path = tickets, public;
SELECT snowid.create_ticket_sequence('odd', 2, 1), snowid.create_ticket_sequence('even', 2, 2);
SELECT next_ticket('odd'), next_ticket('even'), next_ticket('odd'), next_ticket('even');
-- Three of three, from a start on: each the least that is its server's.
SELECT server, snowid.create_ticket_sequence('third_' || server, 3, server, 1000) FROM generate_series(1, 3) AS server;
SELECT server, array_agg(next_ticket('third_' || server)) FROM generate_series(1, 3) AS server, generate_series(1, 3) GROUP BY server ORDER BY server;
SELECT array_agg(snowid.first_ticket(3, server, start) ORDER BY server, start) FROM generate_series(1, 3) AS server, generate_series(1, 5) AS start;
SELECT snowid.first_ticket(1, 1, 7), snowid.first_ticket(2147483647, 2147483647), snowid.first_ticket(2147483647, 1, 2),
       snowid.first_ticket(2, 1, 9223372036854775807), snowid.first_ticket(2, 2, 9223372036854775806);
SELECT snowid.first_ticket(2, 2, 9223372036854775807);
\echo :SQLSTATE

-- They are native sequences of the caller's, and everything that knows sequences knows them.
SELECT * FROM pg_sequences WHERE schemaname = 'tickets' AND sequencename IN ('odd', 'even') ORDER BY sequencename;
SELECT obj_description('odd'::regclass, 'pg_class'), obj_description('third_2'::regclass, 'pg_class');
SELECT count(*) FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid IN ('odd'::regclass, 'even'::regclass) AND deptype = 'e';
SELECT nextval('odd'), currval('odd'), next_ticket('odd'), currval('odd'), lastval();
SELECT setval('odd', 101), next_ticket('odd');

-- Names are read as CREATE SEQUENCE reads them.
CREATE SCHEMA "Tickets 2";
SELECT snowid.create_ticket_sequence('"Tickets 2".orders', 2, 1), snowid.create_ticket_sequence('"Odd""s name"', 2, 1),
       snowid.create_ticket_sequence('UPPER', 2, 1), snowid.create_ticket_sequence('pg_temp.passing', 2, 1);
SELECT next_ticket('"Tickets 2".orders'), next_ticket('"Odd""s name"'), next_ticket('upper'), next_ticket('passing');
SET search_path = "Tickets 2", tickets, public;
SELECT snowid.create_ticket_sequence('here', 2, 1);
SELECT next_ticket('"Tickets 2".here');
SET search_path = '';
SELECT snowid.create_ticket_sequence('nowhere', 2, 1);
\echo :SQLSTATE
SET search_path = tickets, public;
SELECT snowid.create_ticket_sequence('odd', 2, 1);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('a.b.c', 2, 1);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('two words', 2, 1);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('missing.orders', 2, 1);
\echo :SQLSTATE
-- Refused
SELECT snowid.create_ticket_sequence('refused', 0, 1);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('refused', 2, 0);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('refused', 2, 3);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('refused', 2, 1, 0);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence(NULL, 2, 1);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('refused', NULL, 1);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('refused', 2, NULL);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('refused', 2, 1, NULL);
\echo :SQLSTATE
SELECT to_regclass('refused') IS NULL AS nothing_made;

-- A default
CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT next_ticket('third_1'), item text);
INSERT INTO orders (item) VALUES ('a'), ('b') RETURNING id;
COPY orders (item) FROM stdin;
c
d
\.
SELECT max(id) FROM orders;
DROP SEQUENCE third_1;
\echo :SQLSTATE
-- A rollback gives nothing back, nor does one to a savepoint, nor an error.
BEGIN;
SELECT next_ticket('even');
SAVEPOINT here;
SELECT next_ticket('even');
ROLLBACK TO here;
SELECT next_ticket('even');
ROLLBACK;
SELECT next_ticket('even') / 0;
SELECT next_ticket('even');

-- A block: so many values that follow each other, claimed in one step
SELECT next_tickets('third_2', 4);
SELECT next_ticket('third_2');
SELECT count(*), max(ticket) - min(ticket) AS span FROM next_tickets('third_2', 100000) AS ticket;
SELECT next_ticket('third_2');
SELECT next_tickets('third_2', 1);
SELECT next_tickets('third_2', 0);
SELECT last_value, log_cnt, is_called FROM third_2;
SELECT count(*), count(DISTINCT ticket), max(ticket) FROM (SELECT next_tickets('third_3', 10) AS ticket FROM generate_series(1, 1000)) AS drawn;
-- A new sequence's first value is of the block; a query that stops early leaves the rest unused.
CREATE SEQUENCE new_one;
SELECT next_tickets('new_one', 1000) LIMIT 2;
SELECT next_ticket('new_one');
SELECT count(*) FROM next_tickets('new_one', 10000000);
-- Sessions that cache values keep theirs.
CREATE SEQUENCE cached CACHE 10;
SELECT next_ticket('cached');
SELECT next_tickets('cached', 3);
SELECT next_ticket('cached'), nextval('cached');
-- Other increments
CREATE SEQUENCE down INCREMENT -3 MAXVALUE -1 MINVALUE -20;
SELECT next_ticket('down'), (SELECT array_agg(ticket) FROM next_tickets('down', 3) AS ticket);
SELECT next_tickets('down', 4);
\echo :SQLSTATE
SELECT next_tickets('down', 3);
SELECT next_ticket('down');
\echo :SQLSTATE
CREATE SEQUENCE small AS smallint START 32766;
SELECT next_tickets('small', 3);
SELECT next_tickets('small', 2);
SELECT next_tickets('small', 1);
\echo :SQLSTATE
SELECT next_ticket('small');
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('at_the_end', 3, 3, 9223372036854775800);
SELECT next_tickets('at_the_end', 4);
SELECT next_tickets('at_the_end', 3);
SELECT next_ticket('at_the_end');
\echo :SQLSTATE
SELECT next_tickets('new_one', -1);
\echo :SQLSTATE
SELECT next_tickets('new_one', 10000001);
\echo :SQLSTATE
SELECT next_ticket(NULL) IS NULL AS ticket, (SELECT count(*) FROM next_tickets(NULL, 1)) AS tickets, (SELECT count(*) FROM next_tickets('odd', NULL)) AS no_count;

-- Not from what could repeat, nor from what is no sequence
CREATE UNLOGGED SEQUENCE unlogged;
SELECT next_ticket('unlogged');
\echo :SQLSTATE
SELECT next_tickets('unlogged', 1);
\echo :SQLSTATE
ALTER SEQUENCE unlogged SET LOGGED;
SELECT next_ticket('unlogged');
CREATE SEQUENCE cycling MAXVALUE 3 CYCLE;
SELECT next_ticket('cycling');
\echo :SQLSTATE
SELECT next_tickets('cycling', 0);
\echo :SQLSTATE
ALTER SEQUENCE cycling NO CYCLE;
SELECT next_tickets('cycling', 3);
SELECT next_ticket('orders');
\echo :SQLSTATE
SELECT next_tickets('orders_pkey', 1);
\echo :SQLSTATE
SELECT next_ticket('no_such');
\echo :SQLSTATE
-- The oid of what is gone.
SELECT next_ticket(99999999::regclass);
\echo :SQLSTATE
SELECT next_tickets(99999999::regclass, 2);
\echo :SQLSTATE
-- Temporary ones: the session's own
SELECT next_ticket('passing'), (SELECT array_agg(ticket) FROM next_tickets('passing', 2) AS ticket), next_ticket('passing');

-- As nextval: not in a read-only transaction, not in parallel
BEGIN READ ONLY;
SELECT next_ticket('passing');
SELECT next_ticket('odd');
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT next_tickets('odd', 1);
\echo :SQLSTATE
ROLLBACK;
SELECT next_ticket('odd');

-- Who may draw: whoever has USAGE or UPDATE.
CREATE ROLE regress_snowid_tickets;
GRANT USAGE ON SCHEMA tickets TO regress_snowid_tickets;
GRANT SELECT ON SEQUENCE odd TO regress_snowid_tickets;
GRANT USAGE ON SEQUENCE even TO regress_snowid_tickets;
SET ROLE regress_snowid_tickets;
SELECT next_ticket('odd');
\echo :SQLSTATE
SELECT next_tickets('odd', 0);
\echo :SQLSTATE
SELECT next_ticket('even'), (SELECT array_agg(ticket) FROM next_tickets('even', 2) AS ticket);
SELECT snowid.create_ticket_sequence('pg_temp.mine', 2, 1);
\echo :SQLSTATE
SELECT snowid.create_range_sequence('pg_temp.mine', 2, 1);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('even', 1000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('even', 3, 1, 1000);
\echo :SQLSTATE
-- The view shows what its reader may read.
SELECT relation, part, parts, last_value FROM snowid.sequences WHERE relation::text ~ '^(odd|even|small|third_2)$' ORDER BY 1;
RESET ROLE;
-- What it is granted it does with its own rights.
GRANT EXECUTE ON FUNCTION snowid.create_ticket_sequence, snowid.cap_ticket_sequence, snowid.resize_ticket_sequence TO regress_snowid_tickets;
SET ROLE regress_snowid_tickets;
SELECT snowid.create_ticket_sequence('tickets.theirs', 2, 1);
\echo :SQLSTATE
SELECT snowid.create_ticket_sequence('pg_temp.mine', 2, 1);
SELECT snowid.cap_ticket_sequence('even', 1000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('even', 2, 2, 1000);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('pg_temp.mine', 1000);
SELECT snowid.resize_ticket_sequence('pg_temp.mine', 3, 1, 1000);
RESET ROLE;
DROP OWNED BY regress_snowid_tickets;
DROP ROLE regress_snowid_tickets;

-- Nothing depends on search_path.
CREATE SCHEMA tickets_fake;
CREATE FUNCTION tickets_fake.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$ SELECT 'fake' $$;
CREATE FUNCTION tickets_fake.nextval(regclass) RETURNS bigint LANGUAGE sql AS $$ SELECT -1::bigint $$;
CREATE FUNCTION tickets_fake.current_schema() RETURNS name LANGUAGE sql AS $$ SELECT 'fake'::name $$;
SET search_path = tickets_fake, tickets, public, pg_catalog;
SELECT snowid.create_ticket_sequence('real', 2, 1), snowid.create_range_sequence('real_range', 2, 1);
SELECT relation, kind FROM snowid.sequences WHERE relation IN ('real'::regclass, 'real_range') ORDER BY relation;
SELECT public.next_ticket('real'), obj_description('tickets_fake.real'::regclass, 'pg_class');
SET search_path = tickets, public;

-- From two servers to three: all are capped below a start, then each goes on as one of three.
SELECT relation, part, parts, first, last, last_value, used FROM snowid.sequences WHERE relation IN ('odd'::regclass, 'even') ORDER BY relation;
SELECT snowid.resize_ticket_sequence('odd', 3, 1, 1000);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('odd', 105);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('odd', 1);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('odd', 1001), snowid.cap_ticket_sequence('odd', 1000), snowid.cap_ticket_sequence('even', 1000);
SELECT relation, part, parts, first, last FROM snowid.sequences WHERE relation IN ('odd'::regclass, 'even') ORDER BY relation;
SELECT next_ticket('odd'), next_ticket('even');
SELECT snowid.resize_ticket_sequence('odd', 3, 1, 1001);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('odd', 3, 4, 1000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('odd', 3, 3, 1000);
-- Those that are not resized yet end below the start.
SELECT max(ticket) FROM next_tickets('even', 450) AS ticket;
SELECT count(*) FROM generate_series(1, 1000) WHERE next_ticket('even') >= 1000;
\echo :SQLSTATE
SELECT next_ticket('odd'), next_ticket('odd');
-- Nor is one that was forgotten let on, beyond the start, by the cap of the next resize.
SELECT snowid.cap_ticket_sequence('even', 2000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('even', 3, 2, 1000);
SELECT snowid.create_ticket_sequence('added', 3, 1, 1000);
SELECT next_ticket('odd'), next_ticket('even'), next_ticket('added'), next_ticket('odd'), next_ticket('even'), next_ticket('added');
SELECT relation, part, parts, first, last, last_value, used FROM snowid.sequences WHERE relation IN ('odd'::regclass, 'even', 'added') ORDER BY relation;
-- It can't fall back below the start: neither by a restart nor by setval.
ALTER SEQUENCE even RESTART;
SELECT next_ticket('even');
SELECT setval('even', 4);
\echo :SQLSTATE
-- The commit of either is one that lasts.
BEGIN;
SET LOCAL synchronous_commit = off;
SELECT snowid.cap_ticket_sequence('added', 2000);
SHOW synchronous_commit;
ROLLBACK;
BEGIN;
SET LOCAL synchronous_commit = remote_apply;
SELECT snowid.cap_ticket_sequence('added', 2000);
SHOW synchronous_commit;
ROLLBACK;
-- Of what the comment says, which is its owner's to write, a few digits are shown and nothing is executed: what is
-- capped and counted is the sequence itself.
CREATE SEQUENCE forged;
COMMENT ON SEQUENCE forged IS 'pg_snowid tickets: server 9999999999 of 0); DROP TABLE orders; --';
SELECT relation, kind, part, parts, first, last FROM snowid.sequences WHERE relation = 'forged'::regclass;
SELECT snowid.cap_ticket_sequence('forged', 1000), snowid.resize_ticket_sequence('forged', 3, 1, 1000);
SELECT obj_description('forged'::regclass, 'pg_class'), to_regclass('orders') IS NOT NULL AS there;
COMMENT ON SEQUENCE forged IS 'pg_snowid tickets: server 99999999999999999999 of 3';
SELECT count(*) FROM snowid.sequences WHERE relation = 'forged'::regclass;
-- Not what is no ticket sequence
SELECT snowid.cap_ticket_sequence('small', 1000);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('orders', 1000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('small', 3, 1, 1000);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence(NULL, 1000);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('odd', NULL);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence(NULL, 3, 1, 1000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('odd', NULL, 1, 1000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('odd', 3, NULL, 1000);
\echo :SQLSTATE
SELECT snowid.resize_ticket_sequence('odd', 3, 1, NULL);
\echo :SQLSTATE
SELECT snowid.cap_ticket_sequence('odd', -9223372036854775808);
\echo :SQLSTATE

RESET search_path;
SET client_min_messages = warning;
DROP SCHEMA tickets, "Tickets 2", tickets_fake CASCADE;
