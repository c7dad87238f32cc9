# Proves that what speaks with etcd is a library of its own, which the lease worker's process alone loads:
# no session has it. Where it isn't installed, or has another layout of shared memory than the server's,
# the log says so, no id is given, all else works, and it claims a pair as soon as the right one is there.
#
# It would fail if a session loaded the network code, if a worker used memory that it takes for something
# else, or if it took a restart of the server to get over it.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid qw(background);
use SnowidCrash qw(wait_until);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $other = PostgreSQL::Test::Utils::tempdir('other');

my $node = $etcd->server('a', conf => "dynamic_library_path = '$other:\$libdir'");
is(in_force($node, 'etcd'), '0/0', 'the library is found in the second folder: a pair is in force');

sub libraries
{
	my ($pid) = @_;
	my %seen = map { $_ => 1 } slurp_file("/proc/$pid/maps") =~ m{/(pg_snowid\w*)\.so}g;
	return join ' ', sort keys %seen;
}
my $session = background($node, 'postgres');
$session->query_safe('SELECT snowflake_id(), next_id(5)');
is(libraries($session->query_safe('SELECT pg_backend_pid()')), 'pg_snowid', 'a session that draws has loaded the one library');
is(libraries(lease_worker($node)), 'pg_snowid pg_snowid_etcd', 'the lease worker has both');

# Kills the worker, and with it the memory that holds the pair; waits until the next one has said why it can't.
sub next_worker_says
{
	my ($regex) = @_;
	my $log = -s $node->logfile;
	kill 'KILL', lease_worker($node);
	wait_until('the next worker', sub { slurp_file($node->logfile, $log) =~ $regex });
	wait_until('connections', sub { $node->psql('postgres', 'SELECT 1') == 0 });
	like(refusal($node), qr/55000: +no worker ID is claimed yet\n.*\nHINT: .*the server's log says why/, 'no id is given, and the log says why');
	is(pair_of($node), 'none', 'no pair is in force');
	like($node->safe_psql('postgres', 'SELECT next_id(5)'), qr/^\d+$/, 'shards are served all the same');
	return;
}

# --- Another layout ---

my $library = slurp_file($node->config_data('--pkglibdir') . '/pg_snowid_etcd.so');
my $magic = 'pg_snowid memory';
is(scalar(() = $library =~ /$magic/g), 1, 'what the library says of itself is found');
my $at = index($library, $magic) + length $magic;
my ($layout, $size) = unpack 'Q Q', substr $library, $at, 16;
substr($library, $at, 48) = pack 'Q Q a32', $layout ^ 1, $size, '0.1.7';
append_to_file("$other/pg_snowid_etcd.so", $library);
chmod 0755, "$other/pg_snowid_etcd.so";

next_worker_says(qr/ERROR:  pg_snowid's shared memory is of another version\n.*DETAIL:  It was laid out by pg_snowid 0\.1\.0 \(layout [0-9a-f]{16}\), this session has loaded pg_snowid 0\.1\.7 /);
unlink "$other/pg_snowid_etcd.so";
is(in_force($node, 'etcd'), '0/0', 'the right library is there: the same pair is in force');

# --- Not installed ---

sub looks_in { $node->append_conf('postgresql.conf', "dynamic_library_path = '$_[0]'"); return $node->reload }
looks_in($other);
next_worker_says(qr/could not access file "pg_snowid_etcd"/);
looks_in('$libdir');
is(in_force($node, 'etcd'), '0/0', 'installed: the same pair is in force');
$node->stop;
done_testing();
