# Proves promise 6, decoding is pure, where it matters most: a database whose tables are built on ids
# (defaults, bound schemas, generated columns, indexes, checks, partitions) is dumped and restored into
# another server, under another TimeZone and DateStyle, and has the same values there; inserts go on,
# with greater ids, into the right partitions.
#
# It would fail if a function read a setting, a table or the search_path, if a bound schema were not the
# user's own object, or if the order of a dump could not be restored.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $from = server('from', extension => 0, conf => "TimeZone = 'America/St_Johns'\nDateStyle = 'SQL, DMY'");
my $to = server('to', extension => 0, conf => "TimeZone = 'Asia/Kathmandu'\nDateStyle = 'German, MDY'");

$from->safe_psql('postgres', 'CREATE DATABASE here');
$from->safe_psql('here', <<'SQL');
CREATE SCHEMA ext;
CREATE EXTENSION pg_snowid SCHEMA ext;

-- Not bound: the shard is in the default.
CREATE TABLE plain (
    id bigint PRIMARY KEY DEFAULT ext.next_id(5),
    created_at timestamptz GENERATED ALWAYS AS (ext.id_timestamp(id)) STORED,
    n integer,
    CHECK (ext.id_shard(id) = 5)
);
CREATE INDEX plain_time ON plain (ext.id_timestamp(id));

-- Bound to an epoch; to a shard; to both, by a name that must be quoted.
CREATE SCHEMA app;
SELECT snowid.bind_schema('app', epoch => '2025-01-01 00:00:00.001+00');
CREATE TABLE app.by_epoch (
    id bigint PRIMARY KEY DEFAULT app.next_id(6),
    created_at timestamptz GENERATED ALWAYS AS (app.id_timestamp(id)) STORED,
    n integer
);
CREATE INDEX by_epoch_bound ON app.by_epoch (app.id_timestamp(id));
CREATE INDEX by_epoch_argument ON app.by_epoch (ext.id_timestamp(id, '2025-01-01 00:00:00.001+00'));

CREATE SCHEMA shard_7;
SELECT snowid.bind_schema('shard_7', shard_id => 7);
CREATE TABLE shard_7.t (id bigint PRIMARY KEY DEFAULT shard_7.next_id(), n integer);

CREATE SCHEMA "Shard 8's";
SELECT snowid.bind_schema('Shard 8''s', epoch => '2025-06-30 12:34:56.789+05:45', shard_id => 8);
CREATE TABLE "Shard 8's".t (id bigint PRIMARY KEY DEFAULT "Shard 8's".next_id(), n integer);
CREATE VIEW "Shard 8's".decoded AS SELECT * FROM "Shard 8's".t, "Shard 8's".decode_id(id);

-- Partitions by time, bounded by floors, and one more level by shard.
CREATE TABLE events (id bigint PRIMARY KEY DEFAULT ext.next_id(9), n integer) PARTITION BY RANGE (id);
CREATE TABLE events_old PARTITION OF events FOR VALUES FROM (ext.id_floor('2011-01-01+00')) TO (ext.id_floor('2026-01-01+00'));
CREATE TABLE events_new PARTITION OF events FOR VALUES FROM (ext.id_floor('2026-01-01+00')) TO (ext.id_floor('2045-01-01+00'));
CREATE TABLE sharded (id bigint NOT NULL, n integer) PARTITION BY LIST (ext.id_shard(id));
CREATE TABLE sharded_1 PARTITION OF sharded FOR VALUES IN (1);
CREATE TABLE sharded_2 PARTITION OF sharded FOR VALUES IN (2);

-- Twitter's layout.
CREATE TABLE tweets (
    id bigint PRIMARY KEY DEFAULT ext.snowflake_id(3, 9),
    created_at timestamptz GENERATED ALWAYS AS (ext.snowflake_timestamp(id)) STORED,
    n integer
);
SQL

# What the tables hold, each with its default and how it decodes there, in UTC.
my %tables = (
	plain => 'ext.decode_id(id)',
	'app.by_epoch' => 'app.decode_id(id)',
	'shard_7.t' => 'shard_7.decode_id(id)',
	q("Shard 8's".t) => q("Shard 8's".decode_id(id)),
	events => 'ext.decode_id(id)',
	tweets => 'ext.decode_snowflake(id)');

for my $table (sort keys %tables)
{
	$from->safe_psql('here', "INSERT INTO $table (n) SELECT g FROM generate_series(1, 2000) AS g");
}
$from->safe_psql('here', <<'SQL');
INSERT INTO events (id, n) SELECT ext.make_id('2011-01-01+00'::timestamptz + g * interval '2 days', 9, g), -g FROM generate_series(0, 1000) AS g;
INSERT INTO sharded SELECT ext.next_id(1 + g % 2), g FROM generate_series(1, 100) AS g;
INSERT INTO plain (id, n) VALUES (ext.make_id('2023-02-03 04:05:06.789+00', 5, 17), 0);
SQL

sub values_of
{
	my ($node, $database) = @_;
	my $sql = "SET timezone = 'UTC'; SET datestyle = 'ISO';\n";
	$sql .= "SELECT * FROM $_, $tables{$_} ORDER BY id;\n" for sort keys %tables;
	$sql .= "SELECT tableoid::regclass, * FROM events ORDER BY id; SELECT tableoid::regclass, * FROM sharded ORDER BY id;\n";
	$sql .= qq(SELECT * FROM "Shard 8's".decoded ORDER BY id;\n);
	$sql .= "SELECT id, created_at FROM plain ORDER BY id; SELECT id, created_at FROM tweets ORDER BY id;\n";
	return $node->safe_psql($database, $sql);
}

