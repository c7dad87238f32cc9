# Proves that etcd is reached by TLS, with a certificate of the client's, and with a user and password who
# may use the fleet's prefix alone; that what is wrong with them is said in snowid.status and is mended by
# a reload; that a token which etcd has forgotten is renewed. The library shows the password nowhere.
#
# It would fail if the server's certificate weren't checked, or a token were kept for good.

use strict;
use warnings;

use MIME::Base64 qw(encode_base64);
use PostgreSQL::Test::Utils;
use Test::More;
use Snowid qw(error_of);
use SnowidCrash qw(wait_until status);
use SnowidEtcd;

my $etcd = SnowidEtcd->new(tls => 1);
my $other = SnowidEtcd->new(tls => 1);    # by another authority
my $password = 'a "quoted" pass\\word é';

# A user who may do with keys of the prefix what it likes; and root, as whom the test asks.
sub protect
{
	my %users = (snowid => $password, root => 'root');
	$etcd->call('/v3/auth/role/add', { name => $_ }) for keys %users;
	$etcd->call('/v3/auth/role/grant', { name => 'snowid', perm => { permType => 'READWRITE',
		key => encode_base64('pg_snowid/', ''), range_end => encode_base64('pg_snowid0', '') } });
	for my $user (keys %users)
	{
		$etcd->call('/v3/auth/user/add', { name => $user, password => $users{$user} });
		$etcd->call('/v3/auth/user/grant', { user => $user, role => $user });
	}
	$etcd->call('/v3/auth/enable', {});
	return;
}

my $node = $etcd->server('a');

# Waits until the problem is one that matches.
sub wrong
{
	my ($what, $regex) = @_;
	wait_until($what, sub { problem($node) =~ $regex });
	return like(refusal($node), qr/ERROR: +55000: no worker ID is claimed yet\n.*DETAIL: .*$regex/s, "$what: " . problem($node));
}

sub set
{
	my (%settings) = @_;
	$node->append_conf('postgresql.conf', join '', map { "pg_snowid.$_ = '" . $settings{$_} =~ s/([\\'])/$1$1/gr . "'\n" } sort keys %settings);
	$node->reload;
	return;
}

# --- TLS ---

wrong('an authority that is not known', qr/certificate/i);
set(etcd_ca_file => $other->file('ca.crt'));
wrong('a certificate by another authority', qr/certificate/i);
set(etcd_ca_file => '/nowhere/ca.crt');
wrong('an authority\'s file that is not there', qr{/nowhere/ca\.crt.*No such file}i);
set(etcd_ca_file => $etcd->file('ca.crt'));
wrong('no certificate of the client\'s', qr/certificate|handshake|alert/i);
set(etcd_cert_file => $etcd->file('client.crt'), etcd_key_file => $etcd->file('client.key'));
my $pair = in_force($node, 'etcd');
pass('with all three: served, by a reload');
draw($node, 1000);

# --- User and password ---

protect();
$etcd->login('root', 'root');

# Waits until the problem of a server that holds a pair is one that matches.
sub in_doubt
{
	my ($what, $regex) = @_;
	wait_until($what, sub { problem($node) =~ $regex });
	return pass("$what: " . problem($node));
}
my $until = status($node, 'lease_until');
in_doubt('no user', qr/user name is empty/);
set(etcd_user => 'snowid', etcd_password => 'wrong');
in_doubt('a wrong password', qr/authentication failed/);
set(etcd_password => $password, etcd_cert_file => $etcd->file('named.crt'), etcd_key_file => $etcd->file('named.key'));
in_doubt('a certificate with a CommonName', qr/CommonName/);
set(etcd_cert_file => $etcd->file('client.crt'), etcd_key_file => $etcd->file('client.key'));
is(in_force($node, 'etcd'), $pair, 'with user and password: served, by a reload');
wait_until('renewals', sub { status($node, "lease_until > '$until' AND lease_problem IS NULL") eq 't' });

# Tokens are gone when etcd starts again.
draw_on($node);
$etcd->kill9;
$etcd->start;
$until = status($node, 'lease_until');
wait_until('renewals with another token', sub { status($node, "lease_until > '$until'") eq 't' });
is(stop_drawing(), '', 'etcd forgets the token: no session notices');
$etcd->login('root', 'root');
is($etcd->record('live/a')->{port}, $node->port, 'etcd has the live server');

# A clean stop and a release need no right beyond the prefix.
$node->restart;
is(in_force($node, 'etcd'), $pair, 'restarted: the same pair');
$node->safe_psql('postgres', 'SELECT snowid.release_worker()');
is($etcd->record('live/a'), undef, 'released: the server\'s key is gone');

# --- Nobody sees the password ---

# PostgreSQL itself logs what a reload changes, whatever setting it is.
my $log = slurp_file($node->logfile) =~ s/.* LOG: +parameter "pg_snowid\.etcd_password" changed to .*//gr;
unlike($log, qr/pass\\word/, 'the library does not write the password to the log');
$node->safe_psql('postgres', 'CREATE ROLE joe');
like(error_of($node, 'postgres', 'SET ROLE joe; SHOW pg_snowid.etcd_password'), qr/ERROR: +42501: /, 'nor shown to an ordinary user');
unlike($node->safe_psql('postgres', 'SELECT s::text FROM snowid.status AS s'), qr/pass\\word/, 'nor in snowid.status');
nothing_twice('all ids');
$node->stop;
done_testing();
