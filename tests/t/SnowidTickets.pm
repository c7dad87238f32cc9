# What the tests of tickets share: clients that draw from several servers in turn, and a ledger of all
# tickets that anyone was given.
package SnowidTickets;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use Snowid;
use SnowidCrash;
use Test::More ();

our @EXPORT = qw(start_clients stop_clients last_ticket);

# start_clients(HOW MANY, NODE…): psql clients that draw from the sequence orders until they are stopped,
# each ticket on a new connection: round robin over the servers, and from the next one where one is down,
# by libpq's own means. Each ticket is drawn in a transaction that is rolled back, or alone, or in a block.
sub start_clients
{
	my ($count, @nodes) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir('clients');
	my @clients;
	for my $n (0 .. $count - 1)
	{
		my @servers;
		for my $k (0 .. $#nodes)
		{
			my @turn = map { $nodes[ ($n + $k + $_) % @nodes ] } 0 .. $#nodes;
			push @servers, sprintf 'host=%s port=%s dbname=postgres', join(',', map { $_->host } @turn), join(',', map { $_->port } @turn);
		}
		my $sql = '';
		for my $draw ('SELECT next_ticket(\'orders\');', "BEGIN;\nSELECT next_ticket('orders');\nROLLBACK;", 'SELECT next_tickets(\'orders\', 3);')
		{
			$sql .= "\\c \"$_\"\n$draw\n" for @servers;
		}
		my $path = "$dir/$n";
		append_to_file("$path.sql", $sql);
		my $run = IPC::Run::start(
			# Not longer than the test lives.
			[ 'bash', '-c', "while kill -0 \$PPID && [ ! -e $dir/stop ]; do psql -XAtq -d '$servers[0]' -f $path.sql >>$path.out; done 2>>$path.err" ],
			'<', '/dev/null', IPC::Run::timeout(300));
		push @clients, { run => $run, out => "$path.out", err => "$path.err", stop => "$dir/stop" };
	}
	return @clients;
}

# Returns the files of what these clients were given.
sub stop_clients
{
	my (@clients) = @_;
	append_to_file($_->{stop}, '') for @clients;
	$_->{run}->finish for @clients;
	return map { $_->{out} } @clients;
}

# The last ticket that a server has given, 0 if none.
sub last_ticket
{
	my ($node) = @_;
	return $node->safe_psql('postgres', "SELECT coalesce(last_value, 0) FROM snowid.sequences WHERE relation = 'orders'::regclass");
}

# All tickets that anyone was given.
package SnowidTickets::Ledger;

use strict;
use warnings;

sub new
{
	my ($class) = @_;
	return bless { given => {}, tickets => 0, repeated => 0, example => '' }, $class;
}

# Notes tickets; of several sequences as NAME:TICKET.
sub note
{
	my ($self, @tickets) = @_;
	for my $ticket (@tickets)
	{
		die "'$ticket' is no ticket" if $ticket !~ /^(\w+:)?[0-9]+$/;
		$self->{tickets}++;
		next if !$self->{given}{$ticket}++;
		$self->{repeated}++;
		$self->{example} ||= $ticket;
	}
	return $self;
}

# Notes those of files, a ticket a line.
sub note_files
{
	my ($self, @files) = @_;
	$self->note(split /\n/, PostgreSQL::Test::Utils::slurp_file($_)) for @files;
	return $self;
}

# Tests that no ticket was given twice.
sub is_sound
{
	my ($self, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return Test::More::is("$self->{repeated} repeated $self->{example}", '0 repeated ', "$name: $self->{tickets} tickets, each once");
}

1;
