# Proves what leases promise while etcd is down: a running server goes on up to the bound that it has
# recorded, not a millisecond further, then snowflake_id() fails with the bound and the reason; queries
# never wait for the network; a server that is restarted meanwhile goes on with the pair that it stored,
# up to the same bound; when etcd is back all recover by themselves. Down is: killed, and silent.
#
# It would fail if a server trusted its pair without a bound, if the stored one were trusted past it, or if
# a session asked etcd.

use strict;
use warnings;

use Test::More;
use Snowid qw(at_most monotonic_ms log_count);
use SnowidCrash qw(start_again wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my ($a, $b) = map { $etcd->server($_) } qw(a b);
my %pair = map { $_->name => in_force($_, 'etcd') } $a, $b;
my $RAN_OUT = qr/ERROR: +55000: the lease of this server's worker ID has run out/;

# Waits until both servers refuse; tests that both gave ids up to their bounds and none of beyond.
sub run_out
{
	my ($how) = @_;
	my @sessions = map { draw_on($_, 2) } $a, $b;
	my ($slowest, %bound, %last, %out) = (0);
	wait_until("$how: both run out", sub {
		for my $node ($a, $b)
		{
			my $before = monotonic_ms();
			my ($id, $until) = split /\|/, eval { $node->safe_psql('postgres',
				'SELECT snowflake_id(), floor(extract(epoch FROM lease_until) * 1000) FROM snowid.status') } // '';
			my $took = monotonic_ms() - $before;
			$slowest = $took if $took > $slowest;
			if (defined $until) { ($last{$node->name}, $bound{$node->name}) = (ms_of($id), $until) }
			else { $out{$node->name} = 1 }
		}
		return keys %out == 2;
	});
	at_most($slowest, 2000, "$how: the slowest query, in ms");
	for my $node ($a, $b)
	{
		my $name = $node->name . ": $how";
		cmp_ok($last{$node->name}, '<', $bound{$node->name}, "$name: no id is of the bound's time or later");
		at_most($bound{$node->name} - $last{$node->name}, 1500, "$name: ids go on until then, ms before it");
		my $error = refusal($node);
		like($error, $RAN_OUT, "$name: then snowflake_id() fails");
		like($error, qr/DETAIL: .*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, "$name: and says when it ran out");
		isnt(problem($node), '', "$name: snowid.status has the problem: " . problem($node));
		like($node->safe_psql('postgres', 'SELECT next_id(1)'), qr/^\d+$/, "$name: next_id() goes on");
	}
	return @sessions;
}

# Waits until both servers give ids again, with the pairs of before; tests that what the sessions got is sound.
sub recovered
{
	my ($how, @sessions) = @_;
	my $had = drawn(@sessions);
	is(in_force($_, 'etcd'), $pair{ $_->name }, $_->name . ": $how: has its pair again") for $a, $b;
	wait_until('sessions draw', sub { drawn(@sessions) > $had + 200 });
	my $errors = stop_drawing();
	like($errors, qr/^$RAN_OUT$/, "$how: the sessions had this error, and no other");
	nothing_twice($how);
	return;
}

# --- Killed, and silent ---

$etcd->kill9;
my @sessions = run_out('etcd killed');
$etcd->start;
recovered('etcd is back', @sessions);

$etcd->cut;
@sessions = run_out('the network is cut');
my $before = monotonic_ms();
$b->stop;
at_most(monotonic_ms() - $before, 5000, 'a server that is stopped does not wait for the network, ms');
start_again($b);
$etcd->mend;
recovered('the network is mended', @sessions);

# A short time without etcd is nothing to anybody.
draw_on($_) for $a, $b;
$etcd->kill9;
$etcd->start;
my $renewed = status($a, 'lease_until');
wait_until('another renewal', sub { status($a, "lease_until > '$renewed'") eq 't' });
is(stop_drawing(), '', 'etcd restarts: no session has an error');

# An etcd that has lost everything is told again what is in force.
draw_on($_) for $a, $b;
$etcd->kill9;
$etcd->forget;
$etcd->start;
for my $node ($a, $b)
{
	wait_until($node->name . ' is recorded again', sub { $etcd->record('live/' . $node->name) });
	is(in_force($node, 'etcd'), $pair{ $node->name }, $node->name . ': etcd has lost everything: the same pair');
}
is(stop_drawing(), '', 'no session has an error');

# --- Servers that are restarted without etcd ---

my $dead = 'http://127.0.0.1:' . PostgreSQL::Test::Cluster::get_free_port();
$_->append_conf('postgresql.conf', "pg_snowid.etcd_lease = '12s'\npg_snowid.etcd_endpoints = '$dead," . $etcd->endpoints . "'") for $a, $b;
$_->restart for $a, $b;
is(in_force($_, 'etcd'), $pair{ $_->name }, $_->name . ': the second endpoint serves where the first is dead') for $a, $b;
draw($_, 1000) for $a, $b;
my %bound = map { $_->name => time_ms($_, '(SELECT lease_until FROM snowid.status)') } $a, $b;
$etcd->kill9;
$a->stop('immediate');
$b->stop;
start_again($_) for $a, $b;
for my $node ($a, $b)
{
	is(in_force($node, 'etcd, cached'), $pair{ $node->name }, $node->name . ': restarted without etcd: the pair that it stored');
	at_most(time_ms($node, '(SELECT lease_until FROM snowid.status)') - $bound{ $node->name }, 4000, $node->name . ': the bound does not move on, ms');
	isnt(problem($node), '', $node->name . ': snowid.status has the problem: ' . problem($node));
	draw($node, 1000);
}
@sessions = run_out('restarted without etcd');
$a->restart;
like(refusal($a), qr/$RAN_OUT.*DETAIL: .* Last problem: no worker ID is claimed yet\.\n|$RAN_OUT.*DETAIL: .* Last problem: could not reach etcd\.\n/s, 'restarted past the bound: it has run out');
$etcd->start;
recovered('etcd is back after restarts', @sessions);
cmp_ok(log_count($a, qr/LOG: .*etcd|WARNING: .*etcd/), '<', 40, 'the log has changes, not each attempt');
$_->stop for $a, $b;
done_testing();
