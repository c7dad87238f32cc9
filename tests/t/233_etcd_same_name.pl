# Proves that two live servers can't have one identity: a clone of a running server by pg_basebackup, of a
# stopped one by cp -a, a new server with a copied configuration and a snapshot that resembles its original in
# everything are refused by an error that names the other, whose work isn't disturbed. A copy of the
# data directory doesn't trust the pair that was stored in it. When the original has gone the clone serves,
# and is then the one that the original is refused for.
#
# It would fail if identity were the name alone, or were copied with the data.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SnowidCrash qw(start_again wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $original = $etcd->server('original', init => [ allows_streaming => 1 ], settings => { node_name => 'n', etcd_lease => '12s' });
my $pair = in_force($original, 'etcd');
draw_on($original, 2);

my $OTHER = qr/ERROR: +55000: .*another /;
sub names { my ($node) = @_; my ($port, $dir) = ($node->port, $node->data_dir); return qr/(?=.*\b$port\b)(?=.*\Q$dir\E)/ }

# --- pg_basebackup, a copied configuration ---

$original->backup('backup');
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($original, 'backup');
start_again($clone);
my $copied = $etcd->server('copied', settings => { node_name => 'n' });
claim_refused($clone, $OTHER, names($original), 'base backup of a running server');
claim_refused($copied, $OTHER, names($original), 'copied configuration');
like(slurp_file($copied->logfile), qr/HINT: .*pg_snowid\.node_name/, 'the hint in the log names the setting');
is(in_force($original, 'etcd'), $pair, 'the original keeps its pair');
$copied->stop;

# --- cp -a, without etcd: what is stored in the data directory isn't the copy's ---

$clone->stop;
stop_drawing();
$original->stop;
$original->backup_fs_cold('cold');
$etcd->kill9;
start_again($original);
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($original, 'cold');
start_again($copy);
is(in_force($original, 'etcd, cached'), $pair, 'without etcd the original goes on with the pair that it stored');
ok(-e $copy->data_dir . '/pg_snowid.lease', 'which has been copied');
claim_refused($copy, qr/ERROR: +55000: no worker ID is claimed yet\n/, qr/./, 'copy of the data directory');
draw_on($original, 2);
$copy->stop;
$etcd->start;
is(in_force($original, 'etcd'), $pair, 'with etcd as well');
start_again($copy);
claim_refused($copy, $OTHER, names($original), 'copy, with etcd');
is(in_force($original, 'etcd'), $pair, 'the original keeps its pair');

# --- A snapshot of the whole machine, or a volume, which resembles it in all that identifies it ---

$copy->stop;
my $live = $etcd->record('live/n');
$etcd->put('live/n' => { %$live, host => 'twin', boot => 'another' });
claim_refused($original, $OTHER, qr/\btwin\b/, 'a twin has taken the name');
$etcd->delete('live/n');
is(in_force($original, 'etcd'), $pair, 'the twin has gone: the original serves again');

# --- The original has gone: one of the copies serves, and the others are refused for it ---

start_again($_) for $clone, $copy;
draw_on($_) for $original, $clone, $copy;
my $bound = $etcd->record('pair/00/00')->{bound_ms};
$original->kill9;
my ($next, $other) = ($clone, $copy);
wait_until('one of the copies serves', sub {
	($next, $other) = ($other, $next);
	status($next, "worker_source = 'etcd' AND worker_id IS NOT NULL") eq 't';
});
is(pair_of($next), $pair, 'the original was killed: a copy has the pair');
cmp_ok(ms_of(draw($next)), '>=', $bound, 'and starts at the bound that the original had, or above');
start_again($original);
claim_refused($_, $OTHER, names($next), $_->name . ', now') for $original, $other;

# --- A restored copy in the very place of its original ---

stop_drawing();
$_->stop for $original, $other, $next;
my $dir = $next->data_dir;
rename $dir, "$dir.away" or die;
PostgreSQL::Test::Utils::system_or_bail('cp', '-a', "$dir.away", $dir);
$etcd->kill9;
start_again($next);
claim_refused($next, qr/ERROR: +55000: no worker ID is claimed yet\n/, qr/./, 'a copy in the place of its original, without etcd');
$etcd->start;
is(in_force($next, 'etcd'), $pair, 'with etcd it has the pair');
draw($next, 1000);
nothing_twice('original and copies');
$next->stop;
done_testing();
