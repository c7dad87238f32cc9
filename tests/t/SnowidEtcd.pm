# What the tests of leases share (23*.pl): a real etcd, asked by its JSON API, servers that claim their
# worker ids from it, and a log of all ids that any of them gave.
#
#   my $etcd = SnowidEtcd->new;                # it runs; new(tls => 1, members => 3) too
#   my $a = $etcd->server('a');                # its node name is 'a'
#   in_force($a, 'etcd');                      # waits until it has a pair
#   draw_on($a, 2); … stop_drawing; nothing_twice('all ids');
package SnowidEtcd;

use strict;
use warnings;

use Exporter 'import';
use HTTP::Tiny;
use IPC::Run;
use JSON::PP ();
use MIME::Base64 qw(encode_base64 decode_base64);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Snowid qw(fields survey);
use SnowidCrash qw(wait_until script status);
use Test::More ();
use Time::HiRes qw(sleep);

our @EXPORT = qw(pair_of in_force problem claim_refused draw refusal draw_on stop_drawing drawn
  nothing_twice ms_of freeze thaw end_lease_worker time_ms rewrite_lease
  password_file);

my $json = JSON::PP->new->canonical;
my (@running, %frozen, @drawing, %files);

# --- etcd ---

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

# Writes a file with a password into a server's data directory, and returns its name there.
sub password_file
{
	my ($node, $password, $mode) = @_;
	my $name = 'etcd_password';
	my $file = $node->data_dir . "/$name";
	unlink $file;
	append_to_file($file, $password);
	chmod $mode // 0600, $file or die "$file: $!";
	return $name;
}

# 'datacenter/worker' in force on a server; 'none' if there is none.
sub pair_of { my ($node) = @_; return status($node, "coalesce(datacenter_id || '/' || worker_id, 'none')") }

sub problem { my ($node) = @_; return status($node, "coalesce(lease_problem, '')") }

# The time of a timestamptz that SQL gives, in Unix ms.
sub time_ms { my ($node, $sql) = @_; return $node->safe_psql('postgres', "SELECT floor(extract(epoch FROM $sql) * 1000)::bigint") }

# Waits until a server's worker id comes from there and is good, and returns it.
sub in_force
{
	my ($node, $source) = @_;
	my $condition = "worker_source = '$source' AND worker_id IS NOT NULL AND coalesce(lease_until > clock_timestamp(), true)"
	  . ($source eq 'etcd' ? ' AND lease_problem IS NULL' : '');
	eval { wait_until('', sub { status($node, $condition) eq 't' }) };
	die $node->name . ": no worker id from $source: " . status($node, 'status') if $@;
	return pair_of($node);
}

