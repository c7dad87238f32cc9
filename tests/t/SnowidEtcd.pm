# A real etcd for the tests of leases (23*.pl, 24*.pl), asked by its JSON API, and the servers that lease
# from it; what is done with those: SnowidFleet.
#
#   my $etcd = SnowidEtcd->new;                # it runs; new(tls => 1, members => 3) too
#   my $a = $etcd->server('a');                # its node name is 'a'
package SnowidEtcd;

use strict;
use warnings;

use HTTP::Tiny;
use IPC::Run;
use JSON::PP ();
use MIME::Base64 qw(encode_base64 decode_base64);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Snowid ();
use SnowidCrash qw(wait_until);
use Time::HiRes qw(sleep);

my $json = JSON::PP->new->canonical;
my @running;

# new(members => 3, tls => 1): members of one etcd, running. With tls they serve https and want a
# certificate from clients; the tests themselves go on asking them by http.
sub new
{
	my ($class, %options) = @_;
	grep { -x "$_/etcd" } split /:/, $ENV{PATH} or die 'there is no etcd: scripts/setup test fetches it';
	my $dir = PostgreSQL::Test::Utils::tempdir('etcd');
	my $count = $options{members} // 1;
	my $self = bless { dir => $dir, http => HTTP::Tiny->new(timeout => 10), members => [] }, $class;
	$self->_make_certificates if $options{tls};
	for my $n (0 .. $count - 1)
	{
		my ($client, $peer, $secure) = map { PostgreSQL::Test::Cluster::get_free_port() } 1 .. 3;
		push @{ $self->{members} },
		  { name => "m$n", client => "http://127.0.0.1:$client", peer => "http://127.0.0.1:$peer",
			  $options{tls} ? (secure => "https://127.0.0.1:$secure") : () };
	}
	my $cluster = join ',', map { "$_->{name}=$_->{peer}" } @{ $self->{members} };
	for my $member (@{ $self->{members} })
	{
		my $serves = join ',', grep { defined } @$member{qw(client secure)};
		$member->{command} = [
			'etcd', '--name', $member->{name}, '--data-dir', "$dir/$member->{name}",
			'--listen-client-urls', $serves, '--advertise-client-urls', $serves,
			'--listen-peer-urls', $member->{peer}, '--initial-advertise-peer-urls', $member->{peer},
			'--initial-cluster', $cluster, '--heartbeat-interval', 50, '--election-timeout', 500,
			$options{tls}
			? ('--cert-file', "$dir/server.crt", '--key-file', "$dir/server.key",
				'--trusted-ca-file', "$dir/ca.crt", '--client-cert-auth')
			: () ];
	}
	$self->start;
	return $self;
}

