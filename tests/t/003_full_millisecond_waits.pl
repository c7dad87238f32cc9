# Proves promise 4, full rate: where a millisecond is full a call waits for the next one. While it
# waits it can be cancelled, timed out and terminated, it uses little of a core, it is counted, and
# a session that ends in the middle of it leaves the shard in order.
#
# It would fail if the wait didn't look at interrupts (the blocks here take 9.7 s to the end), if it
# spun instead of sleeping, or if a session that dies took the shard's state with it.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash qw(wait_until);

my $node = server('main', conf => 'max_parallel_workers_per_gather = 0');
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

# The most that a block can have: at 1024 ids a millisecond nearly 10 s of waiting.
my $long = 'SELECT count(*) FROM next_ids(5, 10000000)';

sub waits
{
	my ($shard) = @_;
	return $node->safe_psql('postgres',
		"SELECT coalesce(max(waits), 0) FROM snowid.generators WHERE shard_id = $shard");
}

# --- Cancel ---

my $session = background($node, 'postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
my $control = background($node, 'postgres');
my @delays;
for my $round (1 .. 5)
{
	my $before = waits(5);
	$session->query_until(qr/^begun$/m, "\\echo begun\n$long;\n");
	$node->poll_query_until('postgres',
		"SELECT max(waits) > $before + 20 FROM snowid.generators WHERE shard_id = 5")
	  or die 'the block does not wait';
	my $event = wait_event($node, 'SnowidNextMillisecond');
	$node->poll_query_until('postgres', "SELECT wait_event = '$event' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'pg_stat_activity does not show the wait';
	my $asked = monotonic_ms();
	$control->query_safe("SELECT pg_cancel_backend($pid)");
	$session->query('');
	push @delays, monotonic_ms() - $asked;
	like($session->{stderr}, qr/57014: +canceling statement due to user request/, "cancel $round of a waiting call");
	$session->{stderr} = '';
}
at_most((sort { $a <=> $b } @delays)[-1], 5000, 'slowest of five cancels, in ms: half of what the block takes');

# --- statement_timeout ---

my $before = monotonic_ms();
$session->query("SET statement_timeout = '300ms'; $long");
my $took = monotonic_ms() - $before;
like($session->{stderr}, qr/57014: +canceling statement due to statement timeout/, 'statement_timeout ends a waiting call');
cmp_ok($took, '>=', 300, 'not before its time');
at_most($took, 5000, 'a statement_timeout of 300 ms, in ms: half of what the block takes');
$session->{stderr} = '';
$session->query_safe('RESET statement_timeout');
cmp_ok($session->query_safe('SELECT next_id(5)'), '>', 0, 'the session goes on drawing');

# --- Terminate, while others compete ---

my $names = 'SET application_name = ';
my $copy = 'COPY (SELECT next_id(5) FROM generate_series(1, 500000)) TO STDOUT';
my @sessions = start_together($node,
	[ 'postgres', "$names 'doomed'; $copy" ],
	map { [ 'postgres', "$names 'survivor'; $copy" ] } 1 .. 3);
wait_until('ids of the doomed session', sub { -s $sessions[0]{out} });
is( $node->safe_psql('postgres',
		q(SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'doomed')),
	'1', 'one of four competing sessions is terminated');
my ($doomed, @survivors) = @sessions;
$doomed->{run}->finish;
like(slurp_file($doomed->{err}), qr/terminating connection due to administrator command/, 'it ends so');
my @files = finish_all(@survivors);
# The terminated session's last line may have been cut off.
my $cut = slurp_file($doomed->{out});
$cut =~ s/[^\n]*\z//;
cmp_ok(($cut =~ tr/\n//), '<', 500_000, 'it ended midway, after ' . ($cut =~ tr/\n//) . ' ids');
append_to_file("$doomed->{out}.whole", $cut);
my $is = survey([ @files, "$doomed->{out}.whole" ]);
is($is->{repeated}, 0, "no id of $is->{ids} repeats");
is($is->{disordered}, 0, 'each session got its ids in order');
at_most($is->{fullest}, 1024, 'ids in the fullest millisecond');
cmp_ok((fields($node->safe_psql('postgres', 'SELECT next_id(5)')))[0], '>=', $is->{last_ms}, 'the shard goes on');
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server never restarted');
unlike(slurp_file($node->logfile), qr/\b(PANIC|panicked|terminated by signal)\b/, 'and nothing crashed');

# --- What waiting costs ---
#
# The server itself says (by getrusage) what a statement used. A session that spins would use up the
# wall time, four of them all cores; one that sleeps gives up its core for each wait, but not more
# than once a millisecond. The latter two hold however busy the machine is.

my $cores = `nproc` + 0;
cmp_ok(waits(6), '==', 0, 'no wait is counted for a shard that nobody drew from');
for my $count (1, 4)
{
	my $before = waits(6);
	my @measured = start_together($node, map { [ 'postgres', <<'SQL' ] } 1 .. $count);
SET client_min_messages = log;
SET log_statement = none;
SET log_executor_stats = on;
SELECT count(next_id(6)) FROM generate_series(1, 1000000)
SQL
	finish_all(@measured);
	my $waited = waits(6) - $before;
	my ($cpu, $wall, $sleeps) = (0, 0, 0);
	for my $one (@measured)
	{
		my $stats = slurp_file($one->{err});
		my ($user, $system, $elapsed) =
		  $stats =~ /EXECUTOR STATISTICS.*?([\d.]+) s user, ([\d.]+) s system, ([\d.]+) s elapsed/s
		  or die "the server did not say what the statement took: $stats";
		my ($voluntary) = $stats =~ m{(\d+)/\d+ \[\d+/\d+\] voluntary/involuntary context switches}
		  or die "the server did not say how often the statement slept: $stats";
		$cpu += $user + $system;
		$sleeps += $voluntary;
		$wall = $elapsed if $elapsed > $wall;
	}
	my $who = $count == 1 ? 'one session' : "$count sessions of one shard";
	cmp_ok($wall, '>=', 0.9 * $count * 1_000_000 / 1_024_000, sprintf '%s drew %d,000,000 ids in %.2f s', $who, $count, $wall);
	cmp_ok($waited, '>=', 200 * $count, "$who: waits are counted, $waited");
	at_most($cpu / ($wall * ($count < $cores ? $count : $cores)), 0.4, "$who: processor time, as a part of what spinning would use");
	cmp_ok($sleeps, '>=', $waited / 2, "$who: waiting is sleeping, $sleeps times");
	at_most($sleeps, 2 * $wall * 1000 * $count, "$who: and not more often than there are milliseconds");
}
$_->quit for $session, $control;

done_testing();
