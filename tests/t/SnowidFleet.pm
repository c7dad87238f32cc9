# Servers that lease their worker ids from an etcd (SnowidEtcd), and a log of all ids that any of them gave.
#
#   in_force($a, 'etcd');                      # waits until it has a pair
#   draw_on($a, 2); … stop_drawing; nothing_twice('all ids');
package SnowidFleet;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use Snowid qw(fields survey);
use SnowidCrash qw(wait_until script status);
use Test::More ();
use Time::HiRes qw(sleep);

our @EXPORT = qw(pair_of in_force problem claim_refused draw refusal draw_on stop_drawing drawn
  nothing_twice ms_of freeze thaw lease_worker end_lease_worker time_ms rewrite_lease
  password_file);

my (%frozen, @drawing, %files);

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
	$? = $status;
}

1;
