# Proves that a server whose clock is wrong gets no worker id: behind the time that was recorded for its
# pair, or away from the other live servers' times by more than pg_snowid.max_clock_difference, it is refused
# with the figures, and is served by itself once the clock is right. One live server with a wrong clock
# refuses nobody: the median of the others counts.
#
# It would fail if one of the two were not looked at, in one of the directions, or if the mean counted.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid qw(unix_ms);
use SnowidCrash qw(start_again wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $WRONG = qr{ERROR: +55000: clock (is behind the last time recorded for the worker ID|differs from the other live servers')\n};
my $FIGURES = qr/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*.*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*.*\b10000 ms are tolerated/;

# --- Its own recorded time ---

my $a = $etcd->server('a');
my $pair = in_force($a, 'etcd');
draw($a, 1000);
$a->stop;

# It is the record that is changed here: the clock is behind it.
my $record = $etcd->record('pair/00/00');
$etcd->put('pair/00/00' => { %$record, time_ms => $record->{time_ms} + 60_000 });
start_again($a);
claim_refused($a, $WRONG, $FIGURES, 'a minute behind its own record');
is($etcd->record('live/a'), undef, 'it has no lease');
$etcd->put('pair/00/00' => { %$record, time_ms => unix_ms() + 5000 });
is(in_force($a, 'etcd'), $pair, '5 s behind its own record: served, without being asked');
draw($a, 1000);

# Without etcd it is the time in the data directory that the clock is held against.
sub store
{
	my ($ms) = @_;
	rewrite_lease($a, sub { $_[0] =~ s/("(?:time|bound)_ms":)(\d+)/$1 . ($2 + $ms)/ger });
	return;
}
$etcd->kill9;
$a->stop('immediate');
store(60_000);
start_again($a);
claim_refused($a, $WRONG, $FIGURES, 'a minute behind what it stored, without etcd');
$a->stop('immediate');
store(-40_000);
start_again($a);
claim_refused($a, $WRONG, $FIGURES, '20 s behind it');
$a->stop('immediate');
store(-12_000);
start_again($a);
is(in_force($a, 'etcd, cached'), $pair, '8 s behind it: served from what it stored');
draw($a, 1000);
$etcd->start;
in_force($a, 'etcd');

# --- The other servers' times ---

my %clocks = map { $_ => Snowid::Clock->new } qw(b c d);
my ($b, $c) = map { $etcd->server($_, clock => $clocks{$_}) } qw(b c);
in_force($_, 'etcd') for $a, $b, $c;
$clocks{d}->runs(60_000);
my $d = $etcd->server('d', clock => $clocks{d});
claim_refused($d, $WRONG, $FIGURES, 'a minute ahead of three others');
ok(!$etcd->record('name/d'), 'it has taken no pair');
$clocks{d}->runs(-60_000);
wait_until('d tries again', sub { problem($d) =~ /the clock says/ && time_ms($d, 'clock_timestamp()') < unix_ms() - 50_000 });
claim_refused($d, $WRONG, $FIGURES, 'a minute behind three others');

# One that lives with a wrong clock, as when it was set after the claim.
my $live = $etcd->record('live/b');
$etcd->put('live/wild' => { %$live, worker => 31, time_ms => unix_ms() + 1_800_000 });
$clocks{d}->runs(0);
in_force($d, 'etcd');
pass('right by the median, while one of four is half an hour ahead: served');

# A clock that goes wrong while its server holds a pair.
my $of_c = pair_of($c);
$clocks{c}->runs(1_800_000);
wait_until('c has a problem', sub { problem($c) =~ /clock differs/ });
like(refusal($c), qr/ERROR: +55000: /, 'a clock that is set half an hour ahead is found out: no ids');
$clocks{c}->runs(0);
is(in_force($c, 'etcd'), $of_c, 'set right: served again');
draw($_, 1000) for $b, $c, $d;
nothing_twice('whatever the clocks said');
$_->stop for $a, $b, $c, $d;
done_testing();
