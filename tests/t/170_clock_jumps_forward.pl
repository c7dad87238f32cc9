# Proves that a clock that is wrong ahead cannot put the ids years ahead: where it jumps forward while the
# server runs, or stands implausibly far past the mark at a start, ids are refused with a clear error, and
# nothing has changed when it is set right. A server that was off for a month starts normally. An
# administrator who knows that the clock is right says so with snowid.accept_clock(). A clock that was wrong
# behind and is set right is no jump.
#
# It would fail if a wrong clock raised the mark, if elapsed time counted as a jump, or if setting a clock
# right after it was behind needed an administrator.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;

my $DAY = 86_400_000;
my $clock = Snowid::Clock->new;
my $node = server('main', clock => $clock);
my $ledger = SnowidCrash::Ledger->new;
sub mark { return $node->safe_psql('postgres', 'SELECT last_value FROM snowid.high_water') }
sub state { return $node->safe_psql('postgres', 'SELECT last_value FROM snowid.high_water; SELECT last_id FROM snowid.generators ORDER BY 1') }
sub draw { my ($shard) = @_; $ledger->note(my $id = one_id($node, $shard)); return (fields($id))[0] }
sub server_ms { return $node->safe_psql('postgres', 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)') }
sub restart { my ($ahead) = @_; $node->stop; $clock->runs($ahead); start_again($node, $clock); return }

# The time since boot, which tells a jump from elapsed time, is not Snowid::Clock's to move.
sub clocks { return $clock->over(sub { `perl -MTime::HiRes=clock_gettime -e 'printf "%d %d", clock_gettime(7), time'` }) }
my $before = clocks();    # 7 is CLOCK_BOOTTIME
$clock->runs(400 * $DAY);
my $after = clocks();
$clock->runs(0);
my ($boot_before, $wall_before, $boot_after, $wall_after) = map { split / / } $before, $after;
cmp_ok($wall_after - $wall_before, '>', 399 * 86_400, 'the test can move the wall clock');
cmp_ok($boot_after - $boot_before, '<', 86_400, 'and leaves the time since boot alone');

# --- 2040 by mistake, while the server runs ---

draw(1);
my $state = state();
my $to_2040 = 2_208_988_800_000 - unix_ms();
$clock->runs($to_2040);
my $error = refused($node, 1);
like($error, $JUMPED, 'set to 2040: refused');
like($error, qr/DETAIL: +The clock says 20[34]\d-\S+ \S+\+00, expected was 20\d\d-\S+ \S+\+00; 86400 s are tolerated\.\nHINT: .*accept_clock/,
	'with both times and a hint');
like(refused($node, 2), $JUMPED, 'so is another shard');
like(refused($node, 1), $JUMPED, 'and the next call');
like(error_of($node, 'postgres', 'SELECT next_ids(1, 10)'), $JUMPED, 'and a block');
like(error_of($node, 'postgres', 'SELECT snowflake_id(1, 1)'), $JUMPED, 'and a worker');
is(state(), $state, 'nothing has changed: not the mark, not a generator');
$clock->runs(0);
cmp_ok(abs(draw(1) - server_ms()), '<', 10_000, 'set right: ids go on, of the present');
draw(1);

# The longest jump that is tolerated, and the mark after it.
$clock->runs($DAY - 60_000);
cmp_ok(abs(draw(3) - server_ms()), '<', 10_000, 'a jump of a day less a minute is tolerated');
$clock->runs(2 * $DAY - 120_000);
cmp_ok(abs(draw(3) - server_ms()), '<', 10_000, 'and another');

# --- The clock is right after all ---

$clock->runs(30 * $DAY);
like(refused($node, 4), $JUMPED, 'set a month ahead: refused');
is($node->safe_psql('postgres', 'SELECT snowid.accept_clock()'), 't', 'snowid.accept_clock() says that it is right');
cmp_ok(abs(draw(4) - server_ms()), '<', 10_000, 'ids go on, of its time');
$ledger->new_round;
$node->stop('immediate');
start_again($node, $clock);
cmp_ok(abs(draw(4) - server_ms()), '<', 10_000, 'after a crash too');

# --- Off for a month, for two years ---

restart(61 * $DAY);
cmp_ok(abs(draw(5) - server_ms()), '<', 10_000, 'off for a month: starts normally');
restart((61 + 365) * $DAY);
cmp_ok(abs(draw(5) - server_ms()), '<', 10_000, 'off for a year: starts normally');
restart((61 + 365 + 731) * $DAY);
$state = state();
$error = refused($node, 5);
like($error, $PAST_MARK, 'off for two years: refused');
like($error, qr/DETAIL: +The clock says \S+ \S+\+00, the last IDs of this database are from before \S+ \S+\+00; 31622400 s are tolerated\.\nHINT: .*accept_clock/,
	'with both times and a hint');
is(state(), $state, 'nothing has changed');
is($node->safe_psql('postgres', 'SELECT snowid.accept_clock()'), 't', 'snowid.accept_clock() gets out');
cmp_ok(abs(draw(5) - server_ms()), '<', 10_000, 'ids go on');
$ledger->is_sound('all ids so far');

# --- A clock that was wrong behind, and is set right ---

my $ahead = (61 + 365 + 731) * $DAY;
restart($ahead - 3 * $DAY);
like(refused($node, 6), $BEHIND, 'started three days behind, as before the network time comes: refused');
$clock->runs($ahead + 10_000);
is(refused($node, 6), '', 'set right: ids go on by themselves');
$node->safe_psql('postgres', 'SELECT snowid.accept_clock()');
draw(6);
$clock->runs($ahead - 3 * $DAY);
like(refused($node, 6), $BEHIND, 'set three days back while it runs: refused');
$node->safe_psql('postgres', 'CREATE DATABASE another');
$node->safe_psql('another', 'CREATE EXTENSION pg_snowid; SELECT next_id(7)');
pass('another database, with an extension and a shard that are new, makes ids of that time');
$clock->runs($ahead + 20_000);
is(refused($node, 6), '', 'set right: ids go on by themselves');
$node->safe_psql('postgres', 'SELECT snowid.accept_clock()');
is(refused($node, 7, 'another'), '', 'in the other database as well');

# --- A database that is new vouches for no clock ---

$clock->runs($ahead + 5000 * $DAY);
$node->safe_psql('postgres', 'CREATE DATABASE new_1; ');
$node->safe_psql('postgres', 'CREATE DATABASE new_2');
like(error_of($node, 'new_1', 'CREATE EXTENSION pg_snowid'), $JUMPED, 'jumped: an extension cannot be created');
like(refused($node, 6), $JUMPED, 'and others stay refused');
restart($ahead + 5000 * $DAY);
$node->safe_psql('new_2', 'CREATE EXTENSION pg_snowid');
like(refused($node, 6), $PAST_MARK, 'started so: a database of before goes by its own mark, whatever a new one took for right');
restart($ahead + 30_000);
is(refused($node, 6), '', 'set right: ids go on by themselves');

# --- The setting ---

$node->append_conf('postgresql.conf', "pg_snowid.max_clock_jump = '1h'\npg_snowid.max_downtime = '1d'");
restart($ahead + 30_000);
draw(8);
$clock->runs($ahead + 2 * 3_600_000);
like(refused($node, 8), qr/$JUMPED.*; 3600 s are tolerated/s, 'pg_snowid.max_clock_jump sets what is tolerated');
restart($ahead + 2 * $DAY);
like(refused($node, 8), qr/$PAST_MARK.*; 86400 s are tolerated/s, 'pg_snowid.max_downtime too');
$node->stop;
done_testing();
