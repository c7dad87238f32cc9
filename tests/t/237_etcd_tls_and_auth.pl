# Proves that etcd is reached by TLS, with a certificate of the client's, and with a user and password who
# may use the fleet's prefix alone; that what is wrong with them is said in snowid.status and is mended by
# a reload; that a token which etcd has forgotten is renewed, with the password that its file has then. The
# file is private, or not used. The library shows the password nowhere.
#
# It would fail if the server's certificate weren't checked, if a token or password were kept for good, or if
# the file's permissions weren't looked at.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use SnowidCrash qw(wait_until status);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new(tls => 1);
my $other = SnowidEtcd->new(tls => 1);    # by another authority
my $password = 'a "quoted" pass\\word é';

my $node = $etcd->server('a');

# Waits until the problem is one that matches.
sub wrong
{
	my ($what, $regex) = @_;
	wait_until($what, sub { problem($node) =~ $regex });
	return pass("$what: " . problem($node));
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

$etcd->protect(snowid => $password);
my $until = status($node, 'lease_until');
wrong('no user', qr/user name is empty/);
set(etcd_user => 'snowid');
wrong('a user without a password', qr/only one is set/);
set(etcd_password_file => 'nowhere');
wrong('a password file that is not there', qr/"nowhere": No such file/i);
set(etcd_password_file => '.');
wrong('a folder', qr/not a regular file/i);
set(etcd_password_file => password_file($node, ''));
wrong('an empty file', qr/it is empty/);
password_file($node, $password, 0640);
wrong('a file that a group may read', qr/0600/);
password_file($node, "wrong\n");
wrong('a wrong password', qr/authentication failed/);
password_file($node, "$password\n");
set(etcd_cert_file => $etcd->file('named.crt'), etcd_key_file => $etcd->file('named.key'));
wrong('a certificate with a CommonName', qr/CommonName/);
set(etcd_cert_file => $etcd->file('client.crt'), etcd_key_file => $etcd->file('client.key'));
is(in_force($node, 'etcd'), $pair, 'with user and password: served, by a reload');
wait_until('renewals', sub { status($node, "lease_until > '$until' AND lease_problem IS NULL") eq 't' });

# Tokens are gone when etcd starts again, and so is the old password.
draw_on($node);
$password = 'the next secret';
$etcd->call('/v3/auth/user/changepw', { name => 'snowid', password => $password });
password_file($node, "$password\r\n");
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

unlike(slurp_file($node->logfile), qr/pass\\word|$password/, 'the log has it nowhere');
unlike($node->safe_psql('postgres', 'SELECT s::text FROM snowid.status AS s'), qr/pass\\word|$password/, 'nor has snowid.status');
unlike($node->safe_psql('postgres', 'SELECT s::text FROM pg_settings AS s'), qr/pass\\word|$password/, 'nor any setting');
nothing_twice('all ids');
$node->stop;
done_testing();
