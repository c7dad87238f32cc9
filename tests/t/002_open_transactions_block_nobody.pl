# Proves promise 5, never in the way: a transaction that drew ids and stays open, rolls back, is
# prepared or holds half a block in a cursor blocks nobody and gives nothing back; and promise 1 where
# the sessions are of two databases, or have parallel workers.
#
# It would fail if a call kept a lock, if ids were undone with their transaction, or if the state were
# a session's or a database's own.

use strict;
use warnings;

use Test::More;
use Snowid;

my $node = server('main', conf => <<'CONF');
max_prepared_transactions = 5
max_worker_processes = 16
max_parallel_workers = 12
CONF
$node->safe_psql('postgres', 'CREATE TABLE t (id bigint PRIMARY KEY DEFAULT next_id(5), who text)');

# The other session: it would fail, not wait, if anybody stood in its way.
my $other = background($node, 'postgres');
$other->query_safe("SET statement_timeout = '5s'");
my @drawn;

sub other_draws
{
	my ($when) = @_;
	my $id = $other->query('SELECT next_id(5)');
	is($other->{stderr}, '', "another session draws, $when");
	cmp_ok($id, '>', $drawn[-1], 'and its id is the greatest so far');
	push @drawn, $id;
	$other->query("INSERT INTO t (who) VALUES ('other')");
	is($other->{stderr}, '', "another session inserts, $when");
	return;
}

# --- An open transaction, of each kind ---

my $holder = background($node, 'postgres');
for my $kind ('READ WRITE', 'READ ONLY', 'ISOLATION LEVEL SERIALIZABLE')
{
	push @drawn, $holder->query_safe("BEGIN TRANSACTION $kind; SELECT next_id(5)");
	is( $node->safe_psql('postgres', q(
			SELECT string_agg(locktype, ', ') FROM pg_locks JOIN pg_stat_activity USING (pid)
			WHERE state = 'idle in transaction')),
		'virtualxid', "a transaction $kind that drew an id holds no lock but on itself");
	other_draws("while a transaction $kind that drew an id is open");
	push @drawn, $holder->query_safe('SELECT next_id(5)');
	cmp_ok($drawn[-1], '>', $drawn[-2], 'the open transaction goes on behind the other');
	$holder->query_safe('ROLLBACK');
	other_draws('after its rollback');
}

# --- Half a block, in a cursor ---

my @block = split /\n/, $holder->query_safe(
	'BEGIN; DECLARE block CURSOR FOR SELECT next_ids(5, 5000); FETCH 700 FROM block');
is(scalar @block, 700, 'a cursor holds a block of which 700 ids were fetched');
push @drawn, $block[-1];
my $before_rest = @drawn;
other_draws('while a session is in the middle of a block');
push @block, split /\n/, $holder->query_safe('FETCH ALL FROM block');
is(scalar @block, 5000, 'the rest of the block comes');
is_deeply([ sort { $a <=> $b } @block ], \@block, 'the block is in order');
my %in_block = map { $_ => 1 } @block;
is(scalar keys %in_block, 5000, 'the ids of the block are distinct');
ok(!(grep { $in_block{$_} } @drawn[ $before_rest .. $#drawn ]), "what others drew meanwhile isn't among them");
$holder->query_safe('COMMIT');
push @drawn, $block[-1];

# --- A savepoint rolled back, and a prepared transaction ---

my $undone = $holder->query_safe(
	"BEGIN; SAVEPOINT s; INSERT INTO t (who) VALUES ('undone') RETURNING id");
my $kept = $holder->query_safe("ROLLBACK TO s; INSERT INTO t (who) VALUES ('kept') RETURNING id");
$holder->query_safe('COMMIT');
cmp_ok($kept, '>', $undone, 'what a savepoint drew is not given back by its rollback');
push @drawn, $kept;

for my $end ('COMMIT', 'ROLLBACK')
{
	push @drawn, $holder->query_safe(
		"BEGIN; INSERT INTO t (who) VALUES ('prepared, $end') RETURNING id");
	$holder->query("PREPARE TRANSACTION 'p'");
	is($holder->{stderr}, '', 'a transaction that drew an id can be prepared');
	other_draws('while a transaction is prepared');
	push @drawn, $holder->query_safe('SELECT next_id(5)');
	$holder->query("$end PREPARED 'p'");
	is($holder->{stderr}, '', "$end PREPARED");
	push @drawn, $holder->query_safe('SELECT next_id(5)');
}
is($node->safe_psql('postgres', "SELECT string_agg(who, ', ') FROM t WHERE who LIKE 'prepared%'"),
	'prepared, COMMIT', 'the prepared row is there as its transaction ended');
my %distinct = map { $_ => 1 } @drawn;
delete @distinct{ $block[-1], $block[699] };
is(scalar keys %distinct, @drawn - 2, "all @{[ scalar @drawn ]} ids drawn along the way are distinct");
$_->quit for $holder, $other;

# --- Two databases of one server ---

$node->safe_psql('postgres', 'CREATE DATABASE second');
$node->safe_psql('second', 'CREATE EXTENSION pg_snowid');
my $copy = 'COPY (SELECT next_id(5) FROM generate_series(1, 100000)) TO STDOUT';
my $is = survey([ at_once($node, map { [ $_, $copy ] } ('postgres', 'second') x 2) ]);
is($is->{ids}, 400_000, "two databases draw from one shard at once: $is->{ids} ids in $is->{span_ms} ms");
is($is->{repeated}, 0, "two databases: $is->{distinct} of them distinct, $is->{repeated} repeated");
is($is->{disordered}, 0, 'two databases: in order in each session');
cmp_ok($is->{at_once}, '>', 1, "two databases: $is->{at_once} sessions drew at one moment");

# --- Parallel workers, in four sessions at once ---

$node->safe_psql('postgres', 'CREATE TABLE big AS SELECT n FROM generate_series(1, 100000) AS n; ANALYZE big');
my $parallel = <<'SQL';
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SQL
my $plan = $node->safe_psql('postgres',
	"$parallel EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT next_id(6) FROM big");
like($plan, qr/Workers Launched: [12]\b/, 'there are parallel workers');
like($plan, qr/Gather.*Parallel Seq Scan on public\.big[^>]*Output: next_id\('6'::bigint\b/s, 'and they draw the ids');

my @files = at_once($node, map { [ 'postgres', "$parallel SELECT next_id(5) FROM big" ] } 1 .. 4);
$is = survey(\@files);
is($is->{ids}, 400_000, "four parallel queries: $is->{ids} ids in $is->{span_ms} ms");
is($is->{repeated}, 0, "four parallel queries: $is->{distinct} of them distinct, $is->{repeated} repeated");
at_most($is->{fullest}, 1024, 'four parallel queries: ids in the fullest millisecond');

done_testing();