# Waits until a server has no worker id, for a reason, and tests it and what snowflake_id() says then: the
# fact alone. The detail, which is about the server and others, is in snowid.status, for whom it may concern.
sub claim_refused
{
	my ($node, $message, $detail, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $error = '';
	eval { wait_until($name, sub { ($error = refusal($node)) =~ $message }) };
	Test::More::like($error, $message, "$name: snowflake_id() fails");
	Test::More::unlike($error, qr/DETAIL/, "$name: and says the fact alone");
	Test::More::like($error, qr/HINT: .*The server's log says more/, "$name: and where to look");
	Test::More::is(pair_of($node), 'none', "$name: no pair is in force");
	Test::More::like(problem($node), $detail, "$name: snowid.status says why");
	return $error;
}

# The pid of a server's lease worker, which its log has: there may be no /proc to ask, and it has no
# connection that pg_stat_activity would show.
sub lease_worker
{
	my ($node) = @_;
	my $says = qr/claimed datacenter|using datacenter|.*\bworker IDs?\b|could not reach etcd|etcd holds|another live|clock differs|etcd cannot/;
	return wait_until($node->name . "'s lease worker", sub {
		my ($last) = reverse slurp_file($node->logfile) =~ /\[(\d+)\] (?:LOG|WARNING): +$says/g;
		return $last && kill(0, $last) ? $last : undef;
	});
}

# Ends a server's lease worker by a signal, and waits for the next one.
sub end_lease_worker
{
	my ($node, $signal) = @_;
	my $old = lease_worker($node);
	kill $signal, $old;
	wait_until('another lease worker', sub { lease_worker($node) != $old });
	return;
}

# Rewrites the file of a server that is down: what the code makes of its content, in its place. With the
# right checksum unless checksum => 0.
sub rewrite_lease
{
	my ($node, $code, %options) = @_;
	my $file = $node->data_dir . '/pg_snowid.lease';
	my ($content, $checksum) = split /\n/, slurp_file($file);
	$content = $code->($content);
	$checksum = sprintf '%08x', crc32c($content) if $options{checksum} // 1;
	open my $out, '+<', $file or die "$file: $!";    # its inode stays
	truncate $out, 0 or die "$file: $!";
	print $out "$content\n$checksum\n";
	close $out or die "$file: $!";
	return;
}

sub crc32c
{
	my ($text) = @_;
	my $crc = 0xffffffff;
	for my $byte (unpack 'C*', $text)
	{
		$crc ^= $byte;
		$crc = $crc >> 1 ^ ($crc & 1 ? 0x82f63b78 : 0) for 1 .. 8;
	}
	return $crc ^ 0xffffffff;
}

# All processes of a server stop where they are, as on a machine that is frozen; and go on.
sub freeze
{
	my ($node) = @_;
	my $postmaster = $node->{_pid};
	my @others = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
	$frozen{$postmaster} = [ $postmaster, lease_worker($node), @others ];
	kill 'STOP', @{ $frozen{$postmaster} };
	return;
}

sub thaw { my ($node) = @_; kill 'CONT', @{ delete $frozen{ $node->{_pid} } }; return }

# --- Ids ---

# The error that snowflake_id() ends with; '' if it gives one, which is noted.
sub refusal
{
	my ($node) = @_;
	my ($id, $error) = ('', '');
	$node->psql('postgres', "\\set VERBOSITY verbose\nSELECT snowflake_id()", stdout => \$id, stderr => \$error);
	_note($node, $id) if $id ne '';
	return $error;
}

# Some ids of a server, which are noted.
sub draw
{
	my ($node, $count) = @_;
	my @ids = split /\n/, $node->safe_psql('postgres', 'SELECT snowflake_id() FROM generate_series(1, ' . ($count // 1) . ')');
	_note($node, @ids);
	return wantarray ? @ids : $ids[0];
}

sub _note
{
	my ($node, @ids) = @_;
	my $file = $files{ $node->name } //= PostgreSQL::Test::Utils::tempdir('drawn') . '/ids';
	append_to_file($file, join '', map { "$_\n" } @ids);
	return;
}

# The time that an id of snowflake_id() carries.
sub ms_of { my ($id) = @_; return (fields($id, 1))[0] }

# Sessions that draw all the time, and go on after errors, until they are stopped or their server ends.
my $script;
sub draw_on
{
	my ($node, $sessions) = @_;
	$script //= script("SELECT snowflake_ids(20);\nDO 'BEGIN PERFORM pg_sleep(0.003); END';\n" x 60_000);
	my $dir = PostgreSQL::Test::Utils::tempdir('load');
	for my $n (1 .. $sessions // 1)
	{
		my $run = IPC::Run::start(
			[ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres'), '-f', $script ],
			'<', '/dev/null', '>', "$dir/$n.out", '2>', "$dir/$n.err", IPC::Run::timeout(300));
		push @drawing, { node => $node, run => $run, out => "$dir/$n.out", err => "$dir/$n.err" };
		$files{ $node->name . "-$dir-$n" } = "$dir/$n.out";
	}
	return @drawing[ -($sessions // 1) .. -1 ];
}

# How many ids these sessions have received.
sub drawn
{
	my $count = 0;
	for my $session (@_)
	{
		open my $in, '<', $session->{out} or die "$session->{out}: $!";
		$count++ while <$in>;
	}
	return $count;
}

# Ends all sessions that draw. Returns the errors that they had, each once, but for those of a server's stop.
sub stop_drawing
{
	$_->{run}->kill_kill for @drawing;
	my %errors = map { $_ => 1 } map { slurp_file($_->{err}) =~ /((?:ERROR|FATAL|PANIC): .*)/g } @drawing;
	delete @errors{ grep { /57P0[123]/ } keys %errors };
	@drawing = ();
	return join "\n", sort keys %errors;
}

# Tests that of all ids that all servers gave in this test none was given twice, and that each session's
# are in order.
sub nothing_twice
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $is = survey([ values %files ], snowflake => 1);
	return Test::More::is("$is->{repeated} repeated, $is->{disordered} disordered", '0 repeated, 0 disordered',
		"$name: $is->{ids} ids by " . keys(%files) . ' logs');
}

# Whatever happens to the test, nothing is left stopped or running.
END
{
	my $status = $?;
	kill 'CONT', map { @$_ } values %frozen;
	$_->{run}->kill_kill for @drawing;
	for my $member (grep { $_->{pid} } @running)
	{
		kill 'CONT', $member->{pid};
		kill 'KILL', $member->{pid};
		waitpid $member->{pid}, 0;
	}
	$? = $status;
}

1;
