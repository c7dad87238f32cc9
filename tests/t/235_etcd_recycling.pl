# Proves the recycling of worker ids: where all pairs that a server may have are taken it gets a clear "exhausted"
# error, the 1025th server too, and a pair as soon as there is one: one that was released, or was abandoned
# for longer than pg_snowid.etcd_grace. The new holder starts above all that the old one gave, even with a
# clock that stands behind: nothing is repeated. A pair whose holder lives is never taken.
#
# The old holder's clock is 4 s ahead, the new one's 4 s behind, and both stand still in the same
# milliseconds: without the recorded bound the two would give the same ids.

use strict;
use warnings;

use JSON::PP;
use Test::More;
use Snowid qw(unix_ms);
use SnowidCrash qw(start_again wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $EXHAUSTED = qr/ERROR: +53400: .*exhausted/;
my %one_pair = (datacenter_id => 2, worker_id => 3, max_clock_difference => '20s');
my %clocks = map { $_ => Snowid::Clock->new } qw(first second third);

# --- One pair, and who has it ---

my $first = $etcd->server('first', clock => $clocks{first}, settings => \%one_pair);
is(in_force($first, 'etcd'), '2/3', 'the first has the only pair that it may have');
my $second = $etcd->server('second', clock => $clocks{second}, settings => \%one_pair);
claim_refused($second, $EXHAUSTED, qr/\b1\b/, 'the second');

my $now = unix_ms();
$clocks{first}->stands($now + 4000);
$clocks{second}->stands($now - 4000);
wait_until('a bound by the new clock', sub { refusal($first) eq '' });
draw($first, 100_000);
$first->safe_psql('postgres', 'SELECT snowid.release_worker()');
my $bound = $etcd->record('pair/02/03')->{bound_ms};
is(in_force($second, 'etcd'), '2/3', 'released: the second has it');
my ($id) = draw($second);
cmp_ok(ms_of($id), '>=', $bound, 'its clock is 8 s behind the first\'s: it starts at the recorded bound');
draw($second, 100_000);
$clocks{second}->stands(ms_of($id) - 2000);
draw($second, 100_000);
nothing_twice('a released pair, two clocks that stand still');
$first->reload;
claim_refused($first, $EXHAUSTED, qr/./, 'the first, claiming again');

# --- Abandoned ---

my $third = $etcd->server('third', clock => $clocks{third}, settings => { %one_pair, etcd_grace => '1s' });
claim_refused($third, $EXHAUSTED, qr/./, 'the third, while the second lives');
$first->stop;
$clocks{second}->runs(2000);
$clocks{third}->runs(-2000);
draw_on($second, 2);
draw_on($third);
wait_until('a bound by the new clock', sub { $etcd->record('pair/02/03')->{bound_ms} > unix_ms() + 4000 });
wait_until('ids within it', sub { refusal($second) eq '' });
draw($second, 1000);
$second->kill9;
$bound = $etcd->record('pair/02/03')->{bound_ms};
is(in_force($third, 'etcd'), '2/3', 'abandoned for longer than the grace time: the third has it');
cmp_ok(ms_of(draw($third)), '>=', $bound, 'and starts at the recorded bound');
draw($third, 1000);
$clocks{second}->runs(0);
start_again($second, $clocks{second});
claim_refused($second, $EXHAUSTED, qr/./, 'the second, back too late');
is($etcd->record('name/second'), undef, 'its name stands for no pair any more');
like(stop_drawing(), $EXHAUSTED, 'sessions were told so');
nothing_twice('an abandoned pair');
$_->stop for $second, $third;

# --- All 1024 ---

my @pairs = map { my $d = $_; map { [ $d, $_ ] } 0 .. 31 } 0 .. 31;
while (my @some = splice @pairs, 0, 40)
{
	$etcd->put(map {
		my ($datacenter, $worker) = @$_;
		my $name = sprintf 's%02d%02d', $datacenter, $worker;
		my %pair = (datacenter => $datacenter + 0, worker => $worker + 0);
		my %who = (instance => unpack('H*', $name x 4), boot => '', time_ms => unix_ms());
		("name/$name" => \%pair,
			"live/$name" => { %pair, %who, host => 'elsewhere', port => 5432, data_directory => "/$name" },
			sprintf('pair/%02d/%02d', @$_) => { %who, name => $name, bound_ms => $who{time_ms} + 5000, floor_ms => 0,
				released => JSON::PP::false });
	} @some);
}
my $late = $etcd->server('late', settings => { etcd_grace => '1s' });
claim_refused($late, $EXHAUSTED, qr/\b1024\b/, 'the 1025th server');
wait_until('the grace time of one without a server', sub { unix_ms() > $etcd->record('pair/17/09')->{bound_ms} + 1000 });
like(refusal($late), $EXHAUSTED, 'all are past the grace time, and live');
$bound = $etcd->record('pair/17/09')->{bound_ms};
$etcd->delete('live/s1709');
is(in_force($late, 'etcd'), '17/9', 'the one whose server has gone is taken');
cmp_ok(ms_of(draw($late)), '>=', $bound, 'from its bound');
$late->stop;
done_testing();
