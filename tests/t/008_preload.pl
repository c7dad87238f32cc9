# Proves what works where the library is preloaded and where it isn't. PostgreSQL 15 and 16: generating
# without preloading is one clear error with a hint, all else works, and doing what the hint says is
# the cure. From 17 on: all works after a plain CREATE EXTENSION, shared by all sessions and
# databases, and the state outlives them. Everywhere: an ordinary user cannot slip a setting in before
# the library is loaded.
#
# It would fail if the error were an internal one or a crash, if each session or database had a state
# of its own, or if the state went away with the last session.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $node = server('main', preload => 0);
my $major = major($node);

# --- What needs no shared memory works on each ---

my $pure = <<'SQL';
SET timezone = 'UTC';
CREATE SCHEMA app;
SELECT snowid.bind_schema('app', epoch => '2025-01-01+00', shard_id => 5);
CREATE TABLE app.t (id bigint DEFAULT app.next_id(), n integer);
CREATE TABLE decoded (id bigint PRIMARY KEY, at timestamptz GENERATED ALWAYS AS (id_timestamp(id)) STORED);
INSERT INTO decoded VALUES (make_id('2026-01-01+00', 5, 9));
SELECT id_shard(id), id_sequence(id), at, decode_snowflake(make_snowflake_id(at, 1, 2, 3)), app.id_floor(at) > 0, id >= id_floor(at) FROM decoded;
SELECT count(*) FROM snowid.generators;
SQL
my $worked = $node->safe_psql('postgres', $pure);
is($worked, qq(\n5|9|2026-01-01 00:00:00+00|("2026-01-01 00:00:00+00",1,2,3)|t|t\n0),
	"PostgreSQL $major, nothing preloaded: decoding, composing, binding and the views work");

if ($major < 17)
{
	my $error = qr{55000: +pg_snowid must be loaded via "shared_preload_libraries" to generate IDs\nDETAIL: .*\nHINT: +Add pg_snowid to "shared_preload_libraries" in postgresql.conf and restart the server};
	my @generating = ('SELECT next_id(5)', 'SELECT count(*) FROM next_ids(5, 3)', 'SELECT snowflake_id(1, 2)',
		"SELECT next_id(5, '2025-01-01+00')", 'INSERT INTO app.t (n) VALUES (1)',
		'SELECT snowid.advance(4212345678901234176)');
	my $session = background($node, 'postgres');
	for my $sql (@generating)
	{
		$session->{stderr} = '';
		$session->query($sql);
		like($session->{stderr}, $error, "PostgreSQL $major, not preloaded: $sql says what to add");
	}
	$session->{stderr} = '';
	is($session->query_safe('SELECT shared_memory FROM snowid.status'),
		'none: pg_snowid is not in shared_preload_libraries', 'and so does snowid.status');
	is($session->query_safe('SELECT id_shard(id) FROM decoded'), '5', 'the session goes on');
	$session->quit;

	# What loads the library too late.
	for my $late ("LOAD 'pg_snowid'", 'SET session_preload_libraries = pg_snowid')
	{
		like(error_of($node, 'postgres', "$late; SELECT next_id(5)"), $error, "$late is no cure, and no crash");
	}
	$node->safe_psql('postgres', 'ALTER SYSTEM SET session_preload_libraries = pg_snowid');
	$node->restart;
	like(error_of($node, 'postgres', 'SELECT next_id(5)'), $error, 'session_preload_libraries is no cure, and no crash');
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET session_preload_libraries');
	$node->restart;
}
else
{
	$node->safe_psql('postgres', 'CREATE DATABASE second');
	$node->safe_psql('second', 'CREATE EXTENSION pg_snowid');
	is($node->safe_psql('second', "SELECT shared_memory FROM snowid.status"), 'dsm registry',
		"PostgreSQL $major, not preloaded: the state is in the DSM registry");
	my $copy = 'COPY (SELECT next_id(5) FROM generate_series(1, 50000)) TO STDOUT';
	my $is = survey([ at_once($node, map { [ $_, $copy ] } ('postgres', 'second') x 4) ]);
	is($is->{distinct}, 400_000, "eight new sessions in two databases: $is->{distinct} distinct ids, $is->{repeated} repeated");
	is($is->{disordered}, 0, 'each in order');
	cmp_ok($is->{at_once}, '>', 1, "$is->{at_once} of them at one moment");
	$node->safe_psql('postgres', 'INSERT INTO app.t (n) SELECT g FROM generate_series(1, 10) AS g');

	# No session is left that has the segment mapped.
	$node->poll_query_until('template1', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'");
	my $last = $node->safe_psql('postgres', 'SELECT last_id FROM snowid.generators WHERE shard_id = 5');
	cmp_ok((fields($last))[0], '>=', $is->{last_ms}, 'the state outlives the sessions');
	cmp_ok($node->safe_psql('second', 'SELECT next_id(5)'), '>', $last, 'and ids go on from it');
}

# --- A setting that an ordinary user sets before the library is there ---

$node->safe_psql('postgres', 'CREATE ROLE ordinary LOGIN');
my $slipped_in = 'SET ROLE ordinary; SET pg_snowid.max_clock_regression = 2000000000; SELECT id_shard(0)';
like(error_of($node, 'postgres', $slipped_in), qr/55P02: +parameter "pg_snowid.max_clock_regression" cannot be set before pg_snowid is loaded/,
	'an ordinary user cannot slip a setting in before the library is loaded');
is($node->safe_psql('postgres', 'SET ROLE ordinary; SET pg_snowid.max_clock_regression = 2000000000; RESET ALL; RESET ROLE; SELECT id_shard(0); SHOW pg_snowid.max_clock_regression'),
	"0\n1min", 'nor once it is reset');

# --- The cure ---

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_snowid'");
$node->restart;
is($node->safe_psql('postgres', 'SELECT shared_memory FROM snowid.status'), 'preloaded', "PostgreSQL $major, preloaded: says so");
is($node->safe_psql('postgres', 'INSERT INTO app.t (n) SELECT g FROM generate_series(1, 1000) AS g; SELECT count(DISTINCT id) >= 1000, count(DISTINCT id) = count(*) FROM app.t'),
	't|t', 'what was made before now generates');
for my $sql ("LOAD 'pg_snowid'", 'SET session_preload_libraries = pg_snowid')
{
	is(error_of($node, 'postgres', "$sql; SELECT next_id(5)"), '', "$sql does no harm then");
}
like(error_of($node, 'postgres', 'SET ROLE ordinary; SET pg_snowid.max_clock_regression = 2000000000'),
	qr/55P02: +parameter "pg_snowid.max_clock_regression" cannot be changed now/, 'an ordinary user can change no setting');
like(error_of($node, 'postgres', 'SET pg_snowid.unheard_of = 1'), qr/42602: +invalid configuration parameter name "pg_snowid.unheard_of"/,
	'and nobody one that does not exist');

done_testing();
