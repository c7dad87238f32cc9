# Proves that the planner's rewriting of conditions on an id's time changes no result: random conditions over
# tables with an index, with partitions, with constraints, with NULLs and the ids at all limits, with one id a row
# and with two, alone, in joins and in subqueries, with constants, parameters and columns, under plans with and
# without index, give the rows that they give where the planner can't see that a time is asked for, because a
# PL/pgSQL function is in between.
#
# It would fail if a bound were off by one millisecond or microsecond anywhere, or if NULL, infinity, negative
# ids, a time zone, NOT, OR or an outer join were treated otherwise than the functions do.
#
# RANDOM_QUERIES says how many (make test-random: 20,000), RANDOM_SEED repeats a run.

use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Utils;
use Snowid;

my $queries = $ENV{RANDOM_QUERIES};
my $seed = $ENV{RANDOM_SEED};
srand $seed;
note "RANDOM_SEED=$seed";
sub one_of { return $_[ rand @_ ] }

my $node = server('main', conf => "timezone = 'America/New_York'");
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA plain;
CREATE FUNCTION plain.id_timestamp(id bigint) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT AS
    'BEGIN RETURN public.id_timestamp(id); END';
CREATE FUNCTION plain.id_timestamp(id bigint, epoch timestamptz) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT AS
    'BEGIN RETURN public.id_timestamp(id, epoch); END';
CREATE FUNCTION plain.snowflake_timestamp(id bigint) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT AS
    'BEGIN RETURN public.snowflake_timestamp(id); END';

-- Few instants, so that conditions often hit one; around each the ids before and after.
CREATE TABLE instants AS
SELECT '2026-01-01 00:00:00+00'::timestamptz + n * interval '6 hours' + n % 3 * interval '1 ms' AS at FROM generate_series(1, 400) AS n;
CREATE TABLE ids (id bigint PRIMARY KEY);
INSERT INTO ids
SELECT DISTINCT id + more FROM instants,
       LATERAL (VALUES (make_id(at, 5, 7)), (id_floor(at)), (snowflake_floor(at)), (id_floor(at, '2025-01-01+00'))) AS made (id),
       generate_series(-1, 1) AS more
 UNION VALUES (0), (1), (-1), (9223372036854775807), (-9223372036854775808), (8388607), (8388608), (-8388608), (-8388609);
