# Proves that an error shows nothing of the library's inside, where the server inherited RUST_BACKTRACE
# too, neither to the client nor in the log, and that a session which catches errors without end, ours or
# those that PostgreSQL raises inside our functions, grows by nothing.
#
# It would fail if a backtrace got into an error's detail, or if each error left a few bytes behind.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

$ENV{RUST_BACKTRACE} = 'full';
my $node = server('main');
delete $ENV{RUST_BACKTRACE};
$node->safe_psql('postgres', "CREATE SEQUENCE ended MAXVALUE 2; SELECT next_ticket('ended') FROM generate_series(1, 2)");

my %errors = (
	"SELECT next_ticket('ended')" => qr/2200H: +nextval: reached maximum value of sequence "ended" \(2\)$/m,
	"SET statement_timeout = '100ms'; SELECT count(next_id(5)) FROM generate_series(1, 10000000)" =>
	  qr/57014: +canceling statement due to statement timeout$/m,
	"SELECT next_ticket('pg_class')" => qr/42809: +"pg_class" is not a sequence$/m,
	'SELECT next_id(8192)' => qr/22023: +shard_id 8192 is out of range\nDETAIL: +It must be between 0 and 8191\.$/m,
);
my $inside = qr/backtrace|pgrx|panic|rust_|::/;
for my $sql (sort keys %errors)
{
	my $error = error_of($node, 'postgres', $sql);
	like($error, $errors{$sql}, "RUST_BACKTRACE=full: $sql");
	# But for the file and line that every error has.
	unlike($error =~ s/^LOCATION: .*$//mr, $inside, 'shows nothing else');
}
unlike(slurp_file($node->logfile), $inside, 'nor does the log');

# How much memory the session has taken at most, in kB, when it has caught that many of an error.
my $session = background($node, 'postgres');
$session->query_safe('SET client_min_messages = log');
sub taken
{
	my ($sql, $times) = @_;
	$session->{stderr} = '';
	$session->query(qq(SET log_statement_stats = on; DO \$\$
DECLARE caught integer := 0;
BEGIN
    FOR n IN 1 .. $times LOOP
        BEGIN $sql; EXCEPTION WHEN OTHERS THEN caught := caught + 1; END;
    END LOOP;
    ASSERT caught = $times;
END \$\$; SET log_statement_stats = off));
	my @sizes = $session->{stderr} =~ /(\d+) kB max resident size/g;
	unlike($session->{stderr}, qr/ERROR/, "$sql: $times times");
	return $sizes[-1];
}
for my $sql ("PERFORM next_ticket('ended')", 'PERFORM next_id(8192)')
{
	my $before = taken($sql, 20_000);
	at_most(taken($sql, 100_000) - $before, 500, "$sql: kB that 100,000 errors leave behind");
}
$session->quit;
$node->stop;
done_testing();
