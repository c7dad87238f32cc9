# Proves that a server whose requests etcd carries out, but whose answers are lost, goes on with its
# pair: it doesn't take itself for another server with its name. And that an endpoint that is no etcd does
# no harm where another one is; nor does a pair that is stored for another fleet.
#
# It would fail if a server went on renewing the lease that it had before a claim of which it knows no end, if
# every refusal were taken for etcd's, or if the file didn't say what fleet it is about.

use strict;
use warnings;

use HTTP::Tiny;
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid qw(log_count);
use Test::More;
use SnowidCrash qw(wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $dir = PostgreSQL::Test::Utils::tempdir('proxy');

# A proxy before etcd. While there is the file 'fates', its lines say what becomes of the next
# transactions: 'lost' is carried out and not answered.
sub start_proxy
{
	my ($target) = @_;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16, ReuseAddr => 1) or die "listen: $!";
	my $url = 'http://127.0.0.1:' . $listener->sockport;
	my $pid = fork // die "fork: $!";
	return ($url, $pid) if $pid;
	while (my $client = $listener->accept)
	{
		my ($head, $body) = ('', '');
		while (my $line = <$client>) { $head .= $line; last if $line eq "\r\n" }
		my ($path) = $head =~ /^POST (\S+)/ or next;
		read $client, $body, $1 if $head =~ /^content-length: (\d+)/mi;
		my $answer = !$target ? { status => 404, content => '<html>' } : HTTP::Tiny->new(timeout => 5)->post("$target$path", { content => $body });
		my $is_lost = $target && $path =~ /txn/ && next_fate() eq 'lost';
		print $client "HTTP/1.1 $answer->{status} -\r\nContent-Type: application/json\r\nContent-Length: "
		  . length($answer->{content}) . "\r\nConnection: close\r\n\r\n$answer->{content}" unless $is_lost;
		close $client;
	}
	POSIX::_exit(0);
}

sub next_fate
{
	return '' unless -s "$dir/fates";
	my ($first, @rest) = split /\n/, slurp_file("$dir/fates");
	append_to_file("$dir/rest", join "\n", @rest);
	rename "$dir/rest", "$dir/fates" or die "rename: $!";
	return $first;
}

my ($proxy, $proxy_pid) = start_proxy($etcd->endpoints);
my ($other, $other_pid) = start_proxy();
END { my $status = $?; kill 'KILL', grep { $_ } $proxy_pid, $other_pid; $? = $status }

my $node = $etcd->server('lossy', settings => { etcd_endpoints => "$other,$proxy", etcd_lease => '60s' });
my $pair = in_force($node, 'etcd');
pass('an endpoint that is no etcd does no harm');
my $instance = $etcd->record('live/lossy')->{instance};

# A renewal, then what tells the server so, then the claim that follows.
append_to_file("$dir/fates", "lost\nanswered\nlost");
wait_until('the answers are lost', sub { !-s "$dir/fates" });
my $until = status($node, 'lease_until');
wait_until('a renewal, or that there is none', sub { status($node, "coalesce(lease_until > '$until', true)") eq 't' });
is(in_force($node, 'etcd'), $pair, 'answers to a renewal and a claim are lost: the pair stays');
is($etcd->record('live/lossy')->{instance}, $instance, 'and the server is the same instance');
is(log_count($node, qr/another live server/), 0, 'and has not refused itself');

# Another fleet, whose etcd doesn't answer: who has that pair there isn't known.
$node->stop;
$node->append_conf('postgresql.conf', "pg_snowid.etcd_prefix = 'others/'\npg_snowid.etcd_endpoints = '$other'\n");
$node->start;
claim_refused($node, qr/no worker ID is claimed yet/, qr/HTTP status 404/, 'the pair of another fleet');

done_testing();
