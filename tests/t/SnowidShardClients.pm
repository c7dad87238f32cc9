# Clients of examples/many_servers: each inserts into one shard after the other, at the server that the
# router's shard_map names, and looks it up again when that server refuses; now and then it reads an id of
# its own through the router. They are processes of their own, with a psql for each server.
package SnowidShardClients;

use strict;
use warnings;

use IPC::Open2;
use POSIX ();
use PostgreSQL::Test::Utils;
use Time::HiRes qw(sleep);

# start(CONNECTION OF THE ROUTER, HOW MANY)
sub start
{
	my ($class, $router, $count) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir('clients');
	my $self = bless { stop => "$dir/stop", added => [], seen => 0 }, $class;
	for my $n (1 .. $count)
	{
		my $path = "$dir/$n";
		append_to_file("$path.$_", '') for 'rows', 'ids', 'notes';
		my $pid = fork // die "fork: $!";
		if ($pid == 0)
		{
			# _exit: what the test does at its end is not for a child to do.
			eval { _work($router, $n, $path, $self->{stop}); 1 } or append_to_file("$path.notes", "died $@\n");
			POSIX::_exit(0);
		}
		push @{ $self->{clients} }, { pid => $pid, path => $path };
	}
	return $self;
}

# Whether each client has inserted so many rows since this last said yes.
sub more
{
	my ($self, $rows) = @_;
	my @now = map { -s "$_->{path}.ids" } @{ $self->{clients} };
	for my $n (0 .. $#now)
	{
		my $client = $self->{clients}[$n];
		die 'a client died: ' . slurp_file("$client->{path}.notes") if waitpid($client->{pid}, POSIX::WNOHANG());
		return 0 if $now[$n] < ($client->{seen} // 0) + 20 * $rows;    # an id has 19 digits
	}
	$self->{clients}[$_]{seen} = $now[$_] for 0 .. $#now;
	return 1;
}

# A row that someone else was told of: "id caption".
sub add { my ($self, $row) = @_; push @{ $self->{added} }, $row; return }

# Stops them. Returns the rows that they were told of, as "id caption", the files of ids in the order in
# which each got them, and how often they read, missed a row, and were refused.
sub stop
{
	my ($self) = @_;
	append_to_file($self->{stop}, '');
	my %is = (given => $self->{added}, files => [], read => 0, missing => 0, refused => 0);
	for my $client (@{ $self->{clients} })
	{
		waitpid $client->{pid}, 0;
		push @{ $is{given} }, split /\n/, slurp_file("$client->{path}.rows");
		push @{ $is{files} }, "$client->{path}.ids";
		for my $note (split /\n/, slurp_file("$client->{path}.notes"))
		{
			die "a client: $note" unless $note =~ /^(read|missing|refused)\b/;
			$is{$1}++;
		}
	}
	return %is;
}

# If the test ends early, so do they. At its end their folder may be gone before.
sub DESTROY { my ($self) = @_; append_to_file($self->{stop}, '') if -d $self->{stop} =~ s{/[^/]*$}{}r; return }

# --- In the client's process ---

sub _work
{
	my ($router, $n, $path, $stop) = @_;
	my %files;
	for my $kind ('rows', 'ids', 'notes')
	{
		open $files{$kind}, '>>', "$path.$kind" or die "$path.$kind: $!";
		$files{$kind}->autoflush(1);
	}
	open STDERR, '>', "$path.errors" or die "$path.errors: $!";
	my (%server_of, %sessions, @own);
	my $ask = sub { my ($conninfo, $sql) = @_; return _ask($sessions{$conninfo} //= _connect($conninfo), $sql) };
	for (my $count = 1; !-e $stop; $count++)
	{
		my ($shard, $caption) = ($count % 4, "$n.$count");
		my $id;
		until (defined $id)
		{
			if (!defined $server_of{$shard})
			{
				(my $state, $server_of{$shard}) = $ask->($router, "SELECT conninfo FROM shard_map WHERE shard_id = $shard");
				die "the map: $state" if $state ne '00000';
			}
			(my $state, $id) = $ask->($server_of{$shard}, "INSERT INTO shard_$shard.photos (caption) VALUES ('$caption') RETURNING id");
			next if $state eq '00000';
			# Closed (25006), or moved and dropped since (42P01).
			die "insert: $state" unless $state =~ /^(25006|42P01)$/;
			print { $files{notes} } "refused $state\n";
			($id, $server_of{$shard}) = ();
			sleep 0.005;
		}
		print { $files{rows} } "$id $caption\n";
		print { $files{ids} } "$id\n";
		push @own, "$id $caption";

		next if $count % 10;
		my ($old, $its_caption) = split / /, $own[ rand @own ];
		my ($state, @found) = $ask->($router, "SELECT caption FROM photos WHERE id = $old AND id_shard(id) = id_shard($old)");
		die "read: $state" if $state ne '00000';
		print { $files{notes} } "@found" eq $its_caption ? "read $old\n" : "missing $old\n";
	}
	return;
}

sub _connect
{
	my ($conninfo) = @_;
	my $pid = open2(my $out, my $in, 'psql', '-XAtq', '-v', 'VERBOSITY=sqlstate', '-d', $conninfo);
	return { in => $in, out => $out };
}

# (SQLSTATE, rows) of a statement.
sub _ask
{
	my ($session, $sql) = @_;
	print { $session->{in} } "$sql;\n\\echo = :SQLSTATE\n";
	my @rows;
	while (defined(my $line = readline $session->{out}))
	{
		chomp $line;
		return ($1, @rows) if $line =~ /^= (\w*)$/;    # empty if the connection is lost
		push @rows, $line;
	}
	die 'psql has ended';
}

1;