# An authority, and certificates by it for a server and a client: one with a CommonName, and one without,
# which is what etcd's gateway wants where users log in.
sub _make_certificates
{
	my ($self) = @_;
	my $dir = $self->{dir};
	my $run = sub { PostgreSQL::Test::Utils::run_log(\@_) or die "@_" };
	my @key = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes');
	$run->('openssl', 'req', '-x509', '-days', 2, @key, '-keyout', "$dir/ca.key", '-out', "$dir/ca.crt", '-subj', '/CN=etcd CA',
		'-addext', 'basicConstraints=critical,CA:TRUE');
	my %subject = (server => '/CN=server', client => '/O=database servers', named => '/CN=client');
	for my $who (sort keys %subject)
	{
		append_to_file("$dir/$who.ext", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
		$run->('openssl', 'req', @key, '-keyout', "$dir/$who.key", '-out', "$dir/$who.csr", '-subj', $subject{$who});
		$run->('openssl', 'x509', '-req', '-in', "$dir/$who.csr", '-CA', "$dir/ca.crt", '-CAkey', "$dir/ca.key",
			'-CAcreateserial', '-days', 2, '-extfile', "$dir/$who.ext", '-out', "$dir/$who.crt");
	}
	return;
}

# A file of the certificates: ca.crt, client.crt, client.key, named.crt, named.key.
sub file { my ($self, $name) = @_; return "$self->{dir}/$name" }

# The setting pg_snowid.etcd_endpoints.
sub endpoints
{
	my ($self) = @_;
	return join ',', map { $_->{secure} // $_->{client} } @{ $self->{members} };
}

# Starts the members that are not running, and waits until they all serve.
sub start
{
	my ($self) = @_;
	for my $member (grep { !$_->{pid} } @{ $self->{members} })
	{
		my $log = "$PostgreSQL::Test::Utils::log_path/$member->{name}-etcd.log";
		my $pid = fork // die "fork: $!";
		if (!$pid)
		{
			open STDIN, '<', '/dev/null' or die;
			open STDOUT, '>>', $log or die "$log: $!";
			open STDERR, '>&', \*STDOUT or die;
			exec @{ $member->{command} } or POSIX::_exit(127);
		}
		$member->{pid} = $pid;
		push @running, $member;
	}
	wait_until('etcd serves', sub {
		for my $member (@{ $self->{members} })
		{
			die "etcd has ended: see its log in $PostgreSQL::Test::Utils::log_path" if waitpid $member->{pid}, POSIX::WNOHANG();
			my $is = $self->{http}->get("$member->{client}/health");
			return 0 unless $is->{success} && $is->{content} =~ /true/;
		}
		return 1;
	});
	return;
}

# kill9(MEMBER…): kills these members, or all.
sub kill9
{
	my ($self, @members) = @_;
	for my $member (map { $self->{members}[$_] } @members ? @members : 0 .. $#{ $self->{members} })
	{
		kill 'KILL', $member->{pid};
		waitpid $member->{pid}, 0;
		delete @$member{qw(pid cut)};
	}
	return;
}

# Removes all that an etcd which doesn't run has stored.
sub forget
{
	my ($self) = @_;
	PostgreSQL::Test::Utils::system_or_bail('rm', '-rf', map { "$self->{dir}/$_->{name}" } @{ $self->{members} });
	return;
}

# A network that is cut, to these members or all: connections are made and nobody answers.
sub cut { my ($self, @members) = @_; $self->_signal('STOP', @members); return }
sub mend { my ($self, @members) = @_; $self->_signal('CONT', @members); return }

sub _signal
{
	my ($self, $signal, @members) = @_;
	for my $member (@members ? @{ $self->{members} }[@members] : @{ $self->{members} })
	{
		kill $signal, $member->{pid};
		$member->{cut} = $signal eq 'STOP';
	}
	return;
}

# The number of the member that leads.
sub leader
{
	my ($self) = @_;
	for my $n (0 .. $#{ $self->{members} })
	{
		my $is = $json->decode($self->{http}->post("$self->{members}[$n]{client}/v3/maintenance/status",
			{ content => '{}' })->{content});
		return $n if $is->{leader} eq $is->{header}{member_id};
	}
	die 'no member leads';
}

# call('/v3/kv/range', {…}): what etcd answers; dies with its error.
sub call
{
	my ($self, $path, $request) = @_;
	my ($member) = grep { $_->{pid} && !$_->{cut} } @{ $self->{members} };
	my $is = $self->{http}->post("$member->{client}$path", { content => $json->encode($request),
		headers => { $self->{token} ? (Authorization => $self->{token}) : () } });
	die "etcd: $path: $is->{status} $is->{content}" unless $is->{success};
	return $json->decode($is->{content});
}

# From now on etcd wants a login: of this user, who may do with keys of the prefix what it likes, or of
# root, as whom the test asks.
sub protect
{
	my ($self, $user, $password) = @_;
	my %users = ($user => $password, root => 'root');
	$self->call('/v3/auth/role/add', { name => $_ }) for keys %users;
	$self->call('/v3/auth/role/grant', { name => $user, perm => { permType => 'READWRITE',
		key => encode_base64('pg_snowid/', ''), range_end => encode_base64('pg_snowid0', '') } });
	for my $name (keys %users)
	{
		$self->call('/v3/auth/user/add', { name => $name, password => $users{$name} });
		$self->call('/v3/auth/user/grant', { user => $name, role => $name });
	}
	$self->call('/v3/auth/enable', {});
	$self->login('root', 'root');
	return;
}

# Asks as this user from now on.
sub login
{
	my ($self, $name, $password) = @_;
	delete $self->{token};
	$self->{token} = $self->call('/v3/auth/authenticate', { name => $name, password => $password })->{token};
	return;
}

# The values of all keys that start so, decoded, by key; without the prefix that the servers have.
sub records
{
	my ($self, $start, $prefix) = @_;
	$prefix //= 'pg_snowid/';
	my $key = $prefix . $start;
	my $end = substr($key, 0, -1) . chr(1 + ord substr $key, -1);
	my $is = $self->call('/v3/kv/range', { key => encode_base64($key, ''), range_end => encode_base64($end, '') });
	return { map { substr(decode_base64($_->{key}), length $prefix) => $json->decode(decode_base64($_->{value})) }
		  @{ $is->{kvs} || [] } };
}

# The record of one key; undef if there is none.
sub record { my ($self, $key) = @_; return $self->records($key)->{$key} }

# put(KEY => RECORD, …): up to 128 in one transaction.
sub put
{
	my ($self, %records) = @_;
	$self->call('/v3/kv/txn', { success => [ map { { requestPut => {
		key => encode_base64("pg_snowid/$_", ''), value => encode_base64($json->encode($records{$_}), '') } } } sort keys %records ] });
	return;
}

sub delete
{
	my ($self, $key) = @_;
	return $self->call('/v3/kv/deleterange', { key => encode_base64("pg_snowid/$key", '') });
}

# --- Servers ---

# server(NAME, node_name => …, settings => { … }, and Snowid::server's): a running server whose worker id
# is etcd's to give. Leases are as short as they can be. A node_name of undef is not set.
sub server
{
	my ($self, $name, %options) = @_;
	my %settings = (etcd_endpoints => $self->endpoints, etcd_lease => '5s', node_name => $name, %{ $options{settings} || {} });
	my $conf = join '', map { defined $settings{$_} ? "pg_snowid.$_ = '$settings{$_}'\n" : '' } sort keys %settings;
	$conf .= "log_statement = none\nrestart_after_crash = on\n";
	return Snowid::server($name, %options, conf => $conf . ($options{conf} // ''));
}

# Whatever happens to the test, nothing is left running.
END
{
	my $status = $?;
	for my $member (grep { $_->{pid} } @running)
	{
		kill 'CONT', $member->{pid};
		kill 'KILL', $member->{pid};
		waitpid $member->{pid}, 0;
	}
	$? = $status;
}

1;
