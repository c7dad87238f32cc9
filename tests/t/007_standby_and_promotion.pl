# Proves on a streaming standby that generating is refused there as nextval is (SQLSTATE 25006), that
# decoding, composing and the views work, and that after promotion the very session that was refused
# generates: distinct ids, greater than those that the tables hold. The same where nothing is
# preloaded, on the majors that allow it.
#
# It would fail if a standby could make ids beside its primary, or if a session kept in mind that it
# was once on a standby.

use strict;
use warnings;

use Test::More;
use Snowid;

my @generating = (
	[ 'next_id(5)', 'next_id' ],
	[ "next_id(5, '2025-01-01+00')", 'next_id' ],
	[ 'next_ids(5, 3)', 'next_ids' ],
	[ 'snowflake_id()', 'snowflake_id' ],
	[ 'snowflake_id(1, 2)', 'snowflake_id' ],
	[ 'snowflake_ids(3)', 'snowflake_ids' ],
	[ 'app.next_id()', 'next_id' ],
	[ 'snowid.advance(4212345678901234176)', 'snowid.advance' ],
	[ 'snowid.advance_snowflake(4212345678901234176)', 'snowid.advance_snowflake' ]);

my $pure = <<'SQL';
SET timezone = 'UTC';
SELECT make_id('2026-01-01+00', 5, 9), id_floor('2026-01-01+00'), make_snowflake_id('2026-01-01+00', 1, 2, 3);
SELECT decode_id(3706503089356805120), decode_snowflake(1234567890123456789), id_timestamp(3706503089356805120, '2025-01-01+00');
SELECT app.decode_id(max(id)), count(*) FROM t;
SELECT version IS NOT NULL, next_id_exhausts_at FROM snowid.status;
SQL

sub prove_promotion
{
	my ($name, $preload) = @_;
	my $primary = server("primary_$name", preload => $preload, init => [ allows_streaming => 1 ],
		conf => "pg_snowid.datacenter_id = 1\npg_snowid.worker_id = 2");
	$primary->safe_psql('postgres', <<'SQL');
CREATE SCHEMA app;
SELECT snowid.bind_schema('app', epoch => '2025-01-01+00', shard_id => 5);
CREATE TABLE t (id bigint PRIMARY KEY DEFAULT app.next_id(), n integer);
CREATE SEQUENCE s;
SQL
	$primary->backup('backup');
	my $standby = PostgreSQL::Test::Cluster->new("standby_$name");
	$standby->init_from_backup($primary, 'backup', has_streaming => 1);
	$standby->start;
	$primary->safe_psql('postgres', 'INSERT INTO t (n) SELECT g FROM generate_series(1, 5000) AS g');
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

	my $session = background($standby, 'postgres');
	is($session->query_safe('SELECT pg_is_in_recovery()'), 't', "$name: a session is on the standby");

	$session->query("SELECT nextval('s')");
	like($session->{stderr}, qr/25006: +cannot execute nextval\(\)/, "$name: nextval is refused there");
	for my $case (@generating)
	{
		my ($call, $function) = @$case;
		$session->{stderr} = '';
		$session->query("SELECT $call");
		like($session->{stderr}, qr/25006: +cannot execute \Q$function\E\(\) during recovery/, "$name: and so is $call");
	}
	$session->{stderr} = '';
	is($session->query_safe($pure), $primary->safe_psql('postgres', $pure), "$name: decoding, composing and snowid.status work there");
	is($session->query_safe('SELECT count(*) FROM snowid.generators'), '0', "$name: and snowid.generators, which has nothing to show");

	$primary->stop('immediate');
	$standby->promote;
	is($session->query_safe('SELECT pg_is_in_recovery()'), 'f', "$name: the standby is promoted under the session");
	for my $case (@generating)
	{
		my ($call) = @$case;
		next if $call =~ /advance/;
		$session->query("SELECT $call");
		is($session->{stderr}, '', "$name: the very session now runs $call");
		$session->{stderr} = '';
	}
	is( $session->query_safe(
			'WITH before AS (SELECT max(id) FROM t), new AS (INSERT INTO t (n) SELECT -g FROM generate_series(1, 5000) AS g RETURNING id) '
			. 'SELECT count(DISTINCT id), bool_and(id > max) FROM new, before'),
		'5000|t', "$name: and inserts, with ids greater than those of its tables");
	is($standby->safe_psql('postgres', 'SELECT count(DISTINCT id) FROM t'), '10000', "$name: all distinct");
	cmp_ok($standby->safe_psql('postgres', 'SELECT app.next_id()'), '>', $standby->safe_psql('postgres', 'SELECT max(id) FROM t'),
		"$name: another session goes on behind it");
	$session->quit;
	my $major = major($standby);
	$standby->stop;
	return $major;
}

my $major = prove_promotion('preloaded', 1);
SKIP: {
	skip 'nothing to show without preloading before PostgreSQL 17', 1 if $major < 17;
	prove_promotion('plain', 0);
}

done_testing();
