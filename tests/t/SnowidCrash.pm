# What the tests of crashes, failovers and restores share (1*.pl): servers and clocks are Snowid's; here
# are sessions that draw until their server dies, and a ledger of all ids that anyone was ever given.
package SnowidCrash;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid;
use Time::HiRes qw(sleep);

our @EXPORT = qw(start_again wait_until script start_load end_load the_mark past_mark status one_id refused
  $BEHIND $SET_AHEAD $JUMPED $PAST_MARK);

# The errors that a wrong clock, or a mark, gets.
our $BEHIND = qr/ERROR: +55000: clock is too far behind the (?:last ID|high-water mark)\n/;
our $SET_AHEAD = qr/ERROR: +55000: the high-water mark of this database was set far ahead of the clock\n/;
our $JUMPED = qr/ERROR: +55000: clock has jumped forward\n/;
our $PAST_MARK = qr/ERROR: +55000: clock is implausibly far past the high-water mark\n/;

# Starts a server again, under a clock. Processes of a killed postmaster may need a moment to notice.
sub start_again
{
	my ($node, $clock) = @_;
	my $start = sub {
		for (1 .. 60)
		{
			return if $node->start(fail_ok => 1);
			$node->{_pid} = undef;    # start has taken the old one's from the file that it left
			sleep 0.2;
		}
		die 'the server does not start: ' . slurp_file($node->logfile);
	};
	$clock ? $clock->over($start) : $start->();
	return;
}

# Waits for code to return something true, and returns it. The patience is for machines that are busy.
sub wait_until
{
	my ($what, $code) = @_;
	for (1 .. 1200)
	{
		my $result = $code->();
		return $result if $result;
		sleep 0.05;
	}
	die "waited a minute in vain: $what";
}

# A file with these statements.
sub script
{
	my ($sql) = @_;
	my $path = PostgreSQL::Test::Utils::tempdir('script') . '/script.sql';
	append_to_file($path, "$sql\n");
	return $path;
}

# start_load(NODE, FILE…): a session for each file of SQL, drawing until its statements or the server end. What a
# session was given goes to a file, whether committed or not.
sub start_load
{
	my ($node, @scripts) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir('load');
	my @sessions;
	for my $n (0 .. $#scripts)
	{
		my $path = "$dir/$n";
		my $run = IPC::Run::start(
			[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose',
				'-d', $node->connstr('postgres') . " application_name='load'", '-f', $scripts[$n] ],
			'<', '/dev/null', '>', "$path.out", '2>', "$path.err", IPC::Run::timeout(180));
		push @sessions, { run => $run, out => "$path.out", err => "$path.err" };
	}
	return @sessions;
}

# Waits for these sessions to end, however they do. Returns what they said to it.
sub end_load
{
	my (@sessions) = @_;
	$_->{run}->finish for @sessions;
	return join '', map { slurp_file($_->{err}) } @sessions;
}

# The high-water mark: no id of a later millisecond is given before it is raised.
sub the_mark
{
	my ($node, $database) = @_;
	return $node->safe_psql($database // 'postgres', 'SELECT last_value FROM snowid.high_water');
}

# Waits until a server's clock is past a mark, its own if none is given: a draw then needs a raise.
sub past_mark
{
	my ($node, $mark) = @_;
	$mark //= the_mark($node);
	wait_until('a clock past the mark', sub {
		return $node->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp()) * 1000 > $mark") eq 't' });
	return;
}

# A column of snowid.status.
sub status
{
	my ($node, $column, $database) = @_;
	return $node->safe_psql($database // 'postgres', "SELECT $column FROM snowid.status");
}

# One id of a shard.
sub one_id
{
	my ($node, $shard, $database) = @_;
	return $node->safe_psql($database // 'postgres', "SELECT next_id($shard)");
}

# The error that drawing an id ends with; '' if it gives one.
sub refused
{
	my ($node, $shard, $database) = @_;
	return error_of($node, $database // 'postgres', "SELECT next_id($shard)");
}

# All ids that anyone was ever given, by shard or worker. A round is what happens between two events;
# an id of a later round must be greater than all those of earlier ones.
package SnowidCrash::Ledger;

use strict;
use warnings;

sub new
{
	my ($class, %options) = @_;
	return bless {
		snowflake => $options{snowflake}, before => {}, greatest => {},
		ids => 0, repeated => 0, disordered => 0, not_greater => 0, example => ''
	}, $class;
}

# Notes the ids of files, each of which holds what one session was given, in that order.
sub note_files
{
	my ($self, @files) = @_;
	my %given;
	for my $file (@files)
	{
		open my $in, '<', $file or die "$file: $!";
		chomp(my @ids = <$in>);
		close $in;
		$self->_note(\%given, @ids);
	}
	return $self;
}

# Notes ids that one session was given, in that order.
sub note
{
	my ($self, @ids) = @_;
	$self->_note({}, @ids);
	return $self;
}

sub _note
{
	my ($self, $given, @ids) = @_;
	my ($shift, $max) = $self->{snowflake} ? (12, 1023) : (10, 8191);
	my ($before, $greatest) = @$self{qw(before greatest)};
	my %last;
	for my $id (@ids)
	{
		die "'$id' is no id" if $id !~ /^[0-9]+$/;
		my $node = $id >> $shift & $max;
		$self->_wrong('repeated', $id) if $given->{$id}++;
		$self->_wrong('disordered', $id) if $id <= ($last{$node} // 0);
		$self->_wrong('not_greater', $id) if $id <= ($before->{$node} // 0);
		$last{$node} = $id;
		$greatest->{$node} = $id if $id > ($greatest->{$node} // 0);
	}
	$self->{ids} += @ids;
	return;
}

sub _wrong
{
	my ($self, $what, $id) = @_;
	$self->{example} ||= sprintf '%d, of shard %d, ms %d', $id, (Snowid::fields($id, $self->{snowflake}))[ 1, 0 ];
	$self->{$what}++;
	return;
}

# Ids that were stored, whether or not anyone was told: later ones must be greater than these too.
sub stored
{
	my ($self, @ids) = @_;
	for my $id (@ids)
	{
		my $node = (Snowid::fields($id, $self->{snowflake}))[1];
		$self->{greatest}{$node} = $id if $id > ($self->{greatest}{$node} // 0);
	}
	return $self;
}

# From here on all ids must be greater than all until now.
sub new_round
{
	my ($self) = @_;
	$self->{before} = { %{ $self->{greatest} } };
	return $self;
}

# Tests that no id was given twice and that each was greater than all of earlier rounds.
sub is_sound
{
	my ($self, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $found = join ', ', map { "$self->{$_} $_" } qw(repeated disordered not_greater);
	$found .= ", the first is $self->{example}" if $self->{example};
	@$self{qw(repeated disordered not_greater example)} = (0, 0, 0, '');    # the next test is about what follows
	return Test::More::is($found, '0 repeated, 0 disordered, 0 not_greater', "$name: $self->{ids} ids");
}

# The time that the greatest id of all carries.
sub last_ms
{
	my ($self) = @_;
	my $last = 0;
	for my $id (values %{ $self->{greatest} })
	{
		my ($ms) = Snowid::fields($id, $self->{snowflake});
		$last = $ms if $ms > $last;
	}
	return $last;
}

1;