# A dump, without the lines that differ between any two. Its instants are in UTC.
sub dump_of
{
	my ($node, $database) = @_;
	local $ENV{PGTZ} = 'UTC';
	my ($out, $err) = run_command([ 'pg_dump', '-d', $node->connstr($database) ]);
	die "pg_dump: $err" if $err ne '';
	$out =~ s/^\\(un)?restrict .*\n//mg;
	$out =~ s/^SELECT pg_catalog\.setval\('snowid\..*\n//mg; # moves on with the clock
	return $out;
}

my $values = values_of($from, 'here');
my $rows = () = $values =~ /\n/g;
cmp_ok($rows, '>', 20_000, "the database has something to dump: $rows rows to compare");
my $dump = dump_of($from, 'here');
like($dump, qr/CREATE FUNCTION app\.next_id\(shard_id bigint\)/, 'the dump carries the bound functions');
like($dump, qr/CREATE EXTENSION IF NOT EXISTS pg_snowid WITH SCHEMA ext;/, 'and the extension by name');
unlike($dump, qr/FUNCTION (ext|snowid)\.\w+/, 'and none of its functions');

my $dir = PostgreSQL::Test::Utils::tempdir('dumps');
my %restores = (
	'pg_dump | psql' => sub {
		my ($database) = @_;
		run_log([ 'pg_dump', '-d', $from->connstr('here'), '-f', "$dir/plain.sql" ]) &&
		run_log([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $to->connstr($database), '-f', "$dir/plain.sql" ]);
	},
	'pg_dump --inserts' => sub {
		my ($database) = @_;
		run_log([ 'pg_dump', '--inserts', '--rows-per-insert=500', '-d', $from->connstr('here'), '-f', "$dir/inserts.sql" ]) &&
		run_log([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $to->connstr($database), '-f', "$dir/inserts.sql" ]);
	},
	'pg_dump -Fd, pg_restore -j 2' => sub {
		my ($database) = @_;
		run_log([ 'pg_dump', '-Fd', '-d', $from->connstr('here'), '-f', "$dir/dir" ]) &&
		run_log([ 'pg_restore', '-e', '-j', '2', '-d', $to->connstr($database), "$dir/dir" ]);
	});

my $n = 0;
for my $how (sort keys %restores)
{
	my $database = 'there_' . ++$n;
	$to->safe_psql('postgres', "CREATE DATABASE $database");
	ok($restores{$how}->($database), "$how: restored without an error");
	is($to->safe_psql($database, 'SHOW timezone') . ', ' . $to->safe_psql($database, 'SHOW datestyle'),
		'Asia/Kathmandu, German, MDY', "$how: into other settings");
	ok(values_of($to, $database) eq $values, "$how: every value, decoded time and partition is the same");
	ok(dump_of($to, $database) eq $dump, "$how: a dump of it is the same again");

	# Generated columns and indexes hold what their expression says here.
	is( $to->safe_psql($database, q(
			SELECT (SELECT count(*) FROM plain WHERE created_at IS DISTINCT FROM ext.id_timestamp(id))
			     + (SELECT count(*) FROM app.by_epoch WHERE created_at IS DISTINCT FROM ext.id_timestamp(id, '2025-01-01 00:00:00.001+00'))
			     + (SELECT count(*) FROM tweets WHERE created_at IS DISTINCT FROM ext.snowflake_timestamp(id)))),
		'0', "$how: generated columns are what their expressions say");
	for my $time (q(ext.id_timestamp(id, '2025-01-01 00:00:00.001+00')), 'app.id_timestamp(id)')
	{
		my $id = $to->safe_psql($database, 'SELECT max(id) FROM app.by_epoch');
		my $found = $to->safe_psql($database,
			"SET enable_seqscan = off; EXPLAIN SELECT id FROM app.by_epoch WHERE $time = app.id_timestamp($id);"
			. "SET enable_seqscan = off; SELECT max(id) FROM app.by_epoch WHERE $time = app.id_timestamp($id)");
		like($found, qr/using by_epoch|on by_epoch_/, "$how: an index on $time is used");
		like($found, qr/^$id$/m, "$how: and finds its row");
	}

	# Inserts go on.
	for my $table (sort keys %tables)
	{
		is( $to->safe_psql($database, qq(
				CREATE TEMP TABLE before AS SELECT max(id) AS id FROM $table;
				INSERT INTO $table (n) SELECT -1000000 - g FROM generate_series(1, 3000) AS g;
				SELECT count(*), count(DISTINCT t.id), bool_and(t.id > before.id) FROM $table AS t, before WHERE n < -1000000)),
			'3000|3000|t', "$how: inserts into $table go on, with greater ids");
	}
	is( $to->safe_psql($database, q(
			SELECT (SELECT count(*) FROM events_new WHERE n < -1000000), (SELECT count(*) FROM events_old WHERE n < -1000000))),
		'3000|0', "$how: into the right partition");
	is( $to->safe_psql($database, q(
			SELECT DISTINCT shard_7.id_shard FROM (SELECT (shard_7.decode_id(id)).shard_id AS id_shard FROM shard_7.t) AS shard_7)),
		'7', "$how: of the schema's own shard");
}

done_testing();
