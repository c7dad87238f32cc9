# Proves the plain cases of leased worker ids: servers that share an etcd claim different pairs, at once;
# each says so in snowid.status and in etcd, and gets the same pair again after a clean restart, a crash, a
# killed backend and a killed lease worker; a pair can be released; settings narrow the choice; without the
# library preloaded the static settings do not serve by silence. All draw all the time: no id is given twice.
#
# It would fail if claims didn't compare what they read, if a node's pair weren't remembered, or if the
# library went on with a pair that it gave back.

use strict;
use warnings;

use Test::More;
use Snowid qw(fields error_of at_most monotonic_ms);
use SnowidCrash qw(start_again wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;

# --- Three claim at the same moment, the one at which etcd answers ---

$etcd->cut;
my ($a, $b, $c) = my @nodes = map { $etcd->server($_) } qw(a b c);
for my $node (@nodes)
{
	my $before = monotonic_ms();
	like(refusal($node), qr/ERROR: +55000: no worker ID is claimed yet\n/, $node->name . ': no pair before etcd has answered');
	at_most(monotonic_ms() - $before, 1000, 'said at once, in ms');
}
$etcd->mend;
my %pair = map { $_->name => in_force($_, 'etcd') } @nodes;
is(join(' ', sort values %pair), '0/0 0/1 0/2', 'three servers have the three lowest pairs');
draw_on($_, 2) for @nodes;

for my $node (@nodes)
{
	my $name = $node->name;
	my ($datacenter, $worker) = split m{/}, $pair{$name};
	my ($id) = draw($node);
	is((fields($id, 1))[1], $datacenter * 32 + $worker, "$name: its ids carry its pair");
	is(status($node, 'node_name'), $name, "$name: snowid.status has the node name");
	is(status($node, "lease_until - clock_timestamp() BETWEEN '1 s' AND '6 s' AND lease_problem IS NULL"), 't', 'the bound, and no problem');
	is_deeply($etcd->record("name/$name"), { datacenter => $datacenter, worker => $worker }, "$name: etcd has its pair");
	my $live = $etcd->record("live/$name");
	is_deeply([ @$live{qw(port data_directory datacenter worker)} ], [ $node->port, $node->data_dir, $datacenter, $worker ], 'who it is');
	my $record = $etcd->record(sprintf 'pair/%02d/%02d', $datacenter, $worker);
	is("$record->{name} $record->{instance}", "$name $live->{instance}", 'and who holds it');
	wait_until('its time is reported again', sub { $etcd->record("live/$name")->{time_ms} > $live->{time_ms} });
	wait_until("$name: the bound moves on", sub {
		$etcd->record(sprintf 'pair/%02d/%02d', $datacenter, $worker)->{bound_ms} > $record->{bound_ms} });
}
like($a->safe_psql('postgres', 'SELECT snowflake_id(9, 9)'), qr/^\d+$/, 'explicit arguments are served whatever the lease is');

# --- Each kind of restart ---

# Restarts a server by code, and tests that it has its pair and goes on above its earlier ids.
sub comes_back
{
	my ($what, $node, $code) = @_;
	my ($before) = draw($node);
	$code->();
	is(in_force($node, 'etcd'), $pair{ $node->name }, "$what: the same pair");
	cmp_ok((draw($node))[0], '>', $before, "$what: ids go on above those of before");
	return;
}
comes_back('clean restart', $a, sub { $a->stop; start_again($a) });
comes_back('immediate stop', $b, sub { $b->stop('immediate'); start_again($b) });
comes_back('killed', $c, sub { $c->kill9; start_again($c) });
draw_on($_, 2) for @nodes;

for my $signal ('TERM', 'KILL')
{
	end_lease_worker($a, $signal);
	wait_until('connections', sub { $a->psql('postgres', 'SELECT 1') == 0 });
	is(in_force($a, 'etcd'), $pair{a}, "lease worker ended by SIG$signal: the same pair");
}
my $backend = $b->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1");
comes_back('killed backend', $b, sub {
	kill 'KILL', $backend;
	wait_until('connections', sub { $b->psql('postgres', 'SELECT 1') == 0 && log_has($b, qr/all server processes terminated/) });
});
sub log_has { return PostgreSQL::Test::Utils::slurp_file($_[0]->logfile) =~ $_[1] }

$_->stop for @nodes;
start_again($_) for reverse @nodes;
is_deeply({ map { $_->name => in_force($_, 'etcd') } @nodes }, \%pair, 'all were off and start in another order: the same pairs');
draw_on($_, 1) for @nodes;

# --- Release ---

$c->safe_psql('postgres', 'SELECT snowid.release_worker()');
claim_refused($c, qr/ERROR: +55000: .*released/, qr/./, 'released');
is_deeply([ map { $etcd->record($_) } 'name/c', 'live/c' ], [ undef, undef ], 'released: the node has no pair any more');
ok($etcd->record('pair/00/0' . $pair{c} =~ s{.*/}{}r)->{released}, 'released: the pair is marked so');
ok(!-e $c->data_dir . '/pg_snowid.lease', 'released: nothing is left in the data directory');
$c->reload;
in_force($c, 'etcd');
draw($c, 1000);
draw_on($c);
$c->safe_psql('postgres', 'CREATE ROLE joe');
like(error_of($c, 'postgres', 'SET ROLE joe; SELECT snowid.release_worker()'), qr/ERROR: +42501: /, 'an ordinary user can release nothing');

# --- Settings that narrow the choice; names by default; another fleet; the static settings ---

my $d = $etcd->server('d', settings => { datacenter_id => 7 });
is(in_force($d, 'etcd'), '7/0', 'datacenter_id = 7: the lowest of that datacenter');

# Restarts d with other settings.
sub set
{
	my ($settings) = @_;
	$d->append_conf('postgresql.conf', $settings);
	$d->restart;
	return;
}
set("pg_snowid.datacenter_id = -1\npg_snowid.worker_id = 1\npg_snowid.node_name = 'd2'");
is(in_force($d, 'etcd'), '1/1', 'worker_id = 1: the lowest free one with it');
set("pg_snowid.datacenter_id = 9\npg_snowid.worker_id = 30");
is(in_force($d, 'etcd'), '9/30', 'both: that pair, though the node had another');
$etcd->put('name/junk' => {});
set('');
claim_refused($d, qr/ERROR: +XX001: etcd holds a record that is not of pg_snowid\n/, qr{"pg_snowid/name/junk"}, 'a record that is none');
is(in_force($a, 'etcd'), $pair{a}, 'which is nothing to those that hold a pair');
$etcd->delete('name/junk');
is(in_force($d, 'etcd'), '9/30', 'deleted: served');
set("pg_snowid.node_name = ''\npg_snowid.datacenter_id = -1\npg_snowid.worker_id = -1");
is($d->safe_psql('postgres', 'SHOW cluster_name'), 'd', 'the framework gives a cluster_name on the command line');
in_force($d, 'etcd');
is($etcd->record('live/d')->{port}, $d->port, 'without a node name it is cluster_name');
$d->stop;
$d->command_ok([ 'pg_ctl', '-w', '-D', $d->data_dir, '-l', $d->logfile, 'start' ], 'started without one');
$d->_update_pid(1);
in_force($d, 'etcd');
my $identifier = $d->safe_psql('postgres', 'SELECT system_identifier FROM pg_control_system()');
is($etcd->record("live/$identifier-" . $d->port)->{port}, $d->port, 'without that it is the system identifier and the port');
set("pg_snowid.etcd_prefix = 'other/'");
in_force($d, 'etcd');
is_deeply([ keys %{ $etcd->records('live/', 'other/') } ], [ "live/$identifier-" . $d->port ], 'another prefix is another fleet, with records of its own');

set("pg_snowid.datacenter_id = 4\npg_snowid.worker_id = 5\npg_snowid.etcd_endpoints = ''");
is(in_force($d, 'settings') . status($d, 'lease_until'), '4/5', 'without endpoints the settings serve');
set("pg_snowid.etcd_endpoints = '" . $etcd->endpoints . "'\nshared_preload_libraries = ''");
like(error_of($d, 'postgres', 'SELECT snowflake_id()'), qr/ERROR: +55000: .*shared_preload_libraries/s,
	'with endpoints and nothing preloaded they do not');
is($d->safe_psql('postgres', 'SELECT snowflake_worker(4096)'), '1', 'all else works there');
$d->stop;

stop_drawing();
nothing_twice('three servers under load, through all restarts');
$_->stop for @nodes;
done_testing();
