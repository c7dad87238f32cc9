# Proves that a server which has released the only pair that it may have, and claims it again by a reload,
# makes ids of now, however long its lease is: the bound that ended the draws of before is not what it goes
# on from. What was drawn, or advanced to, before the reload is not repeated.
#
# It would fail if the pair's generator stayed at the old bound (a day ahead ids are refused), also where the lease
# worker was started anew meanwhile, or if it were set back below what somebody counts on.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid qw(unix_ms at_most);
use SnowidCrash qw(wait_until);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $node = $etcd->server('a', settings => { datacenter_id => 3, worker_id => 4, etcd_lease => '1d' });
is(in_force($node, 'etcd'), '3/4', 'the pair that is set');
my $bound = $etcd->record('pair/03/04')->{bound_ms};
draw_on($node, 2);

# Releases the pair and claims it again, and does something in between.
sub again
{
	my ($between) = @_;
	is($node->safe_psql('postgres', 'SELECT snowid.release_worker()'), 't', 'the pair is released');
	$between->();
	$node->reload;
	is(in_force($node, 'etcd'), '3/4', 'a reload claims it again');
	return;
}
# The second time by another lease worker.
for my $how ('first', 'second')
{
	my $last = draw($node);
	again(sub {
		end_lease_worker($node, 'TERM') if $how eq 'second';
		at_most($etcd->record('pair/03/04')->{bound_ms} - unix_ms(), 5000, 'the next holder begins, ms ahead of the clock');
	});
	my $id = draw($node);
	cmp_ok($id, '>', $last, "$how time: ids go on above those of before");
	at_most(ms_of($id) - unix_ms(), 5000, "$how time: ms ahead of the clock");
	cmp_ok($etcd->record('pair/03/04')->{bound_ms}, '>=', $bound, 'etcd knows how far draws that had begun may come');
}

# What etcd forgets meanwhile the server itself knows.
my $last = draw($node);
again(sub { $etcd->delete('pair/03/04') });
cmp_ok(draw($node), '>', $last, 'the record was lost: ids go on above those of before');

# Whoever advances a pair counts on it.
my $ahead = $node->safe_psql('postgres', "SELECT make_snowflake_id(clock_timestamp() + '20 s', 3, 4)");
$node->append_conf('postgresql.conf', "pg_snowid.max_clock_regression = '2d'");
again(sub { $node->safe_psql('postgres', "SELECT snowid.advance_snowflake($ahead)") });
cmp_ok(draw($node), '>', $ahead, 'advanced while it was released: ids are above that');
again(sub {});
cmp_ok(draw($node), '>', $ahead, 'and stay so');

unlike(stop_drawing(), qr/^(?!ERROR: +55000: (this server has released its worker ID|no worker ID is claimed yet)$)./m,
	'sessions have no other error than that there is no pair');
nothing_twice('released and claimed again');
$node->stop;
done_testing();
