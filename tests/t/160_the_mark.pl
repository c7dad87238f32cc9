# Proves that whatever happens to the mark itself, the sequence snowid.high_water, ids go on above all of
# before or an error says clearly what is wrong: set back, set forward, set far ahead and accepted, used as a sequence,
# created anew with the extension, also in a transaction that is rolled back or lost; its page or its file
# damaged. And that only the extension's owner can touch it.
#
# It would fail if a server trusted what it remembers of the mark more than what is on disk, if a mark that
# a crash takes back had covered an id, or if a damaged one were read as a low one.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;

my $clock = Snowid::Clock->new;
my $now = unix_ms();
$clock->stands($now);
my $node = server('main', clock => $clock);
my $ledger = SnowidCrash::Ledger->new;

sub mark { return $node->safe_psql('postgres', 'SELECT last_value FROM snowid.high_water') }
sub set { my ($mark) = @_; return $node->safe_psql('postgres', "SELECT setval('snowid.high_water', $mark)") }
sub draw
{
	my ($shard, $count) = @_;
	my @ids = split /\n/, $node->safe_psql('postgres', "SELECT next_id($shard) FROM generate_series(1, " . ($count // 10) . ')');
	$ledger->note(@ids);
	return (fields($ids[-1]))[0];
}
sub crash
{
	my ($at) = @_;
	$node->stop('immediate');
	$clock->stands($at);
	start_again($node, $clock);
	$ledger->new_round;
	return;
}
sub later { $clock->stands($now += $_[0]); return }

# --- Set back, while the server runs ---

draw(1);
set(1);
later(1100);
my $set_back = qr/LOG: .*the high-water mark of this database was set back\n.*It was found at 1970-\S+ \S+, this server had written \d{4}-/;
is(log_count($node, $set_back), 0, 'set back to 1: unnoticed until the mark is looked at');
draw(1);
is(mark(), $now + 2000, 'set back to 1: it is raised again where it would have been');
later(1100);
draw(1);
is(log_count($node, $set_back), 1, 'set back to 1: the log says so, once');
set($now - 1000);
later(1100);
draw(1);
is(log_count($node, qr/the high-water mark of this database was set back/), 2, 'set back a second: the log says so too');
crash($now - 30_000);
cmp_ok(draw(1), '>=', $now + 2000, 'set back, then a crash, the clock 30 s back: ids go on above');

# --- Set far ahead: nothing is moved, and setting it right is enough ---

for my $far ('2100-01-01', 'infinite')
{
	later(60_000);
	crash($now);
	draw(1);
	my $mark = $far eq 'infinite' ? '9223372036854775807' : $node->safe_psql('postgres', "SELECT (extract(epoch FROM timestamptz '$far+00') * 1000)::bigint");
	set($mark);
	later(2000);
	like(refused($node, 1), $SET_AHEAD, "set to $far: refused");
	like(refused($node, 1), qr/DETAIL: .*setval\(\) has set it to 2100-01-01 00:00:00.000\+00, the clock says/, "set to $far: the mark is named") if $far ne 'infinite';
	crash($now);
	like(refused($node, 1), $SET_AHEAD, "set to $far: after a restart as well");
	is(mark(), $mark, "set to $far: it is not touched");
	is(error_of($node, 'postgres', 'SELECT * FROM snowid.status'), '', "set to $far: snowid.status can be read");
	# The remedy: setval() to the present.
	set("greatest($now, (SELECT (extract(epoch FROM max(id_timestamp(id))) * 1000)::bigint + 1 FROM (VALUES ("
		  . ($ledger->{greatest}{1}) . ')) AS t (id)))');
	my $at = draw(1);
	cmp_ok($at, '>=', $now, "set to $far: set right, ids go on");
	cmp_ok($at, '<=', $now + 10_000, "set to $far: near the clock");
}

# --- Accepted years ahead: only a restart after setval() gets rid of it ---

later(60_000);
crash($now);
draw(1);
set($now + 63_072_000_000);
is($node->safe_psql('postgres', 'SELECT snowid.accept_high_water()'), 't', 'set two years ahead and accepted');
later(2000);
like(refused($node, 1), qr/$BEHIND.*DETAIL: .*IDs of this database start at its mark, /s, 'accepted: the mark is named, not the last ID');
set($now);
like(refused($node, 1), $BEHIND, 'accepted: set right it is still refused, until a restart');
crash($now);
cmp_ok(draw(1), '<=', $now + 10_000, 'accepted: set right and restarted, ids go on');

# --- Set forward: at once by as much as a server leads the clock, further when accepted, as after a restore ---

later(60_000);
draw(2);
later(3000);
set($now + 2000);
cmp_ok(draw(2), '>=', $now + 2000, 'set 2 s forward: ids go on from there');
later(60_000);
draw(2);
set($now + 30_000);
later(1100);
like(refused($node, 2), $SET_AHEAD, 'set 30 s forward: refused');
crash($now);
like(refused($node, 2), $SET_AHEAD, 'and after a crash');
is($node->safe_psql('postgres', 'SELECT snowid.accept_high_water()'), 't', 'accepted');
cmp_ok(draw(2), '>=', $now + 28_900, 'then ids go on from there');
crash($now);
cmp_ok(draw(2), '>=', $now + 28_900, 'and after a crash, as from a mark that the server has written');
later(60_000);
draw(2);
set($now + 30_000);
later(28_001);
cmp_ok(draw(2), '>=', $now + 1999, 'set 30 s forward: once the clock is near, ids go on from there by themselves');

# Lower than the server has written, but ahead of the clock: what was restored with it may reach up to it.
later(60_000);
crash($now);
draw(2);
set($now + 1500);
later(1001);
cmp_ok(draw(10), '>=', $now + 499, 'set between the clock and what the server has written: ids go on from there');

# --- Used as the sequence that it is ---

later(120_000);
draw(2);
error_of($node, 'postgres', "SELECT nextval('snowid.high_water') FROM generate_series(1, 40)");
draw(2);
later(1000);
draw(2);
crash($now - 1000);
draw(2, 2000);
$ledger->is_sound('set back and forward, and used by nextval()');

# --- The extension dropped and created again, while the server runs ---

later(60_000);
draw(3);
$node->safe_psql('postgres', 'DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid');
is(mark(), $now + 2000, 'created anew, the mark stands above all that the server has made');
crash($now - 10_000);
cmp_ok(draw(3), '>=', $now + 2000, 'so ids go on above after a crash');

# In a transaction that isn't committed when the server dies: meanwhile others draw.
later(60_000);
my ($owner, $other) = map { background($node, 'postgres') } 1 .. 2;
$ledger->note($other->query_safe('SELECT next_id(3)'));
later(20_000);
$owner->query_safe('BEGIN; DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid');
$owner->query_safe('SELECT next_id(3)');    # of a mark that will never have been
my $pid = $other->query_safe('SELECT pg_backend_pid()');
$other->{stdin} .= "SELECT next_id(4);\n\\echo done\n\\warn done\n";
my $done = sub { $other->{run}->pump_nb; return $other->{stdout} =~ /done\n/ && $other->{stderr} =~ /done\n/ };
wait_until('an id, or a lock', sub { $done->() || $node->safe_psql('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid") eq 't' });
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
wait_until('the end of it', $done);
my ($id) = $other->{stdout} =~ /^(\d+)\n/;
$ledger->note($id) if defined $id;
note(defined $id ? "another session was given $id meanwhile" : 'another session waits for the lock and gives up');
$_->quit for $owner, $other;
crash($now);
draw(4);
$ledger->is_sound('created anew in a transaction that a crash took back: no id of another session repeats');

# In a transaction that is rolled back.
later(60_000);
draw(5);
later(20_000);
$node->safe_psql('postgres', 'BEGIN; DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid; SELECT next_id(5); ROLLBACK');
draw(5);
crash($now);
draw(5);
$ledger->is_sound('created anew in a transaction that was rolled back: no id of later repeats');

# Within the transaction that creates it, which then commits.
later(60_000);
$ledger->note((split /\n/, $node->safe_psql('postgres', 'BEGIN; DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid; SELECT next_id(6); COMMIT'))[-1]);
crash($now);
draw(6);
$ledger->is_sound('ids drawn in the very transaction that creates it, committed');

# --- Dropped by force ---

later(60_000);
draw(7);
$node->safe_psql('postgres', <<'SQL');
ALTER EXTENSION pg_snowid DROP VIEW snowid.status;
DROP VIEW snowid.status;
ALTER EXTENSION pg_snowid DROP SEQUENCE snowid.high_water;
DROP SEQUENCE snowid.high_water;
SQL
later(3000);
like(refused($node, 7), qr/ERROR: +55000: sequence "snowid.high_water" does not exist\n.*HINT: /s, 'the sequence dropped: an error that says so, and what to do');
crash($now);
like(refused($node, 7), qr/ERROR: +55000: sequence "snowid.high_water" does not exist\n/, 'after a restart as well');
$node->safe_psql('postgres', 'CREATE TABLE snowid.high_water (last_value bigint)');
like(refused($node, 7), qr/ERROR: +55000: sequence "snowid.high_water" does not exist\n/, 'a table of its name does not do');
$node->safe_psql('postgres', 'DROP TABLE snowid.high_water; DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid');
$node->safe_psql('postgres', "SELECT snowid.advance($ledger->{greatest}{7})");
draw(7);
$ledger->is_sound('created anew as the hint says');

# --- Made unlogged ---

$node->safe_psql('postgres', 'ALTER SEQUENCE snowid.high_water SET UNLOGGED');
later(3000);
like(refused($node, 7), qr/ERROR: +55000: sequence "snowid.high_water" is not logged\n.*HINT: /s, 'made unlogged: an error that says so, and what to do');
$node->safe_psql('postgres', 'ALTER SEQUENCE snowid.high_water SET LOGGED');
draw(7);
$ledger->is_sound('logged again as the hint says');

# --- Its file damaged ---

# Where a sequence's page has its last value: behind the header of its only tuple.
sub data_in
{
	my ($page) = @_;
	my $tuple = unpack('L', substr($page, 24, 4)) & 0x7fff;
	return $tuple + ord substr($page, $tuple + 22, 1);
}

for my $damage (
	[ 'the page zeroed', sub { "\0" x 8192 }, 'XX001' ],
	[ 'the tuple scribbled over', sub { my $page = shift; substr($page, 24, 4, "\xff" x 4); $page }, 'XX001' ],
	[ 'the page of something else', sub { my $page = shift; substr($page, 8184, 8, "\0" x 8); $page }, 'XX001' ],
	[ 'the header scribbled over', sub { my $page = shift; substr($page, 10, 14, "\xff" x 14); $page }, 'XX001' ],
	[ 'the tuple zeroed', sub { my $page = shift; my $data = data_in($page); substr($page, $data, 17, "\0" x 17); $page }, 'XX001' ],
	[ 'the value below 1', sub { my $page = shift; substr($page, data_in($page), 8, pack 'q', -5); $page }, 'XX001' ],
	[ 'the file cut off', sub { '' }, 'XX001' ],
	[ 'the file lost', sub { undef }, '58P01' ])
{
	my ($name, $change, $sqlstate) = @$damage;
	later(60_000);
	draw(8);
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('snowid.high_water')");
	$node->safe_psql('postgres', 'CHECKPOINT');
	$node->stop;
	command_ok([ 'pg_checksums', '--disable', '-D', $node->data_dir ], "$name: checksums are off") if `pg_controldata -D @{[ $node->data_dir ]}` =~ /checksum version: +[1-9]/;
	open my $in, '<:raw', $path or die "$path: $!";
	my $page = do { local $/ = undef; <$in> };
	close $in;
	my $damaged = $change->($page);
	if (defined $damaged)
	{
		open my $out, '>:raw', $path or die "$path: $!";
		print $out $damaged;
		close $out or die "$path: $!";
	}
	else { unlink $path or die "$path: $!" }
	start_again($node, $clock);
	$ledger->new_round;
	like(refused($node, 8), qr/ERROR: +$sqlstate: /, "$name: an error with SQLSTATE $sqlstate, no id");
	like(refused($node, 8), qr/ERROR: +$sqlstate: /, "$name: again");
	$node->safe_psql('postgres', "DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid; SELECT snowid.advance($ledger->{greatest}{8})");
	draw(8);
}
$ledger->is_sound('damaged and created anew');

# --- Who may touch it ---

$node->safe_psql('postgres', 'CREATE ROLE someone LOGIN; GRANT CREATE ON SCHEMA public TO someone; CREATE ROLE owner LOGIN; CREATE DATABASE owned OWNER owner');
for my $sql ('SELECT last_value FROM snowid.high_water', "SELECT setval('snowid.high_water', 1)", "SELECT nextval('snowid.high_water')",
	'ALTER SEQUENCE snowid.high_water RESTART', 'DROP SEQUENCE snowid.high_water', 'SELECT snowid.accept_clock()', 'SELECT snowid.accept_high_water()',
	'SELECT snowid_internal.init_high_water()')
{
	like(error_of($node, 'postgres', "SET ROLE someone; $sql"), qr/ERROR: +42501: (permission denied|must be owner)/, "an ordinary user: $sql");
}
like($node->safe_psql('postgres', 'SET ROLE someone; SELECT next_id(9)'), qr/^\d+$/, 'an ordinary user draws, which raises the mark');
$node->safe_psql('owned', 'SET ROLE owner; CREATE EXTENSION pg_snowid; SELECT next_id(9)');
like($node->safe_psql('owned', "SET ROLE owner; SELECT last_value > 1, setval('snowid.high_water', last_value) = last_value FROM snowid.high_water"),
	qr/^t\|t$/, 'an owner who is no superuser reads and sets it, as pg_dump and pg_restore do');
like(error_of($node, 'owned', 'SET ROLE owner; SELECT snowid.accept_high_water()'), qr/ERROR: +42501: permission denied/, 'but cannot accept one that is far ahead');
like(error_of($node, 'owned', 'SET ROLE owner; DROP SEQUENCE snowid.high_water'), qr/ERROR: +(42501|2BP01): /, 'but cannot drop it');

$node->stop;
done_testing();
