# Proves that a pair that was released stays so when the lease worker is ended and started again: only a
# reload or a restart of the server claims one.
#
# It would fail if a new worker began to claim whatever its predecessor had been told.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SnowidCrash qw(wait_until);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $node = $etcd->server('a');
in_force($node, 'etcd');
is($node->safe_psql('postgres', 'SELECT snowid.release_worker()'), 't', 'the pair is released');

my $log = -s $node->logfile;
end_lease_worker($node, 'TERM');
# The new worker says so as well, when it has made up its mind.
wait_until('the new worker has begun', sub { slurp_file($node->logfile, $log) =~ /has released its worker ID|claimed datacenter/ });
claim_refused($node, qr/this server has released its worker ID/, qr/release_worker/, 'another worker was started');

$node->reload;
isnt(in_force($node, 'etcd'), 'none', 'a reload claims a pair');
$node->stop;
done_testing();
