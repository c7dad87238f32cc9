# Proves that pg_upgrade takes the high-water mark along, and all that is made of ids: the new server, whose clock
# is two hours behind, gives none until its mark is accepted and so slow a clock tolerated, and then only greater
# ones, from every shard and in both layouts; tickets, ranges and bound schemas go on where they were, generated columns, indexes, partitions,
# checks, custom layouts and migrated columns are as before. A mark set by hand travels as well.
#
# It would fail if the mark were left behind, if it were read as a low one, or if a function gave another value there.
#
# The servers are those of OLD_SERVER and NEW_SERVER, folders with bin and lib.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;

my ($old_server, $new_server) = @ENV{qw(OLD_SERVER NEW_SERVER)};
my $clock = Snowid::Clock->new;

sub cluster
{
	my ($name, $from, @init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, install_path => $from);
	$node->init(extra => \@init);
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_snowid'\nautovacuum = off");
	return $node;
}

my $old = cluster('old', $old_server);
$clock->over(sub { $old->start });
my $major = major($old);
$old->safe_psql('postgres', "CREATE DATABASE $_") for 'app', 'by_hand';
$old->safe_psql($_, 'CREATE EXTENSION pg_snowid') for 'app', 'by_hand';
$old->safe_psql('app', <<'SQL');
INSERT INTO snowid.custom_layouts (name, epoch, time_bits, field_names, field_bits)
VALUES ('mine', '2024-02-29+00', 41, '{region,seq}', '{4,18}');
CREATE SCHEMA bound;
SELECT snowid.bind_schema('bound', 7, '2020-01-01+00');
SELECT snowid.create_ticket_sequence('tickets', 2, 1);
SELECT snowid.create_range_sequence('ranges', 2, 1);
CREATE TABLE events (
    id bigint PRIMARY KEY DEFAULT next_id(3) CHECK (id_timestamp(id) > '2020-01-01+00'),
    at timestamptz GENERATED ALWAYS AS (id_timestamp(id)) STORED
);
CREATE INDEX events_at ON events (id_timestamp(id));
INSERT INTO events SELECT FROM generate_series(1, 2000);
CREATE TABLE parts (id bigint DEFAULT bound.next_id(), n integer) PARTITION BY RANGE (bound.id_timestamp(id));
CREATE TABLE parts_past PARTITION OF parts FOR VALUES FROM ('2020-01-01+00') TO ('2100-01-01+00');
INSERT INTO parts (n) SELECT generate_series(1, 100);
CREATE TABLE migrated (id bigserial PRIMARY KEY, n integer);
INSERT INTO migrated (n) SELECT generate_series(1, 100);
SELECT snowid.migrate_column('migrated', 'id', 5);
INSERT INTO migrated (n) SELECT generate_series(1, 100);
SQL

# What must be the same before and after.
my $kept = <<'SQL';
SET TimeZone = 'UTC';
SELECT count(*), count(*) FILTER (WHERE at = id_timestamp(id)), md5(string_agg(id || ' ' || at, ',' ORDER BY id)) FROM events;
SET enable_seqscan = off;
SELECT count(*) FROM events WHERE id_timestamp(id) >= '2020-01-01+00';
SELECT md5(string_agg(id || ' ' || n, ',' ORDER BY id)) FROM parts;
SELECT md5(string_agg(id || ' ' || n, ',' ORDER BY id)) FROM migrated;
SELECT * FROM snowid.custom_layouts ORDER BY name;
SELECT make_as('mine', '2025-01-01+00'::timestamptz, '{"region": 3, "seq": 9}');
SELECT oid::regprocedure, obj_description(oid, 'pg_proc') FROM pg_proc WHERE pronamespace = 'bound'::regnamespace ORDER BY oid::regprocedure::text COLLATE "C";
SELECT col_description('migrated'::regclass, 1), obj_description('tickets'::regclass), obj_description('ranges'::regclass);
SELECT conname, convalidated FROM pg_constraint WHERE conrelid = 'events'::regclass AND contype = 'c';
SQL
my @sources = ('next_id(1)', 'next_id(2)', 'next_id(8191)', 'snowflake_id(1, 2)', 'bound.next_id()', q(next_ticket('tickets')), q(next_ticket('ranges')));
sub draw
{
	my ($node, $source) = @_;
	return split /\n/, $node->safe_psql('app', "SELECT $source FROM generate_series(1, 1500)");
}
sub mark { my ($node, $database) = @_; return $node->safe_psql($database, 'SELECT last_value FROM snowid.high_water') }

