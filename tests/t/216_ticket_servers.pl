# Proves that two servers share tickets, odd and even, as Flickr's did: clients take turns between them,
# one server is killed and comes back, and meanwhile the service goes on. No ticket is given twice. A dump
# carries the sequence, which goes on where it is restored.
#
# It would fail if a server gave what is the other's, or what it gave before it was killed, or if what a
# ticket sequence is were not in the dump.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;
use SnowidTickets;

my $odd = server('odd');
my $even = server('even');
$odd->safe_psql('postgres', "SELECT snowid.create_ticket_sequence('orders', 2, 1)");
$even->safe_psql('postgres', "SELECT snowid.create_ticket_sequence('orders', 2, 2)");

# Waits until a server has given a hundred more.
sub hundred_more
{
	my ($node) = @_;
	my $goal = last_ticket($node) + 200;
	return wait_until('tickets of ' . $node->name, sub { last_ticket($node) >= $goal });
}

my @clients = start_clients(4, $odd, $even);
ok(hundred_more($_), $_->name . ' gives tickets') for $odd, $even;
my $last = last_ticket($even);
$even->kill9;
ok(hundred_more($odd), 'even is killed: the service goes on');
start_again($even);
cmp_ok(last_ticket($even), '>=', $last, 'even is back: its sequence is past all that it gave');
ok(hundred_more($_), $_->name . ' gives tickets again') for $even, $odd;
my @files = stop_clients(@clients);

my $ledger = SnowidTickets::Ledger->new->note_files(@files);
$ledger->is_sound('four clients');
my %of = (0 => 0, 1 => 0);
$of{ $_ % 2 }++ for keys %{ $ledger->{given} };
cmp_ok($of{1}, '>=', 300, "$of{1} of odd");
cmp_ok($of{0}, '>=', 200, "$of{0} of even");
# What was asked for in the moment of the kill.
my $failed = () = join('', map { slurp_file($_->{err}) } @clients) =~ /connection to server was lost/g;
cmp_ok($failed, '<=', 4, "$failed draws failed, of each client at most the one that was under way");

my $dump = PostgreSQL::Test::Utils::tempdir('dump') . '/dump.sql';
$odd->safe_psql('postgres', "CREATE TABLE t (id bigint DEFAULT next_ticket('orders'), n integer); SELECT snowid.create_range_sequence('r', 3, 2)");
$even->safe_psql('postgres', 'CREATE DATABASE there');
ok(run_log([ 'pg_dump', '-d', $odd->connstr('postgres'), '-f', $dump ]) &&
		run_log([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $even->connstr('there'), '-f', $dump ]), 'dumped and restored');
is($even->safe_psql('there', 'SELECT * FROM snowid.sequences ORDER BY relation::text'),
	$odd->safe_psql('postgres', 'SELECT * FROM snowid.sequences ORDER BY relation::text'), 'the sequences are the same there');
is($even->safe_psql('there', 'INSERT INTO t (n) VALUES (1) RETURNING id'), last_ticket($odd) + 2, 'and go on');

$_->stop('immediate') for $odd, $even;
done_testing();
