# Proves that ordinary users, and the extension's owner, are told by errors, settings and views nothing of etcd,
# of files, or of other servers, while the log and members of pg_monitor are; that endpoints with a user or
# password are refused, at a start and a reload, and aren't repeated in the log; and that a password is sent
# over TLS or within the machine, never in clear, also where TLS fails at one of several endpoints.
#
# It would fail if an error carried what etcd, the system or another server's record said, if a text setting
# were shown, or if a client with a password asked an http endpoint after a https one.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Snowid qw(error_of log_count);
use SnowidCrash qw(start_again wait_until);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new(tls => 1);
my $other = SnowidEtcd->new(tls => 1);    # by another authority
my $node = $etcd->server('a', settings => { node_name => 'inner-name', etcd_prefix => 'pg_snowid/',
	etcd_ca_file => $etcd->file('ca.crt'), etcd_cert_file => $etcd->file('client.crt'), etcd_key_file => $etcd->file('client.key') });
my $SERVER = qr/127\.0\.0\.1|\.crt|\.key|inner-name|twin|inside|pg_snowid\/|etcd_password/;
in_force($node, 'etcd');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE joe LOGIN;
CREATE ROLE monitor LOGIN IN ROLE pg_monitor;
CREATE ROLE owner LOGIN;
CREATE DATABASE owned OWNER owner;
SQL
# The rights of the role, as a login of its own has them.
sub as { my ($role, $sql) = @_; return "SET SESSION AUTHORIZATION $role; $sql" }
$node->safe_psql('owned', as('owner', 'CREATE EXTENSION pg_snowid'));

# --- Settings ---

# Of the texts all but the shards: a new one that tells of the server shall be among them.
my $texts = "name LIKE 'pg\\_snowid.%' AND vartype = 'string' AND name <> 'pg_snowid.shards'";
my @texts = split /\n/, $node->safe_psql('postgres', "SELECT name FROM pg_settings WHERE $texts ORDER BY name");
cmp_ok(scalar @texts, '>=', 8, "settings that are texts: @texts");
for my $name (@texts)
{
	like(error_of($node, 'owned', as('owner', "SHOW $name")), qr/ERROR: +42501: /, "$name is not shown to an owner");
}
is($node->safe_psql('postgres', as('joe', "SELECT count(*) FROM pg_settings WHERE $texts")),
	0, 'nor are they in pg_settings');
is($node->safe_psql('postgres', as('monitor', 'SHOW pg_snowid.node_name')), 'inner-name', 'a monitor is shown them');

# --- Errors and snowid.status, whatever is wrong ---

