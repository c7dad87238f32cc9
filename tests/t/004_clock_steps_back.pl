# Proves promise 3, timely, and 1, unique, where the clock goes back. By 5 ms, 100 ms, 5 s: ids go on
# from the last one, in order, without waiting; the event is counted once and logged once, however
# many ids follow; a full millisecond is followed by the next at the pace of real time, not faster,
# however many sessions draw. By more than pg_snowid.max_clock_regression: an error at once, and no
# state is changed. When the clock comes back, to the very millisecond of the last id, nothing repeats.
#
# It would fail if ids followed the clock back, if each id counted as an event, if a wait lasted until
# the clock has caught up, or if a failed call left a trace.

use strict;
use warnings;

use Test::More;
use Snowid;

my $clock = Snowid::Clock->new;
my $node = server('main', clock => $clock);
my $session = background($node, 'postgres');

my $now = unix_ms();
$clock->stands($now);
sub server_ms { return $session->query_safe('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)') }
is(server_ms(), $now, "the server's clock stands where it was set");
$clock->runs(-86_400_000);
cmp_ok(abs(server_ms() - (unix_ms() - 86_400_000)), '<', 1000, "the server's clock runs where it was set");

# How to draw from a shard and from a worker; what the log and snowid.generators call them.
sub shard
{
	my ($id) = @_;
	return { one => "next_id($id)", where => "shard_id = $id", name => "shard $id", snowflake => 0 };
}

sub worker
{
	my ($datacenter, $id) = @_;
	return {
		one => "snowflake_id($datacenter, $id)",
		where => "(datacenter_id, worker_id) = ($datacenter, $id)",
		name => "datacenter $datacenter, worker $id",
		snowflake => 1
	};
}

sub draw
{
	my ($of, $count) = @_;
	return split /\n/, $session->query_safe("SELECT $of->{one} FROM generate_series(1, $count)");
}

sub ms_of { my ($of, $id) = @_; return (fields($id, $of->{snowflake}))[0] }

sub increasing { my $last = 0; for (@_) { return 0 if $_ <= $last; $last = $_ } return 1 }

sub events
{
	my ($of) = @_;
	return $session->query_safe("SELECT clock_regressions FROM snowid.generators WHERE $of->{where}");
}

sub waits
{
	my ($of) = @_;
	return $session->query_safe("SELECT waits FROM snowid.generators WHERE $of->{where}");
}

sub logged { my ($of) = @_; return log_count($node, qr/LOG: .*clock is behind the last ID of \Q$of->{name}\E\n/) }

# --- Steps back within what is tolerated, under a clock that stands still: exact to the ms ---

for my $case ([ 5, shard(1) ], [ 100, shard(2) ], [ 5000, shard(3) ], [ 5, worker(1, 1) ], [ 5000, worker(1, 2) ])
{
	my ($back, $of) = @$case;
	my $name = "$of->{name}, $back ms back";
	$clock->stands($now);
	my @ids = draw($of, 1);
	is(ms_of($of, $ids[0]), $now, "$name: the first id is of the clock's millisecond");

	$clock->stands($now - $back);
	push @ids, map { draw($of, 1) } 1 .. 10;
	is(waits($of), 0, "$name: ten calls after the step, none of which waits");
	ok(increasing(@ids), "$name: ids increase across the step");
	is(ms_of($of, $ids[-1]), $now, "$name: they go on in the millisecond of the last id");
	push @ids, $node->safe_psql('postgres', "SELECT $of->{one}"), draw($of, 20_000);
	ok(increasing(@ids), "$name: also from another session, and 20,000 more");
	cmp_ok(ms_of($of, $ids[-1]), '>', $now, "$name: these need further milliseconds, " . (ms_of($of, $ids[-1]) - $now));
	is(events($of), 1, "$name: one event is counted");
	is(logged($of), 1, "$name: and logged once");

	my $later = ms_of($of, $ids[-1]) + 1;
	$clock->stands($later);
	push @ids, draw($of, 1);
	is(ms_of($of, $ids[-1]), $later, "$name: past the last id the clock rules again");
	is(events($of), 1, "$name: which is no event");
	$clock->stands($later - $back);
	push @ids, draw($of, 100);
	is(events($of), 2, "$name: another step back is another event");
	is(logged($of), 2, "$name: and another line in the log");
	ok(increasing(@ids), "$name: all @{[ scalar @ids ]} ids increase");
}
like(slurp_log(), qr/clock is behind the last ID of shard 3\n.*DETAIL:  The last ID is of \d{4}-[-\d]+ [\d:.]+\+00, the clock says \d{4}-/,
	'the log says both times');

sub slurp_log { return PostgreSQL::Test::Utils::slurp_file($node->logfile) }

# --- A running clock that is set back, and catches up ---

$clock->runs(0);
my $of = shard(4);
my @ids = draw($of, 10);
$clock->runs(-300);
push @ids, draw($of, 10);
cmp_ok(ms_of($of, $ids[-1]), '>', server_ms(), 'a running clock is set back 300 ms: ids stand ahead of it');
my $reached;
do { $reached = server_ms() } until $reached > ms_of($of, $ids[-1]);
push @ids, draw($of, 10);
cmp_ok(ms_of($of, $ids[-1]), '>=', $reached, 'it has caught up: ids are of its time again');
ok(increasing(@ids), 'ids increase all the way');
is(events($of) . ' ' . logged($of), '1 1', 'that was one event');

