# Proves that it doesn't matter to the extension whether a backslash in a string is an escape, which the owner of a
# database decides (ALTER DATABASE ... SET standard_conforming_strings = off): what is made is the same, and so is what
# all of it does.
#
# It would fail if a literal in a script, in the body of a function or in a statement that one puts together had a
# backslash: a pattern, LIKE 'pg\_snowid%', E'\n'.

use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Utils;
use Snowid;
use SnowidCalls;

my $node = server('main', extension => 0);
my $directory = $node->safe_psql('postgres', q(SELECT setting FROM pg_config WHERE name = 'SHAREDIR')) . '/extension';
my @scripts = glob "$directory/pg_snowid--*.sql";
cmp_ok(scalar @scripts, '>', 0, 'there are scripts');
for my $file (@scripts)
{
	my ($first, @lines) = split /\n/, slurp_file($file);
	like($first, qr/^\\echo .* \\quit$/, "$file begins with what psql is told");
	is(join("\n", grep { /\\/ } @lines), '', "$file has no other backslash");
}

if (major($node) >= 19)
{
  SKIP: { skip 'a backslash in a string is one everywhere from PostgreSQL 19 on', 1 }
	done_testing();
	exit;
}

$node->safe_psql('postgres', 'CREATE ROLE owner');
for my $setting ('on', 'off')
{
	$node->safe_psql('postgres', "CREATE DATABASE escapes_$setting OWNER owner; ALTER DATABASE escapes_$setting SET standard_conforming_strings = $setting");
	is(error_of($node, "escapes_$setting", 'SET SESSION AUTHORIZATION owner; CREATE EXTENSION pg_snowid'), '', "it is created where the setting is $setting");
	is($node->safe_psql("escapes_$setting", 'SHOW standard_conforming_strings'), $setting, 'which holds there');
}

# The same in both databases.
sub same
{
	my ($what, $result_in) = @_;
	my ($on, $off) = map { $result_in->("escapes_$_") } 'on', 'off';
	isnt($on, '', "$what: there is something to compare");
	is($off, $on, "$what: the same");
	return;
}

same('what is made', sub {
	return $node->safe_psql($_[0], <<'SQL') });
SELECT p.oid::regprocedure, p.proconfig, CASE p.prokind WHEN 'f' THEN pg_get_functiondef(p.oid) ELSE p.prosrc END
  FROM pg_proc p WHERE p.pronamespace IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace, 'public'::regnamespace) ORDER BY p.oid::regprocedure::text;
SELECT oid::regclass, pg_get_viewdef(oid) FROM pg_class WHERE relnamespace IN ('snowid'::regnamespace, 'snowid_internal'::regnamespace) AND relkind = 'v' ORDER BY relname;
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'snowid'::regnamespace ORDER BY conname;
SQL

make_fixtures($node, "escapes_$_", 'owner', 'app') for 'on', 'off';
same('how all of it ends', sub {
	my ($database) = @_;
	my @statements = every_use($node, $database, 'app');
	my ($outcomes) = outcomes($node, $database, 'SET SESSION AUTHORIZATION owner', @statements);
	return join "\n", map { "$statements[$_]: " . ($outcomes->[$_] // 'not executed') } 0 .. $#statements });

# What patterns and texts are read for
same('what all of it says', sub {
	return $node->safe_psql($_[0], <<'SQL') });
SET SESSION AUTHORIZATION owner;
SET client_min_messages = warning;
CREATE TABLE t (id bigint) PARTITION BY RANGE (id);
CREATE TABLE t_first PARTITION OF t FOR VALUES FROM (MINVALUE) TO (0);
SELECT count(*) FROM snowid.create_partitions('t', '1 month', starting => '2025-01-01+00');
SELECT min(from_time), bool_and(from_time < to_time), count(from_id), count(*) FROM snowid.partitions('t');
SELECT snowid.create_ticket_sequence('tickets', 3, 2), snowid.create_range_sequence('part', 4, 2);
SELECT relation, kind, part, parts FROM snowid.sequences ORDER BY relation::text;
SELECT snowid.cap_ticket_sequence('tickets', 1001), snowid.resize_ticket_sequence('tickets', 5, 4, 1001);
CREATE TABLE m (id bigserial, "it's" text DEFAULT 'a''b');
COMMENT ON COLUMN m.id IS 'first line
second line';
SELECT snowid.migrate_column('m', 'id', 7);
SELECT migrated_from, remark FROM snowid.migrated_columns WHERE relation = 'm'::regclass;
INSERT INTO m DEFAULT VALUES;
SELECT id_shard(id), "it's" FROM m;
SELECT snowid.revert_column('m', 'id');
SELECT col_description('m'::regclass, 1);
CREATE TABLE b (id bigint, at timestamptz);
INSERT INTO b (at) VALUES ('2025-01-01+00'), ('2025-01-02+00');
CALL snowid.backfill('b', 'id', 'at', 8);
SELECT id_shard(id), id_timestamp(id) = at FROM b;
CREATE SCHEMA bound;
SELECT snowid.bind_schema('bound', epoch => '2025-01-01+00', shard_id => 9);
SELECT id_shard(bound.next_id()), bound.make_id('2025-01-01 00:00:01+00');
SQL

done_testing();
