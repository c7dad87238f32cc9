-- Without pg_snowid.etcd_endpoints the settings say which worker this server is. Leases are in tests/t/23*.pl.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_snowid;
RESET client_min_messages;

SELECT worker_source, node_name, lease_until, lease_problem FROM snowid.status;
SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'pg_snowid%';
SELECT pg_stat_file('pg_snowid.lease', true) IS NULL AS no_file;

-- There is nothing to release.
SELECT snowid.release_worker();
\echo :SQLSTATE

-- The pair is the whole server's: for superusers alone, whoever created the extension.
CREATE ROLE regress_snowid_lease;
SET ROLE regress_snowid_lease;
SELECT snowid.release_worker();
\echo :SQLSTATE
RESET ROLE;
DROP ROLE regress_snowid_lease;
SELECT proacl FROM pg_proc WHERE oid = 'snowid.release_worker()'::regprocedure \gset
SELECT acl.grantee::regrole = current_user::regrole AS own_alone FROM aclexplode(:'proacl'::aclitem[]) AS acl;