# --- Pace: behind a clock that is set back, a millisecond of ids takes a millisecond at least ---

for my $case ([ 'one session', 10, 'SELECT next_ids(10, 1000000)' ],
	[ 'four sessions', 11, ('SELECT next_ids(11, 50000) FROM generate_series(1, 5)') x 4 ],
	[ 'four sessions, one by one', 12, ('SELECT next_id(12) FROM generate_series(1, 100000)') x 4 ])
{
	my ($who, $shard, @queries) = @$case;
	for my $how ('runs', 'stands')
	{
		my $real = unix_ms();
		$clock->runs(0);
		my ($first) = draw(shard($shard), 1);
		$how eq 'runs' ? $clock->runs(-5000) : $clock->stands($real - 5000);
		my @sessions = start_together($node, map { [ 'postgres', "COPY ($_) TO STDOUT" ] } @queries);
		my @files = finish_all(@sessions);
		my $took = monotonic_ms() - $sessions[0]{since};
		my $is = survey(\@files);
		is($is->{repeated} + $is->{disordered}, 0, "$who, clock $how 5 s behind: $is->{distinct} distinct ids, in order");
		at_most($is->{fullest}, 1024, "$who, clock $how: ids in the fullest millisecond");
		at_most($is->{last_ms} - ms_of(shard($shard), $first), $took + 1,
			sprintf '%s, clock %s: milliseconds given out in %.0f ms', $who, $how, $took);
		at_most($took, 10 * $is->{ids} / 1024, "$who, clock $how: nor was it slow, in ms");
		# The first id was drawn a moment after the time at which the clock stands was taken.
		my $drawn = ms_of(shard($shard), $first) - $real;
		at_most($is->{last_ms} - server_ms(), 5000 + ($how eq 'runs' ? 50 : $took + $drawn + 1),
			"$who, clock $how: ms by which the ids stand ahead of it");
	}
}

# --- Further back than tolerated ---

$now = unix_ms();
$clock->stands($now);
my @shown = ('shard_id = 20', '(datacenter_id, worker_id) = (2, 0)');
my $state = 'SELECT * FROM snowid.generators WHERE ' . join(' OR ', @shown) . ' ORDER BY kind';
$session->query_safe('CREATE TABLE t (id bigint DEFAULT next_id(20))');
@ids = draw(shard(20), 3);
my @flakes = draw(worker(2, 0), 3);
my $unchanged = $session->query_safe($state);

my $error = qr/55000: +clock is too far behind the last ID\nDETAIL: +The next ID would be of \d{4}-\S+ \S+\+00, the clock says \d{4}-\S+ \S+\+00; 60000 ms are tolerated\.\nHINT: +Check that the system clock/;
for my $back (3_600_000, 60_001)
{
	$clock->stands($now - $back);
	for my $sql ('SELECT next_id(20)', 'SELECT count(*) FROM next_ids(20, 10)', 'SELECT snowflake_id(2, 0)',
		'INSERT INTO t DEFAULT VALUES')
	{
		my $before = monotonic_ms();
		$session->{stderr} = '';
		$session->query($sql);
		like($session->{stderr}, $error, "clock $back ms back: $sql is refused");
		at_most(monotonic_ms() - $before, 10_000, 'at once, in ms: no wait for the clock');
	}
	$session->{stderr} = '';
	is($session->query_safe($state), $unchanged, "clock $back ms back: no state is changed");
}
is(logged(shard(20)) + logged(worker(2, 0)), 0, 'a refused call is an error, not an event');

$clock->stands($now - 60_000);
push @ids, draw(shard(20), 3);
is(events(shard(20)), 1, 'exactly as far back as tolerated: ids go on, and that is an event');
$clock->stands($now - 60_001);
like(error_of($node, 'postgres', 'SELECT next_id(20)'), $error, 'a millisecond further: refused, in a new session too');

# --- Back at the very millisecond of the last id ---

$clock->stands($now);
is(ms_of(shard(20), $ids[-1]), $now, "the clock comes back to the last id's very millisecond");
push @ids, draw(shard(20), 3000);
push @flakes, draw(worker(2, 0), 9000);
is(ms_of(shard(20), $ids[6]), $now, 'ids go on in it');
ok(increasing(@ids), "all @{[ scalar @ids ]} ids of the shard increase: none repeats");
ok(increasing(@flakes), "all @{[ scalar @flakes ]} ids of the worker increase: none repeats");

# --- The setting rules ---

$session->query_safe("ALTER SYSTEM SET pg_snowid.max_clock_regression = '2h'");
$node->reload;
$clock->stands($now - 3_600_000);
$node->poll_query_until('postgres', "SELECT current_setting('pg_snowid.max_clock_regression') = '2h'");
push @ids, draw(shard(20), 3);
ok(increasing(@ids), 'with pg_snowid.max_clock_regression = 2h ids go on where the clock is 1 h behind');
$session->quit;

done_testing();
