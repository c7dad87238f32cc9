# What the tests here share: servers with pg_snowid, sessions that start at the same moment and what
# can be said about their ids, and (in Snowid::Clock) a clock that servers can be started under.
package Snowid;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_REALTIME);

our @EXPORT = qw(server needs major wait_event error_of background start_together finish_all at_once fields survey
  at_most unix_ms monotonic_ms log_count);

# server(NAME, preload => 0, conf => TEXT, init => [ARGUMENTS], clock => CLOCK, extension => 0):
# a running server, with the extension in the database postgres.
sub server
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init(@{ $options{init} || [] });
	$node->append_conf('postgresql.conf', "max_connections = 40\nautovacuum = off");
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_snowid'")
	  if $options{preload} // 1;
	$node->append_conf('postgresql.conf', $options{conf}) if defined $options{conf};
	my $start = sub { $node->start };
	$options{clock} ? $options{clock}->over($start) : $start->();
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_snowid') if $options{extension} // 1;
	return $node;
}

# Leaves a test out, which says so, where the server comes without an extension of PostgreSQL's contrib.
sub needs
{
	my ($node, $extension) = @_;
	my $there = $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = '$extension'");
	Test::More::plan(skip_all => "$extension is not installed here") unless $there;
	return;
}

# The server's major version.
sub major
{
	my ($node) = @_;
	return int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
}

# What pg_stat_activity calls a wait of ours: extensions' waits have one name before PostgreSQL 17.
sub wait_event
{
	my ($node, $name) = @_;
	return major($node) < 17 ? 'Extension' : $name;
}

# The error that SQL ends with, '' if it succeeds: SQLSTATE, message, detail and hint.
sub error_of
{
	my ($node, $database, $sql) = @_;
	my $error = '';
	my $status = $node->psql($database, "\\set VERBOSITY verbose\n$sql", stderr => \$error);
	return $status ? $error : '';
}

# A session that goes on after errors: background(…)->query leaves them in ->{stderr}, verbose.
sub background
{
	my ($node, $database) = @_;
	my $session = $node->background_psql($database, on_error_stop => 0);
	$session->query_safe('\set VERBOSITY verbose');
	return $session;
}

