# Proves that no id leaves before the mark above it is on disk, by crashes at the moments that matter:
# before a raise is flushed (it is lost, and every id of before lies below the older mark), right after a
# checkpoint (the raise is a full page then), between raise and use, after snowid.advance(), with a
# prepared transaction and half a block open, with the first id drawn by a parallel worker. The server's
# clock stands still where the millisecond matters.
#
# It would fail if a raise counted before its flush, if synchronous_commit = off went past it, or if a
# lost raise had covered an id.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;

my $clock = Snowid::Clock->new;
# Nothing but what a test asks for flushes WAL here.
my $node = server('main', clock => $clock, init => [ allows_streaming => 1 ], conf => <<'CONF');
restart_after_crash = on
wal_writer_delay = 10s
bgwriter_lru_maxpages = 0
checkpoint_timeout = 1h
CONF
my $ledger = SnowidCrash::Ledger->new;
my $now = unix_ms();
my $session;

sub crash
{
	my ($at) = @_;
	$session->quit if $session;
	$node->stop('immediate');
	$clock->stands($at);
	start_again($node, $clock);
	$session = background($node, 'postgres');
	$ledger->new_round;
	return;
}
sub draw
{
	my ($at, $shard, $count) = @_;
	$clock->stands($at);
	my @ids = split /\n/, $session->query_safe("SELECT next_id($shard) FROM generate_series(1, " . ($count // 1) . ')');
	$ledger->note(@ids);
	return (fields($ids[-1]))[0];
}
# Raises and waits for a flush since the server started.
sub counts { return $session->query_safe("SELECT high_water_raises || ' ' || high_water_flush_waits FROM snowid.status") }
sub mark { return $session->query_safe('SELECT last_value FROM snowid.high_water') }
sub unflushed { return $session->query_safe('SELECT pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()') }

# --- The raise that is lost ---

crash($now += 10_000);
is(draw($now, 1), $now, 'after an idle time the first id is of the clock');
is(counts(), '1 1', 'it took one raise, flushed before it was given out');
is(mark(), $now + 2000, 'to 2 s ahead');
is(draw($now + 999, 1, 5), $now + 999, 'ids go on');
is(counts(), '1 1', 'without another');
# The WAL writer, which a raise wakes, would write it out: enough for it to outlive a server's death.
my $writer = $session->query_safe("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'");
kill STOP => $writer;
is(draw($now + 1000, 1, 5), $now + 1000, 'a second later too');
is(counts(), '2 1', 'with a raise that nobody waits for');
is(mark(), $now + 3000, 'to 2 s ahead again');
is(draw($now + 1999, 1, 5), $now + 1999, 'up to the last millisecond below the old mark');
is(counts(), '2 1', 'nobody has waited');
is(unflushed(), 't', 'and the raise is still not on disk');
kill KILL => $writer;    # asleep it would not hear that the server ends
crash($now + 500);
is(mark(), $now + 2000, 'the raise is lost in a crash');
cmp_ok(draw($now + 500, 1, 3000), '>=', $now + 2000, 'ids start at the mark that was on disk, above all that were given');

# The next one is waited for: a second crash doesn't lose it.
crash($now += 20_000);
draw($now, 1);
draw($now + 1000, 1);
is(unflushed(), 't', 'a raise is on its way again');
$session->query_safe('SET synchronous_commit = off');
is(draw($now + 2000, 1), $now + 2000, 'the first millisecond past the durable mark');
like(counts(), qr/^\d 2$/, 'waits for its flush, with synchronous_commit = off as well');
my $mark = mark();
crash($now + 2000);
is(mark(), $mark, 'which a crash does not undo');
cmp_ok(draw($now + 2000, 1), '>=', $now + 3000, 'ids start there');

# --- Around a checkpoint ---

for my $case ([ 'right after a checkpoint', 'draw', 'checkpoint' ], [ 'after a checkpoint and a raise', 'checkpoint', 'draw' ],
	[ 'in a raise after a checkpoint', 'draw', 'checkpoint', 'later' ], [ 'after two checkpoints', 'draw', 'checkpoint', 'later', 'checkpoint' ])
{
	my ($name, @steps) = @$case;
	my $last = 0;
	crash($now += 20_000);
	for my $step (@steps)
	{
		$last = draw($now, 2, 2000) if $step eq 'draw';
		$last = draw($now + 1500, 2, 5) if $step eq 'later';
		$session->query_safe('CHECKPOINT') if $step eq 'checkpoint';
	}
	crash($now - 1000);
	cmp_ok(draw($now - 1000, 2, 2000), '>', $last, "$name, the clock a second back: ids go on above");
}

# --- Between raise and use: a raise is on disk, and who made it dies before it draws ---

crash($now += 60_000);
$node->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'");
$node->reload;
wait_until('the setting', sub { $session->query_safe('SHOW synchronous_standby_names') eq 'nobody' });
my ($waiting) = start_load($node, script('SELECT next_id(3);'));
my $pid = wait_until('a draw that waits', sub { $session->query_safe(
		"SELECT pid FROM pg_stat_activity WHERE application_name = 'load' AND wait_event_type = 'Extension'") });
is(mark(), $now + 2000, 'someone has raised the mark and waits');
kill 'KILL', $pid;
end_load($waiting);
is(-s $waiting->{out}, 0, 'and is killed before it has its id');
$session = undef;
$node->poll_query_until('postgres', 'SELECT true');
$session = background($node, 'postgres');
is(mark(), $now + 2000, 'the raise is there after the crash');
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$node->reload;
wait_until('the setting', sub { $session->query_safe('SHOW synchronous_standby_names') eq '' });
is(draw($now, 3), $now + 2000, 'ids start at it');

# --- snowid.advance() ---

crash($now += 60_000);
draw($now, 4);
my $ahead = $session->query_safe("SELECT make_id(to_timestamp(($now + 30000) / 1000.0), 4, 7)");
cmp_ok($session->query_safe("SELECT snowid.advance($ahead)"), '>', $ahead, 'snowid.advance() to an id 30 s ahead');
$ledger->note($ahead);
crash($now);
cmp_ok(draw($now, 4), '>', $now + 30_000, 'holds after a crash');

# --- What was open ---

$session->query_safe('CREATE TABLE t (id bigint PRIMARY KEY DEFAULT next_id(5), what text)');
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
crash($now += 60_000);
$clock->stands($now);
$ledger->note($session->query_safe("BEGIN; INSERT INTO t (what) VALUES ('prepared') RETURNING id; PREPARE TRANSACTION 'p'"));
$ledger->note(split /\n/, $session->query_safe(
	"BEGIN; DECLARE c CURSOR FOR SELECT next_ids(5, 5000); FETCH 1500 FROM c; FETCH 100 FROM c"));
$clock->stands($now - 5000);
$ledger->note(split /\n/, $session->query_safe('FETCH 1000 FROM c'));
crash($now - 5000);
$session->query_safe("COMMIT PREPARED 'p'");
$ledger->note(split /\n/, $session->query_safe("INSERT INTO t (what) SELECT 'after' FROM generate_series(1, 3000) RETURNING id"));
is($session->query_safe("SELECT count(*) || ' ' || count(DISTINCT id) FROM t"), '3001 3001',
	'a prepared transaction is committed after the crash beside new rows');

$ledger->is_sound('across all of these crashes');

$session->quit;
$node->stop;

# --- The first id after a crash is drawn by a parallel worker ---

$clock->runs(0);
$node = server('parallel', clock => $clock, conf => 'restart_after_crash = on');
$ledger = SnowidCrash::Ledger->new;
$ledger->note(one_id($node, 5));
$ahead = $node->safe_psql('postgres', "SELECT snowid.advance(make_id(now() + interval '20 seconds', 5, 7))");
$node->stop('immediate');
$clock->runs(-5000);
start_again($node, $clock);
my $setting = major($node) < 16 ? 'force_parallel_mode' : 'debug_parallel_query';
my @got = split /\n/, $node->safe_psql('postgres', <<SQL);
SET $setting = on;
SELECT next_id(5) FROM pg_sequence LIMIT 1;
EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT next_id(5) FROM pg_sequence;
SQL
$ledger->note($ahead)->new_round->note($got[0]);
like("@got", qr/Workers Launched: 1/, 'a parallel worker draws the first id after a crash');
$ledger->is_sound('which is above all before');
$node->stop;
done_testing();