my $stamp = 'SELECT log_cnt FROM snowid.high_water';    # 0 if setval() has set the mark

my %last;
for my $source (@sources) { $last{$source} = (sort { $a <=> $b } draw($old, $source))[-1] }
my $before = $old->safe_psql('app', $kept);
my $by_hand = unix_ms() + 1000;
$old->safe_psql('by_hand', "SELECT setval('snowid.high_water', $by_hand)");
my %mark = map { $_ => mark($old, $_) } 'app', 'by_hand';
isnt($old->safe_psql('app', $stamp), '0', 'app: the mark is a server\'s');
is($old->safe_psql('by_hand', $stamp), '0', 'by_hand: the mark is set by hand');
$old->stop;

my $new = cluster('new', $new_server, $major < 18 ? '--no-data-checksums' : ());
$clock->over(sub {
	local %ENV = $new->_get_env;
	command_ok(
		[   "$new_server/bin/pg_upgrade", '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir,
			'-b', "$old_server/bin", '-B', "$new_server/bin", '-s', $new->host, '-p', $old->port, '-P', $new->port ],
		'pg_upgrade');
});

$clock->runs(-7200_000);
$clock->over(sub { $new->start });
cmp_ok(major($new), '>', $major, 'the new server is of a later major');
is(mark($new, $_), $mark{$_}, "$_: the mark has come along") for 'app', 'by_hand';
is($new->safe_psql('app', $kept), $before, 'what was made of ids is the same');

like(error_of($new, $_, 'SELECT next_id(1)'), $SET_AHEAD, "$_: the clock two hours behind, no ids") for 'app', 'by_hand';
is($new->safe_psql($_, 'SELECT snowid.accept_high_water()'), 't', "$_: the mark is accepted") for 'app', 'by_hand';
like(error_of($new, $_, 'SELECT next_id(1)'), $BEHIND, "$_: still no ids, so far ahead of the clock") for 'app', 'by_hand';
$new->append_conf('postgresql.conf', "pg_snowid.max_clock_regression = '3h'");
$new->reload;
$new->poll_query_until('postgres', "SELECT current_setting('pg_snowid.max_clock_regression') = '3h'") or die 'it is not reloaded';
for my $database ('app', 'by_hand')
{
	cmp_ok((fields($new->safe_psql($database, 'SELECT next_id(1)')))[0], '>=', $mark{$database},
		"$database: as far is tolerated, and ids go on above the mark");
}
for my $source (@sources)
{
	my @ids = sort { $a <=> $b } draw($new, $source);
	cmp_ok($ids[0], '>', $last{$source}, "$source goes on above what it gave before");
}
$new->safe_psql('app', 'INSERT INTO events DEFAULT VALUES; INSERT INTO parts (n) VALUES (1); INSERT INTO migrated (n) VALUES (1)');
is($new->safe_psql('app', 'SELECT count(*) FROM events WHERE at IS DISTINCT FROM id_timestamp(id)'), '0', 'new rows as well');
SKIP:
{
	skip 'amcheck is not installed here', 1
	  unless $new->safe_psql('app', "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'");
	$new->safe_psql('app', 'CREATE EXTENSION amcheck');
	is($new->safe_psql('app', "SELECT count(bt_index_check(indexrelid, true)) FROM pg_index WHERE indrelid IN ('events'::regclass, 'migrated'::regclass)"),
		'3', 'the indexes fit their tables');
}
$new->stop;

done_testing();
