# Proves that a server whose clock is wrong gets no worker id: behind the time that was recorded for its
# pair, or away from the other live servers' times by more than pg_snowid.max_clock_difference, it is refused
# with the figures, and is served by itself once the clock is right. One live server with a wrong clock
# refuses nobody: the median of the others counts.
#
# It would fail if one of the two were not looked at, in one of the directions, or if the mean counted.

use strict;
use warnings;

use Test::More;
use Snowid qw(unix_ms);
use SnowidCrash qw(start_again wait_until status);
use SnowidEtcd;

my $etcd = SnowidEtcd->new;
my $WRONG = qr/ERROR: +55000: .*clock/;
my $FIGURES = qr/DETAIL: .*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*.*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*.*\b10000 ms are tolerated/;

# --- Its own recorded time ---

my %clocks = map { $_ => Snowid::Clock->new } qw(a b c d);
my $a = $etcd->server('a', clock => $clocks{a});
my $pair = in_force($a, 'etcd');
draw($a, 1000);
$a->stop;
$clocks{a}->runs(-60_000);
start_again($a, $clocks{a});
claim_refused($a, $WRONG, $FIGURES, 'a minute behind its own record');
$clocks{a}->runs(-5_000);
is(in_force($a, 'etcd'), $pair, 'set to 5 s behind: served');
is(problem($a), '', 'and there is no problem any more');
draw($a, 1000);
$clocks{a}->runs(0);

# Without etcd it is the record in the data directory that the clock is held against.
$a->append_conf('postgresql.conf', "pg_snowid.etcd_lease = '3min'");
$a->reload;
wait_until('the long lease', sub { status($a, "lease_until - clock_timestamp() > '2 min'") eq 't' });
$etcd->kill9;
$a->stop('immediate');
$clocks{a}->runs(-60_000);
start_again($a, $clocks{a});
claim_refused($a, $WRONG, $FIGURES, 'a minute behind what it stored, without etcd');
$clocks{a}->runs(0);
is(in_force($a, 'etcd, cached'), $pair, 'set right, without etcd: served from what it stored');
draw($a, 1000);
$etcd->start;
in_force($a, 'etcd');
$a->append_conf('postgresql.conf', "pg_snowid.etcd_lease = '5s'");
$a->reload;

# --- The other servers' times ---

my ($b, $c) = map { $etcd->server($_, clock => $clocks{$_}) } qw(b c);
in_force($_, 'etcd') for $b, $c;
my $d = $etcd->server('d', clock => do { $clocks{d}->runs(60_000); $clocks{d} });
claim_refused($d, $WRONG, $FIGURES, 'a minute ahead of three others');
ok(!$etcd->record('node/d'), 'it has taken no pair');
$clocks{d}->runs(-60_000);
claim_refused($d, $WRONG, $FIGURES, 'a minute behind three others');

# a's clock goes wrong while it runs.
$clocks{a}->runs(1_800_000);
wait_until('a reports its time', sub { $etcd->record('live/a')->{time_ms} > unix_ms() + 1_000_000 });
$clocks{d}->runs(0);
in_force($d, 'etcd');
pass('right by the median, while one of three is half an hour ahead: served');
draw($_, 1000) for $b, $c, $d;
nothing_twice('whatever the clocks said');
$_->stop for $a, $b, $c, $d;
done_testing();
