# Proves that an etcd of three members can lose any one of them, its leader too, and come back, while
# two servers draw all the time: no session has an error and no id is given twice. When two are lost there
# is no majority: servers go on up to their bound and are served again when one is back.
#
# It would fail if only one endpoint were asked, or if a failed renewal were tried again too late.

use strict;
use warnings;

use Test::More;
use SnowidCrash qw(wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new(members => 3);
my @nodes = map { $etcd->server($_, settings => { etcd_lease => '9s' }) } qw(a b);
my %pair = map { $_->name => in_force($_, 'etcd') } @nodes;
my @sessions = map { draw_on($_, 2) } @nodes;

# Waits until both servers have renewed their leases. The recorded bounds must only grow.
my (%bounds, $went_back);
sub renewed
{
	my %until = map { $_->name => status($_, 'lease_until') } @nodes;
	wait_until('both renew their leases', sub {
		my $pairs = eval { $etcd->records('pair/') } || {};
		for my $key (keys %$pairs)
		{
			my $bound = $pairs->{$key}{bound_ms};
			$went_back .= "$key: $bounds{$key} to $bound " if $bound < ($bounds{$key} // 0);
			$bounds{$key} = $bound;
		}
		return 2 == grep { status($_, "lease_until > '$until{$_->name}'") eq 't' } @nodes;
	});
	return;
}

for my $case ([ 'the leader', $etcd->leader ], [ 'the first', 0 ], [ 'the last', 2 ])
{
	my ($what, $member) = @$case;
	$etcd->kill9($member);
	renewed();
	pass("$what is killed: both go on");
	$etcd->start;
	is(pair_of($_), $pair{ $_->name }, "$what is back: " . $_->name . ' has its pair') for @nodes;
}

# A member that stands still and goes on may carry out what nobody waits for any more.
for my $member (0 .. 2)
{
	$etcd->cut($member);
	renewed();
	$etcd->mend($member);
	renewed();
	pass("member $member stands still for a while: both go on");
}
is($went_back, undef, 'no recorded bound ever went back');
is(stop_drawing(), '', 'no session has had an error');

draw_on($_) for @nodes;
$etcd->kill9(0, 1);
wait_until('both servers run out', sub { 2 == grep { refusal($_) =~ /55000/ } @nodes });
$etcd->start;
is(in_force($_, 'etcd'), $pair{ $_->name }, 'two are lost, and back: ' . $_->name . ' has its pair again') for @nodes;
draw($_, 1000) for @nodes;
like(stop_drawing(), qr/^ERROR: +55000: the lease of this server's worker ID has run out$/, 'the sessions had errors when the lease had run out');
nothing_twice('all ids');
$_->stop for @nodes;
done_testing();
