# Proves what docs/partitions.md says of tables that pg_partman manages, with the real one: its integer
# partitioning makes days out of a bigint of ours; what it leaves undone while a table is idle is done by
# feeding it our bounds, or by snowid.create_partitions() beside it; its retention and ours drop from the
# same table; its time encoder and decoder, which it takes for text alone, are fed from ours for ids in
# Base32, months and all. And it shows the limits that are stated there: no encoder for a bigint, nothing
# made by the clock for integers, no MINVALUE.
#
# It would fail if our bounds were not what pg_partman computes, if partitions of one were in the way of
# the other, or if a newer pg_partman lifted a limit that the documentation names.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $clock = Snowid::Clock->new;
my $node = server('main', clock => $clock);
sub sql { return $node->safe_psql('postgres', "SET timezone = 'UTC'; $_[0]") }

# Version 4 has other functions and no encoders.
my $version = sql("SELECT max(version) FROM pg_available_extension_versions WHERE name = 'pg_partman'");
plan skip_all => 'pg_partman 5 is not installed here' . ($version && " ($version is)") unless $version ge '5';
note "pg_partman $version";
sql('CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman');

my $day = 86_400_000;
my $start = $day - unix_ms() % $day + $day / 2;    # tomorrow at noon
sub days_on { $clock->runs($start + $_[0] * $day); sql('SELECT snowid.accept_clock()'); return }

# The times of a table's partitions against today: '-2 0 1' if they begin the day before yesterday, today, tomorrow.
sub days { return sql(qq(
	SELECT string_agg(CASE WHEN from_time > '-infinity' THEN (from_time::date - current_date)::text ELSE 'MINVALUE' END, ' ' ORDER BY from_time)
	  FROM snowid.partitions('$_[0]') WHERE from_time IS NOT NULL
	HAVING bool_and(from_time = date_trunc('day', from_time) AND (from_time = '-infinity' OR to_time = from_time + interval '1 day')))) }
sub inserted { return sql("INSERT INTO $_[0] DEFAULT VALUES RETURNING tableoid::regclass") }

# --- A bigint, by its integer partitioning: a day is a number of ids ---

days_on(0);
sql(q(CREATE TABLE events (id bigint PRIMARY KEY DEFAULT next_id(5)) PARTITION BY RANGE (id);
	SELECT partman.create_parent('public.events', 'id', id_floor('2011-01-02+00')::text,
		p_premake => 2, p_start_partition => id_floor(now() - interval '1 day')::text)));
is(days('events'), '-1 0 1', 'days from midnight to midnight in UTC');
isnt(inserted('events'), 'events_default', 'a row goes into one of them');
sql('SELECT partman.run_maintenance()');
is(days('events'), '-1 0 1 2', 'maintenance makes the next ones');
is(sql("SELECT count(*) FROM snowid.create_partitions('events', '1 day', ahead => '1 day')"), '0',
	'where they are snowid.create_partitions() finds nothing to do');

# --- Idle for a week: pg_partman goes by the greatest id in the table, not by the clock ---

days_on(7);
sql('SELECT partman.run_maintenance()');
is(days('events'), '-8 -7 -6 -5', 'a limit: while no rows come, maintenance makes nothing');
sql(q(SELECT partman.create_partition_id('public.events', ARRAY(SELECT id_floor(t)
	FROM generate_series((SELECT max(to_time) FROM snowid.partitions('events')), now() + interval '2 days', '1 day') AS t))));
is(days('events'), '-8 -7 -6 -5 -4 -3 -2 -1 0 1 2', 'fed with our bounds it makes them by the clock');
like(inserted('events'), qr/^events_p\d{19}$/, 'under its own names, and rows go in');
sql('SELECT partman.run_maintenance()');
is(days('events'), '-8 -7 -6 -5 -4 -3 -2 -1 0 1 2', 'and its maintenance goes on from there');

days_on(14);
is(inserted('events'), 'events_default', 'idle again: a row goes into the DEFAULT partition');
like(error_of($node, 'postgres', "SELECT snowid.create_partitions('events', '1 day', ahead => '1 day')"),
	qr/23514: +updated partition constraint for default partition "events_default" .*\nDETAIL: .*\nHINT: +Detach/,
	'where it is in the way of a new partition, with a hint');
sql("SELECT partman.partition_data_id('public.events', p_batch_count => 10)");
is(sql('SELECT count(*) FROM events_default'), '0', 'partition_data_id() moves it');
sql("SELECT snowid.create_partitions('events', '1 day', ahead => '2 days')");
is(days('events'), join(' ', -15 .. 2), 'snowid.create_partitions() fills what is missing, up to its time ahead');
sql('SELECT partman.run_maintenance()');
is(days('events'), join(' ', -15 .. 2), 'which pg_partman takes as its own');
isnt(inserted('events'), 'events_default', 'and rows go in');

# --- Retention ---

sql(q(UPDATE partman.part_config SET retention = 10 * id_floor('2011-01-02+00'), retention_keep_table = false; SELECT partman.run_maintenance()));
is(days('events'), join(' ', -10 .. 2), 'its retention, in ids, counts back from the greatest id in the table');
days_on(16);
is(sql("SELECT count(*) FROM snowid.drop_partitions('events', '10 days')"), '2', 'ours from the clock');
sql('SELECT partman.run_maintenance()');
is(days('events'), join(' ', -10 .. 0), 'and its maintenance goes on');