CREATE TABLE loose AS SELECT id FROM ids UNION ALL SELECT id FROM ids WHERE id % 3 = 0 UNION ALL VALUES (NULL::bigint), (NULL);
CREATE INDEX ON loose (id);
CREATE TABLE parts (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (0) TO (3975900000000000000);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (3975900000000000000) TO (4000000000000000000);
CREATE TABLE parts_rest PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT id FROM ids;
CREATE TABLE checked (id bigint PRIMARY KEY CHECK (id >= 0));
INSERT INTO checked SELECT id FROM ids WHERE id >= 0;
-- A constraint that was never checked says nothing of the ids.
CREATE TABLE unchecked AS SELECT id FROM ids;
ALTER TABLE unchecked ADD CHECK (id >= 0) NOT VALID;
-- Two ids in a row, and a time of its own
CREATE TABLE pairs AS SELECT id, lag(id, 40) OVER (ORDER BY id) AS parent, id_timestamp(id) + (id % 5 - 2) * interval '12 hours' AS at FROM ids;
CREATE INDEX ON pairs (id);
CREATE INDEX ON pairs (parent);
CREATE TABLE others AS SELECT at FROM instants WHERE random() < 0.05
 UNION ALL VALUES (NULL::timestamptz), ('infinity'), ('-infinity'), ('2011-01-01+00'), ('2045-11-03+00');
ANALYZE;
SQL
like($node->safe_psql('postgres', "EXPLAIN SELECT FROM ids WHERE id_timestamp(id) < '2026-01-02'"), qr/\(id </,
	'a condition on the time is one on the id');
unlike($node->safe_psql('postgres', "EXPLAIN SELECT FROM ids WHERE plain.id_timestamp(id) < '2026-01-02'"), qr/\(id </,
	'and isn\'t where PL/pgSQL is in between');

my @times = ('id_timestamp(x.id)', 'id_timestamp(x.id)', 'snowflake_timestamp(x.id)', "id_timestamp(x.id, '2025-01-01+00')");

# Ids have the sign bit from 2045 on in one layout, from 2080 on in the other.
sub special
{
	return one_of(map { "$_\::timestamptz" } qw('infinity' '-infinity' NULL now() '2011-01-01+00' '2045-11-03+00' '2080-07-10+00'), "'0044-03-15 BC'");
}

# An instant of the tables, or near one, or a special one; of several types.
sub instant
{
	my ($column) = @_;
	my $kind = int rand 12;
	return $column if $column && $kind < 4;
	return '$1' if $kind == 4 || $kind == 11;
	return special() if $kind == 5;
	my $day = sprintf "2026-%02d-%02d", 1 + rand 4, 1 + rand 28;
	return "'$day'::date" if $kind == 6;
	return "'$day 0@{[ int rand 4 ]}:30'::timestamp" if $kind == 7;
	my $at = sprintf "'%s %02d:00:00.%s+00'", $day, 6 * int rand 4, one_of('0', '001', '002', '001001', '000999', '0005');
	return $kind == 8 ? "$at\::text::timestamptz" : $kind == 9 ? "$at\::timestamptz - interval '1 day'" : $at;
}

sub condition
{
	my ($depth, $column) = @_;
	my $kind = rand;
	return '(' . condition($depth - 1, $column) . one_of(' AND ', ' OR ') . condition($depth - 1, $column) . ')' if $depth && $kind < 0.5;
	return 'NOT ' . condition($depth - 1, $column) if $depth && $kind < 0.6;
	my $time = one_of(@times);
	return "($time" . one_of(' ', ' NOT ') . 'BETWEEN ' . instant($column) . ' AND ' . instant($column) . ')' if $kind < 0.75;
	my ($one, $other) = ($time, instant($column));
	($one, $other) = ($other, $one) if rand() < 0.3;
	return "($one " . one_of(qw(< <= = >= > <>)) . " $other)";
}

# Each query twice, as it is and with the functions of the schema plain.
my $script = '';
my @asked;
for my $n (1 .. $queries)
{
	my $table = one_of(qw(ids loose parts checked unchecked pairs));
	my $how = rand() < 0.6 ? '' : one_of('JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'EXISTS', 'NOT EXISTS');
	my $condition = condition(int(rand 3), $how ? 'o.at' : $table eq 'pairs' ? 'x.at' : '');
	$condition =~ s/\bx\.id\b/one_of('x.id', 'x.parent')/ge if $table eq 'pairs';
	my $query = $how =~ /EXISTS/
	  ? "SELECT count(*), count(o.at), min(o.at) FROM others AS o WHERE $how (SELECT FROM $table AS x WHERE $condition)"
	  : 'SELECT count(*), count(x.id), coalesce(sum(x.id), 0) FROM '
	  . ($how ? "others AS o $how $table AS x ON $condition" : "$table AS x WHERE $condition");
	my $value = rand() < 0.5 ? special() : instant('') =~ s/\$1/NULL/r;
	$script .= join '', map { "SET $_;\n" } 'enable_seqscan = ' . one_of(qw(on off)), 'enable_bitmapscan = ' . one_of(qw(on off)),
	  'plan_cache_mode = ' . one_of(qw(force_generic_plan force_custom_plan));
	for my $text ($query, $query =~ s/\b(\w+_timestamp\()/plain.$1/gr)
	{
		$script .= "PREPARE q(timestamptz) AS $text;\nEXECUTE q($value);\nDEALLOCATE q;\n";
	}
	push @asked, "$query -- \$1 = $value";
}
my $out = $node->safe_psql('postgres', "BEGIN;\n$script COMMIT;", timeout => 3600);    # one now() for all
my @rows = split /\n/, $out;
is(scalar @rows, 2 * $queries, "$queries random queries ran, twice each");
my @different = grep { $rows[ 2 * $_ ] ne $rows[ 2 * $_ + 1 ] } 0 .. $#asked;
is(scalar @different, 0, "they give the same rows with and without the planner's help, RANDOM_SEED=$seed");
diag("$asked[$_]: $rows[2 * $_], without $rows[2 * $_ + 1]") for @different;
cmp_ok(scalar(grep { !/^0\|/ } @rows), '>', $queries, 'most of them have rows');
$node->stop;
done_testing();
