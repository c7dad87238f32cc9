# Proves promise 1, never the same id twice, and 2, in order, where a server dies while eight sessions
# draw: by an immediate stop, by a backend that is killed, by a postmaster that is killed. It comes back
# with its clock right, 1 s, 30 s or an hour behind. The sessions note each id as they receive it, many
# before a commit that never comes. After each crash every id of every shard is greater than all that
# anyone was given; an hour behind no id is given at all, until the clock is right again.
#
# It would fail if ids of after a crash started at the clock, if an id was given out before the mark
# above it was on disk, or if a mark was remembered rather than read.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;
use Time::HiRes qw(sleep);

my $SESSIONS = 8;
my $HOUR = 3_600_000;

# What a session draws, in all ways that there are. Every second shard is shared by all sessions.
sub script_of
{
	my ($n) = @_;
	my $one = sub {
		my $shard = $_[0] % 2 ? 100 + $n : $_[0];
		return $n == $SESSIONS ? 'snowflake_id(3, ' . $shard % 32 . ')' : "next_id($shard)";
	};
	my $table = $n == $SESSIONS ? 'w' : 't';
	my $sql = '';
	for my $i (1 .. 3000)
	{
		my $s = $i % 6;
		my $block = $n == $SESSIONS ? "SELECT @{[ $one->($s) ]} FROM generate_series(1, 100)" : "SELECT next_ids($s, 100)";
		$sql .= "BEGIN;\n" . "SELECT @{[ $one->($s) ]};\n" x 3 . ($i % 2 ? "ROLLBACK;\n" : "COMMIT;\n")
		  . "COPY ($block) TO STDOUT;\n" . "SELECT @{[ $one->($s + 1) ]};\n" x 3
		  . "INSERT INTO $table VALUES (@{[ $one->($s) ]}), (@{[ $one->($s) ]}) RETURNING id;\n";
	}
	return script($sql);
}
my @scripts = map { script_of($_) } 1 .. $SESSIONS;

my %crash = (
	'immediate stop' => sub { $_[0]->stop('immediate') },
	'killed backend' => sub {
		my ($node) = @_;
		my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE application_name = 'load' ORDER BY random() LIMIT 1");
		kill 'KILL', $pid;
	},
	'killed postmaster' => sub { $_[0]->kill9 });

my ($rounds, $ids) = (0, 0);

sub prove
{
	my ($name, $preload, @rounds) = @_;
	my $clock = Snowid::Clock->new;
	my $node = server($name, preload => $preload, clock => $clock, conf => "restart_after_crash = on\nlog_min_messages = fatal");
	if (!$preload && major($node) < 17)
	{
		$node->stop;
	  SKIP: { skip 'no IDs without preloading before PostgreSQL 17', 1 }
		return;
	}
	$node->safe_psql('postgres', 'CREATE TABLE t (id bigint); CREATE TABLE w (id bigint)');
	my $shards = SnowidCrash::Ledger->new;
	my $workers = SnowidCrash::Ledger->new(snowflake => 1);

	for my $round (@rounds, [ 'immediate stop', 0 ])
	{
		my ($how, $ahead) = @$round;
		my $before = $shards->{ids} + $workers->{ids};
		my @load = start_load($node, @scripts);
		$node->poll_query_until('postgres', "SELECT count(*) = $SESSIONS FROM pg_stat_activity WHERE application_name = 'load'")
		  or die 'the sessions do not start';
		sleep 0.2 + rand 0.6;
		$crash{$how}->($node);
		$clock->runs($ahead);
		end_load(@load);
		my @files = map { $_->{out} } @load;
		is(scalar(grep { -s } @files), $SESSIONS, "$name, $how, clock $ahead ms: all sessions had drawn") or diag(map { slurp_file($_->{err}) } @load);
		$workers->note_files(pop @files);
		$shards->note_files(@files);

		$how eq 'killed backend' ? $node->poll_query_until('postgres', 'SELECT true') : start_again($node, $clock);
		# Rows whose commit no client heard of.
		my $stored = sub { return split /\n/, $node->safe_psql('postgres', "SELECT max(id) FROM $_[0] GROUP BY $_[1](id)") };
		$shards->stored($stored->('t', 'id_shard'))->new_round;
		$workers->stored($stored->('w', 'snowflake_worker'))->new_round;

		if ($ahead == -$HOUR)
		{
			my @early = start_load($node, @scripts);
			my $said = end_load(@early);
			my $errors = () = $said =~ /$BEHIND/g;
			my $given = 0;
			$given += -s $_->{out} for @early;
			is("$errors errors, $given bytes", "$SESSIONS errors, 0 bytes", "$name, $how, an hour back: each session gets an error, none an id");
			$clock->runs(0);
		}
		$rounds++;
	}
	$node->stop('immediate');
	$shards->is_sound("$name: next_id() and next_ids() in " . (@rounds + 1) . ' rounds');
	$workers->is_sound("$name: snowflake_id()");
	$ids += $shards->{ids} + $workers->{ids};
	return;
}

my @back = (0, -1000, -30_000, -$HOUR);
prove('preloaded', 1, map { my $ahead = $_; map { [ $_, $ahead ] } sort keys %crash } @back, @back);
prove('plain', 0, [ 'immediate stop', -1000 ], [ 'killed backend', -30_000 ], [ 'killed postmaster', -$HOUR ]);
note("$rounds rounds, $ids ids");
cmp_ok($rounds, '>=', 25, "$rounds rounds with $ids ids");

done_testing();