# --- Limits of it ---

like(error_of($node, 'postgres', q(CREATE TABLE hooked (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
	SELECT partman.create_parent('public.hooked', 'id', '1 month', p_time_encoder => 'public.id_floor', p_time_decoder => 'public.id_timestamp'))),
	qr/p_time_encoder and p_time_decoder can only be used with text\/uuid/, 'a limit: no encoder for a bigint');
sql("CREATE TABLE ours (id bigint PRIMARY KEY DEFAULT next_id(6)) PARTITION BY RANGE (id); SELECT snowid.create_partitions('ours', '1 day')");
like(error_of($node, 'postgres', q(SELECT partman.create_parent('public.ours', 'id', id_floor('2011-01-02+00')::text, p_premake => 2,
		p_start_partition => (SELECT max(to_id)::text FROM snowid.partitions('ours')));
	SELECT partman.show_partitions('public.ours'))),
	qr/invalid input syntax for type bigint: "MINVALUE"/, 'a limit: it cannot read a partition from MINVALUE');
sql(q(DO $$ BEGIN EXECUTE (SELECT format('ALTER TABLE ours DETACH PARTITION %1$s; ALTER TABLE ours ATTACH PARTITION %1$s FOR VALUES FROM (0) TO (%2$s)', partition, to_id)
	FROM snowid.partitions('ours') WHERE from_time = '-infinity'); END $$));
inserted('ours');
sql("SELECT partman.run_maintenance('public.ours')");
like(days('ours') || sql("SELECT string_agg(from_time::text, ' ') FROM snowid.partitions('ours') WHERE to_time <= now() + interval '1 day'"),
	qr/^2011-01-01 00:00:00\+00$/, 'once that one begins at 0 instead, it goes on with the table');
is(sql("SELECT count(*) FROM snowid.partitions('ours') WHERE from_time > now()"), '4', 'and has made the next ones');
SKIP:
{
	skip 'offsets came with pg_partman 5.3', 1 if sql("SELECT '$version' ~ '^5\\.[012]\\.'") eq 't';
	sql(q(CREATE TABLE weeks (id bigint PRIMARY KEY DEFAULT next_id(6)) PARTITION BY RANGE (id);
		SELECT partman.create_parent('public.weeks', 'id', id_floor('2011-01-08+00')::text,
			p_offset_id => id_floor('2011-01-03+00'), p_start_partition => id_floor(now())::text)));
	is(sql("SELECT DISTINCT to_char(from_time, 'Dy HH24:MI') FROM snowid.partitions('weeks') WHERE from_time IS NOT NULL"),
		'Mon 00:00', 'with an offset, weeks begin on Monday');
}

# --- Text, by its encoder and decoder, fed from ours ---

sql(<<'SQL');
CREATE FUNCTION partman_encode(at timestamptz) RETURNS text IMMUTABLE STRICT PARALLEL SAFE RETURN id_to_base32(id_floor(at));
CREATE FUNCTION partman_decode(id text) RETURNS timestamptz IMMUTABLE STRICT PARALLEL SAFE RETURN id_timestamp(id_from_base32(id));
CREATE TABLE notes (id text COLLATE "C" PRIMARY KEY DEFAULT id_to_base32(next_id(7))) PARTITION BY RANGE (id);
SELECT partman.create_parent('public.notes', 'id', '1 month', p_premake => 2,
	p_time_encoder => 'public.partman_encode', p_time_decoder => 'public.partman_decode');
UPDATE partman.part_config SET infinite_time_partitions = true WHERE parent_table = 'public.notes';
SQL
my $months = q{SELECT count(*), bool_and(bounds[1] = id_to_base32(id_floor(date_trunc('month', id_timestamp(id_from_base32(bounds[1])))))),
	bool_or(id_timestamp(id_from_base32(bounds[2])) > now() + interval '1 month')
	FROM pg_class, regexp_match(pg_get_expr(relpartbound, oid), 'FROM \(''(.*)''\) TO \(''(.*)''\)') AS bounds
	WHERE relispartition AND relname ~ '^notes_p\d{8}$' AND relkind = 'r'};
is(sql($months), '5|t|t', 'months, two back and two ahead');
is(inserted('notes'), 'notes_p' . sql("SELECT to_char(now(), 'YYYYMM01')"), 'a row goes into its month');
days_on(16 + 100);
sql("SELECT partman.run_maintenance('public.notes')");
like(sql($months), qr/^[89]\|t\|t$/, 'after a hundred idle days its maintenance makes months by the clock');
is(inserted('notes'), 'notes_p' . sql("SELECT to_char(now(), 'YYYYMM01')"), 'and a row goes into its month');
sql("UPDATE partman.part_config SET retention = '2 months', retention_keep_table = false WHERE parent_table = 'public.notes'; SELECT partman.run_maintenance('public.notes')");
like(sql($months), qr/^[56]\|t\|t$/, 'its retention drops by the decoded time');

done_testing();
