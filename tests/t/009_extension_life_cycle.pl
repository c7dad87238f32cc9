# Proves that ids go on, distinct and increasing, over all that can happen to the extension and its
# server short of a crash: dropped and created again, in another schema, made by an ordinary database
# owner, copied with its database, the server restarted. And that it cannot be dropped from under a
# default.
#
# It would fail if ids depended on the extension's objects, if something named the schema public, or
# if a restart or DROP EXTENSION made a shard start over.

use strict;
use warnings;

use Test::More;
use Snowid;

my $node = server('main', extension => 0);
my $last = 0;

# Draws from the shard and tests that it goes on.
sub goes_on
{
	my ($database, $function, $name) = @_;
	my @ids = split /\n/, $node->safe_psql($database, "SELECT $function(5) FROM generate_series(1, 3000)");
	cmp_ok($ids[0], '>', $last, "$name: ids go on, greater than before");
	my $disorder = grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids;
	is($disorder, 0, "$name: @{[ scalar @ids ]} in order");
	$last = $ids[-1];
	return;
}

# --- Dropped and created again ---

$node->safe_psql('postgres', 'CREATE EXTENSION pg_snowid');
goes_on('postgres', 'next_id', 'created');
$node->safe_psql('postgres', 'DROP EXTENSION pg_snowid');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname ~ '^snowid'"), '0', 'dropped: nothing is left');
like(error_of($node, 'postgres', 'SELECT next_id(5)'), qr/42883: +function next_id\(integer\) does not exist/, 'dropped: no function either');
$node->safe_psql('postgres', 'CREATE EXTENSION pg_snowid');
goes_on('postgres', 'next_id', 'created again');
my $session = background($node, 'postgres');
$last = $session->query_safe('SELECT next_id(5)');
$node->safe_psql('postgres', 'DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid');
cmp_ok($session->query_safe('SELECT next_id(5)'), '>', $last, 'created again under an open session: it goes on too');
$session->quit;
goes_on('postgres', 'next_id', 'after that');

# --- What depends on it ---

my %dependents = (
	'a default' => [ 'CREATE TABLE d (id bigint DEFAULT next_id(5))', 'default value for column id of table d', 'DROP TABLE d' ],
	'a generated column' => [ 'CREATE TABLE d (id bigint, at timestamptz GENERATED ALWAYS AS (id_timestamp(id)) STORED)', 'column at of table d', 'DROP TABLE d' ],
	'an index' => [ 'CREATE TABLE d (id bigint); CREATE INDEX d_time ON d (id_timestamp(id))', 'index d_time', 'DROP TABLE d' ],
	'a bound schema' => [ "CREATE SCHEMA app; SELECT snowid.bind_schema('app', shard_id => 5)", 'function app.next_id()', 'DROP SCHEMA app CASCADE' ]);
for my $what (sort keys %dependents)
{
	my ($make, $named, $clean) = @{ $dependents{$what} };
	$node->safe_psql('postgres', $make);
	like(error_of($node, 'postgres', 'DROP EXTENSION pg_snowid'),
		qr/2BP01: +cannot drop extension pg_snowid because other objects depend on it\nDETAIL: .*\Q$named\E depends on/s,
		"$what keeps the extension from being dropped");
	goes_on('postgres', 'next_id', "after that refusal ($what)");
	$node->safe_psql('postgres', $clean);
}
like(error_of($node, 'postgres', 'DROP SCHEMA snowid CASCADE'), qr/2BP01: +cannot drop schema snowid because extension pg_snowid requires it/,
	'the schema snowid cannot be dropped alone');
like(error_of($node, 'postgres', 'CREATE SCHEMA other; ALTER EXTENSION pg_snowid SET SCHEMA other'),
	qr/0A000: +extension "pg_snowid" does not support SET SCHEMA/, 'nor can the extension be moved');
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA app;
SELECT snowid.bind_schema('app', shard_id => 5);
CREATE TABLE app.t (id bigint DEFAULT app.next_id(), n integer);
INSERT INTO app.t (n) VALUES (1);
DROP EXTENSION pg_snowid CASCADE;
INSERT INTO app.t (n) VALUES (2);
SQL
is($node->safe_psql('postgres', 'SELECT count(id), count(*) FROM app.t'), '1|2', 'dropped with CASCADE: the rows stay, the default is gone');

# --- In another schema, whose name must be quoted ---

$node->safe_psql('postgres', 'CREATE SCHEMA "Other Schema"; CREATE EXTENSION pg_snowid SCHEMA "Other Schema"');
goes_on('postgres', '"Other Schema".next_id', 'in another schema');
like(error_of($node, 'postgres', 'SELECT next_id(5)'), qr/42883:/, 'in another schema: only there');
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA app_2;
SELECT snowid.bind_schema('app_2', epoch => '2025-01-01+00', shard_id => 5);
CREATE TABLE app_2.t (id bigint DEFAULT app_2.next_id(), at timestamptz);
SET search_path = pg_catalog;
INSERT INTO app_2.t SELECT app_2.next_id(), clock_timestamp() FROM generate_series(1, 100);
SQL
is( $node->safe_psql('postgres', q(SET search_path = pg_catalog;
		SELECT count(DISTINCT id), bool_and(abs(extract(epoch FROM app_2.id_timestamp(id) - at)) < 1) FROM app_2.t;
		SELECT count(*) FROM snowid.generators; SELECT count(*) FROM snowid.status)),
	"100|t\n1\n1", 'in another schema: binding and the views work, whatever the search_path');
goes_on('postgres', '"Other Schema".next_id', 'after the bound schema drew from the same shard');

# --- By the owner of a database, who is no superuser ---

$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE user_of_it LOGIN; CREATE DATABASE owned OWNER owner');
my $as_owner = "SET SESSION AUTHORIZATION owner;\n";
is(error_of($node, 'owned', "$as_owner CREATE EXTENSION pg_snowid"), '', 'the owner of a database creates the extension');
is(error_of($node, 'owned', "$as_owner CREATE SCHEMA app; SELECT snowid.bind_schema('app', epoch => '2025-01-01+00'); SELECT * FROM snowid.generators, snowid.status; SELECT snowid.advance(next_id(7))"),
	'', 'and administers it');
goes_on('owned', 'next_id', 'in the database of an ordinary owner');
my $as_user = "SET SESSION AUTHORIZATION user_of_it;\n";
is(error_of($node, 'owned', "$as_user SELECT next_id(5), decode_id(next_id(5))"), '', 'any user generates and decodes there');
like(error_of($node, 'owned', "$as_user SELECT snowid.advance(next_id(5))"), qr/42501: +permission denied for function advance/, 'but does not administer');
is(error_of($node, 'owned', "$as_owner DROP EXTENSION pg_snowid CASCADE; CREATE EXTENSION pg_snowid"), '', 'the owner drops it and creates it again');
goes_on('owned', 'next_id', 'after that');

# --- Copied with its database ---

$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE owned');
goes_on('copy', 'next_id', 'in a copy of the database');
goes_on('owned', 'next_id', 'in the original');

# --- Restarts ---

for my $mode ('fast', 'smart')
{
	$node->stop($mode);
	$node->start;
	goes_on('copy', 'next_id', "after a restart ($mode)");
	goes_on('postgres', '"Other Schema".next_id', "after a restart ($mode), in another database");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM snowid.generators'), '1', 'after a restart the view shows what was used since');

done_testing();