# Waits for a problem whose detail matches, and tests who is told what.
sub told
{
	my ($what, $message, $detail) = @_;
	wait_until($what, sub { problem($node) =~ $detail });
	for my $role ('joe', 'owner')
	{
		my $error = error_of($node, 'owned', as($role, 'SELECT snowflake_id()'));
		like($error, qr/ERROR: +\w{5}: $message\nHINT: +The server's log says more/, "$what: the error tells $role the fact");
		unlike($error, $SERVER, "$what: and nothing of the server");
	}
	my $status = $node->safe_psql('owned', as('owner', 'SELECT lease_problem, node_name IS NULL FROM snowid.status'));
	is($status, "$message|t", "$what: snowid.status tells the owner no more");
	$status = $node->safe_psql('postgres', as('monitor', 'SELECT lease_problem, node_name FROM snowid.status'));
	like($status, $detail, "$what: a monitor is told all");
	like($status, qr/\|inner-name$/, "$what: and the name");
	like(slurp_file($node->logfile), qr/(WARNING|LOG): +$message\n.*DETAIL: .*$detail/, "$what: the log has all");
	return;
}
# What a server is told that has no pair in force.
sub set
{
	my ($conf) = @_;
	$node->append_conf('postgresql.conf', $conf);
	$node->safe_psql('postgres', 'SELECT snowid.release_worker()') if pair_of($node) ne 'none';
	$node->reload;
	return;
}
set("pg_snowid.etcd_ca_file = '/inside/ca.crt'");
told('a file that is not there', 'etcd cannot be asked with the settings that are in force', qr{/inside/ca\.crt});
set("pg_snowid.etcd_ca_file = '" . $other->file('ca.crt') . "'");
told('TLS fails', 'no worker ID is claimed yet', qr{https://127\.0\.0\.1:\d+: .*certificate}i);
set("pg_snowid.etcd_ca_file = '" . $etcd->file('ca.crt') . "'");
in_force($node, 'etcd');
my $live = $etcd->record('live/inner-name');
$node->safe_psql('postgres', 'SELECT snowid.release_worker()');
$etcd->put('live/inner-name' => { %$live, host => 'twin', instance => 'x', data_directory => '/inside/data' });
$node->reload;
told('another server', 'another live server has this server\'s name', qr{"twin".*"/inside/data"});
$etcd->delete('live/inner-name');
$etcd->put('pair/00/31' => { junk => 1 });
told('a record that is none', 'etcd holds a record that is not of pg_snowid', qr{"pg_snowid/pair/00/31"});
$etcd->delete('pair/00/31');
in_force($node, 'etcd');

# --- A user or password in endpoints ---

my $REFUSED = qr/parameter "pg_snowid\.etcd_endpoints" must not hold a user or password/;
sub endpoints { my ($urls) = @_; $node->append_conf('postgresql.conf', "pg_snowid.etcd_endpoints = '$urls'"); return }
my $log = -s $node->logfile;
endpoints('https://user:hunter2@10.0.0.1:2379');
$node->reload;
wait_until('the reload is refused', sub { slurp_file($node->logfile, $log) =~ $REFUSED });
is($node->safe_psql('postgres', 'SHOW pg_snowid.etcd_endpoints'), $etcd->endpoints, 'a reload leaves the endpoints as they were');
in_force($node, 'etcd');
my $error = error_of($node, 'postgres', "ALTER SYSTEM SET pg_snowid.etcd_endpoints = 'https://a:1,https://user\@b:1'");
like($error, qr/ERROR: +22023: $REFUSED\nDETAIL: .*\nHINT: .*etcd_password_file/, 'ALTER SYSTEM refuses such endpoints');
$node->stop;
is($node->start(fail_ok => 1), 0, 'a start is refused');
like(slurp_file($node->logfile, $log), qr/FATAL: +$REFUSED\n.*DETAIL: .*\n.*HINT: .*etcd_password_file/, 'and the log says why');
unlike(slurp_file($node->logfile), qr/hunter2/, 'and has the password nowhere');

# --- A password over http ---

# Nobody answers here; who connects is seen.
my $listener = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die "listen: $!";
my $plain = 'http://127.0.0.1:' . $listener->sockport;
sub is_asked { return IO::Select->new($listener)->can_read(0) }

$node->append_conf('postgresql.conf', "pg_snowid.etcd_user = 'snowid'\npg_snowid.etcd_password_file = '" . password_file($node, "hunter3\n") . "'");
$node->append_conf('postgresql.conf', "pg_snowid.etcd_ca_file = '" . $other->file('ca.crt') . "'");
for my $urls ($etcd->endpoints . ",$plain", "$plain," . $etcd->endpoints, "$plain,http://192.0.2.1:2379")
{
	endpoints($urls);
	unlink $node->data_dir . '/pg_snowid.lease';    # the pair that it has would be used until its bound
	start_again($node);
	told("a password and $urls", 'etcd cannot be asked with the settings that are in force', qr/would be sent in clear/);
	ok(!is_asked(), 'and nothing is sent there');
	$node->stop;
}
unlike(slurp_file($node->logfile), qr/hunter/, 'the log has no password');

# The addresses are good for a client that has none to send.
$node->append_conf('postgresql.conf', "pg_snowid.etcd_user = ''\npg_snowid.etcd_password_file = ''");
endpoints($etcd->endpoints . ",$plain");
start_again($node);
wait_until('without a password the next endpoint is asked', sub { is_asked() });
pass('without a password the next endpoint is asked');
$node->stop;

# Within the machine http will do.
$etcd->protect(snowid => 'hunter3');
$node->append_conf('postgresql.conf', "pg_snowid.etcd_user = 'snowid'\npg_snowid.etcd_password_file = 'etcd_password'");
endpoints($etcd->{members}[0]{client});
start_again($node);
isnt(in_force($node, 'etcd'), 'none', 'a password and http on this machine: served');
$node->stop;
done_testing();
