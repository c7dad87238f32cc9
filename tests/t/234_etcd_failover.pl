# Proves failovers of leased worker ids: a standby has no worker id and asks for none; promoted while its primary is
# still up it is refused, and the primary's work isn't disturbed; when the primary's machine stands still, or
# has died, it takes the pair over once the lease has run out, starting at the old one's bound; the old
# primary, back, gives nothing more and is refused. After a clean stop nobody waits for a lease.
#
# It would fail if a process that was stopped and resumed went on with what it held, if the refused never
# tried again, or if a clean stop left its lease behind.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use Test::More;
use Snowid qw(error_of at_most monotonic_ms);
use SnowidCrash qw(start_again wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $primary = $etcd->server('primary', init => [ allows_streaming => 1 ], settings => { node_name => 'n', datacenter_id => 3 });
my $pair = in_force($primary, 'etcd');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
start_again($standby);
draw_on($primary, 2);

my $OTHER = qr/ERROR: +55000: .*another /;
sub names { my ($node) = @_; my ($port, $dir) = ($node->port, $node->data_dir); return qr/(?=.*\b$port\b)(?=.*\Q$dir\E)/ }
sub bound { return $etcd->record('pair/03/00')->{bound_ms} }

like(error_of($standby, 'postgres', 'SELECT snowflake_id()'), qr/ERROR: +25006: /, 'a standby refuses to generate');
my $live = $etcd->record('live/n');
$primary->wait_for_catchup($standby);
is($etcd->record('live/n')->{instance}, $live->{instance}, 'and does not ask for a pair');

# --- Promoted while the old primary is up ---

$standby->promote;
claim_refused($standby, $OTHER, names($primary), 'promoted while the primary is up');
is(in_force($primary, 'etcd'), $pair, 'the primary keeps its pair');
draw_on($standby);

# --- The old primary's machine stands still, and goes on ---

freeze($primary);
my $bound = bound();
my $before = monotonic_ms();
is(in_force($standby, 'etcd'), $pair, 'the primary stands still: the standby has taken the pair over');
at_most(monotonic_ms() - $before, 15_000, 'after a lease of 5 s, ms');
cmp_ok(ms_of(draw($standby)), '>=', $bound, 'and starts at the bound, or above');
thaw($primary);
claim_refused($primary, $OTHER, names($standby), 'the old primary, which goes on');
draw($standby, 1000);
like(stop_drawing(), $OTHER, 'its sessions were told so');
nothing_twice('the primary stood still');

# --- The holder dies ---

draw_on($standby, 2);
$standby->kill9;
$bound = bound();
is(in_force($primary, 'etcd'), $pair, 'the holder was killed: the other has the pair');
cmp_ok(ms_of(draw($primary)), '>=', $bound, 'and starts at the bound, or above');
draw_on($primary, 2);
start_again($standby);
claim_refused($standby, $OTHER, names($primary), 'the old holder, started again');
# --- A clean stop: the waiting one has it at once ---

$_->append_conf('postgresql.conf', "pg_snowid.etcd_lease = '1min'") for $primary, $standby;
$_->reload for $primary, $standby;
wait_until('the long lease', sub { status($primary, "lease_until - clock_timestamp() > '40 s'") eq 't' });
draw($primary, 1000);
$bound = bound();
$primary->stop;
$before = monotonic_ms();
is(in_force($standby, 'etcd'), $pair, 'a clean stop of the holder: the other has the pair');
at_most(monotonic_ms() - $before, 10_000, 'without waiting for a lease of a minute, ms');
cmp_ok(ms_of(draw($standby)), '>=', $bound, 'ids go on at the bound, though it is ahead of the clock');
start_again($primary);
claim_refused($primary, $OTHER, names($standby), 'the former holder, back');

stop_drawing();
nothing_twice('all failovers');
$_->stop for $primary, $standby;
done_testing();