# start_together(NODE, [DATABASE, SQL]…): each SQL in a session of its own. The sessions wait until
# all are there and start at one moment, {since} by monotonic_ms. What one prints goes to its {out}.
sub start_together
{
	my ($node, @jobs) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir('sessions');
	my (%gates, @started);
	for my $n (0 .. $#jobs)
	{
		my ($database, $sql) = @{ $jobs[$n] };
		$gates{$database} //= do
		{
			my $gate = $node->background_psql($database);
			$gate->query_safe('SELECT pg_advisory_lock(1)');
			$gate;
		};
		my $path = "$dir/$n";
		append_to_file("$path.sql",
			"DO 'BEGIN PERFORM pg_advisory_lock_shared(1); END';\n$sql;\n");
		my $run = IPC::Run::start(
			[   'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose',
				'-d', $node->connstr($database), '-f', "$path.sql" ],
			'<', '/dev/null', '>', "$path.out", '2>', "$path.err",
			IPC::Run::timeout(180));
		push @started, { run => $run, out => "$path.out", err => "$path.err" };
	}
	my $jobs = @jobs;
	$node->poll_query_until('postgres',
		"SELECT count(*) = $jobs FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
	  or die 'the sessions do not wait at the gate';
	my $since = monotonic_ms();
	$_->quit for values %gates;
	return map { { %$_, since => $since } } @started;
}

# Waits for sessions to end. Returns the files of what they printed; dies if one of them failed.
sub finish_all
{
	my (@started) = @_;
	for my $session (@started)
	{
		$session->{run}->finish or die 'a session failed: ' . slurp_file($session->{err});
	}
	return map { $_->{out} } @started;
}

sub at_once { return finish_all(start_together(@_)) }

# (milliseconds since 1970, shard or worker, sequence) of an id of next_id() or, if said so, of
# snowflake_id(): an account of the layouts that shares nothing with the product's.
sub fields
{
	my ($id, $snowflake) = @_;
	return $snowflake
	  ? (($id >> 22) + 1288834974657, $id >> 12 & 1023, $id & 4095)
	  : (($id >> 23) + 1293840000000, $id >> 10 & 8191, $id & 1023);
}

# survey([FILES], snowflake => 1): what there is to say about the ids that sessions received: a file
# for each, one id a line in the order received.
sub survey
{
	my ($files, %options) = @_;
	my ($node_shift, $node_max) = $options{snowflake} ? (12, 1023) : (10, 8191);
	my %is = (ids => 0, disordered => 0, repeated => 0, fullest => 0);
	my @ends;
	for my $file (@$files)
	{
		my ($first, $greatest, @last) = (undef, 0);
		open my $in, '<', $file or die "$file: $!";
		while (my $id = <$in>)
		{
			my $node = $id >> $node_shift & $node_max;
			$is{disordered}++ if $id <= ($last[$node] // 0);
			$last[$node] = $id;
			$is{ids}++;
			$first //= $id;
			$greatest = $id if $id > $greatest;
		}
		close $in;
		push @ends, [ $first, 1 ], [ $greatest, -1 ] if defined $first;
	}
	die 'there are no ids' unless $is{ids};

	# In the order of the ids those of one (millisecond, shard) are neighbours.
	local $ENV{LC_ALL} = 'C';
	open my $sorted, '-|', 'sort', '-n', @$files or die "sort: $!";
	my ($first, $last, $group, $in_group) = (undef, -1, -1, 0);
	while (my $id = <$sorted>)
	{
		$is{repeated}++ if $id == $last;
		if (($id >> $node_shift) == $group) { $in_group++ }
		else { ($group, $in_group) = ($id >> $node_shift, 1) }
		$is{fullest} = $in_group if $in_group > $is{fullest};
		$first //= $id;
		$last = $id;
	}
	close $sorted or die "sort failed: $?";
	$is{distinct} = $is{ids} - $is{repeated};
	($is{first_ms}) = fields($first, $options{snowflake});
	($is{last_ms}) = fields($last, $options{snowflake});
	$is{span_ms} = $is{last_ms} - $is{first_ms} + 1;
	# How many sessions were between their first and their last id at the busiest moment.
	($is{at_once}, my $open) = (0, 0);
	for my $end (sort { $a->[0] <=> $b->[0] } @ends)
	{
		$open += $end->[1];
		$is{at_once} = $open if $open > $is{at_once};
	}
	return \%is;
}

# Tests that a number does not exceed a bound, and prints both.
sub at_most
{
	my ($value, $bound, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return Test::More::cmp_ok($value, '<=', $bound, sprintf '%s: %.6g, at most %.6g', $name, $value, $bound);
}

# The clocks of the test itself, which no test moves.
sub unix_ms { return int(clock_gettime(CLOCK_REALTIME) * 1000) }
sub monotonic_ms { return clock_gettime(CLOCK_MONOTONIC) * 1000 }

# How often the server's log has something.
sub log_count
{
	my ($node, $regex) = @_;
	return scalar(() = slurp_file($node->logfile) =~ /$regex/g);
}

# A clock that servers can be started under, to be set while they run (tests/clock.c): the wall clock of
# those servers only; their monotonic clock and the rest of the machine stay as they are.
#
#   my $clock = Snowid::Clock->new;
#   my $node = server('main', clock => $clock);    # else: $clock->over(sub { $node->start })
#   $clock->runs(-5000);                           # it runs, 5 s behind
#   $clock->stands($unix_ms);                      # it stands still
package Snowid::Clock;

use strict;
use warnings;

sub new
{
	my ($class) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir('clock') . '/clock';
	open my $out, '>', $file or die "$file: $!";
	my $self = bless { file => $file, out => $out }, $class;
	$self->runs(0);
	return $self;
}

# Runs code whose servers start under this clock: start, restart and the like.
sub over
{
	my ($self, $code) = @_;
	local @ENV{qw(LD_PRELOAD TEST_CLOCK)} = ($ENV{CLOCK_LIBRARY}, $self->{file});
	return $code->();
}

# The clock runs, so many ms ahead of the machine's, or behind it where negative.
sub runs
{
	my ($self, $ahead_ms) = @_;
	return $self->_set(2 * int(1000 * $ahead_ms));
}

# The clock stands still, in the middle of this millisecond.
sub stands
{
	my ($self, $unix_ms) = @_;
	return $self->_set(2 * (1000 * int($unix_ms) + 500) + 1);
}

# Twice, so that whoever reads it meanwhile notices.
sub _set
{
	my ($self, $word) = @_;
	sysseek($self->{out}, 0, 0) or die "$self->{file}: $!";
	for (1, 2) { syswrite($self->{out}, pack 'q', $word) or die "$self->{file}: $!" }
	return;
}

1;
