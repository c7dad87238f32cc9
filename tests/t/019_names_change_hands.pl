# Proves that who may rename something, and waits for the moment, gets nothing run by others and none of his values
# taken: a superuser's revert_column reads the sequence that it found, and not a view that has got its name while it
# waited; migrate_column and bind_schema refuse a default or a function that would call what has the name of
# pg_snowid's schema meanwhile; a query that draws on after the extension was dropped takes no mark from a sequence
# that its owner puts in the place of snowid.high_water.
#
# It would fail if the sequence were read by a SELECT, if what is made in the name of the schema weren't looked at,
# or if the mark's sequence were taken by its name alone.

use strict;
use warnings;

use Test::More;
use Snowid;

my $node = server('main', extension => 0);
$node->safe_psql('postgres', $_) for 'CREATE ROLE hostile LOGIN', 'CREATE DATABASE hostile OWNER hostile';
$node->safe_psql('hostile', <<'SQL');
CREATE TABLE orders (id bigint);
SET ROLE hostile;
CREATE SCHEMA home;
CREATE EXTENSION pg_snowid SCHEMA home;
CREATE SCHEMA own;
CREATE TABLE own.photos (id bigint GENERATED ALWAYS AS IDENTITY);
SELECT snowid.migrate_column('own.photos', 'id', 5);
CREATE FUNCTION own.hostile() RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'hostile code runs as %', current_user; END $$;
RESET ROLE;
GRANT SELECT ON orders TO hostile;
SQL

# What a superuser's call comes to that waits for the hostile role's transaction.
sub meanwhile
{
	my ($sql, $call) = @_;
	my $holder = background($node, 'hostile');
	$holder->query_safe("SET ROLE hostile; BEGIN; $sql");
	my $caller = background($node, 'hostile');
	my $pid = $caller->query_safe('SELECT pg_backend_pid()');
	$caller->{stdin} .= "$call;\n\\echo ended\n";
	$caller->{run}->pump_nb;
	ok( $node->poll_query_until('hostile', "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $pid AND NOT granted)"),
		"the superuser waits: $call");
	$holder->query_safe('ALTER SCHEMA home RENAME TO gone; CREATE SCHEMA home; '
		  . 'CREATE FUNCTION home.next_id(bigint, timestamptz) RETURNS bigint LANGUAGE sql RETURN own.hostile()')
	  if $sql =~ /orders/;
	$holder->query_safe('COMMIT');
	$caller->{run}->pump until $caller->{stdout} =~ /ended/;
	$_->quit for $holder, $caller;
	return $caller->{stderr};
}

my $result = meanwhile(
	'ALTER SEQUENCE own.photos_id_seq RENAME TO other; '
	  . 'CREATE VIEW own.photos_id_seq AS SELECT own.hostile() AS last_value, true AS is_called',
	q{SELECT snowid.revert_column('own.photos', 'id')});
unlike($result, qr/hostile code/, 'no view is read for the sequence whose name it has got');

$result = meanwhile('SELECT FROM orders', q{SELECT snowid.migrate_column('orders', 'id', 5)});
like($result, qr/55000: +the schema of pg_snowid's functions was renamed meanwhile/, 'migrate_column is refused');
is($node->safe_psql('hostile', 'INSERT INTO orders DEFAULT VALUES RETURNING id IS NULL'), 't', 'and leaves no default');
$node->safe_psql('hostile', 'DROP SCHEMA home CASCADE; ALTER SCHEMA gone RENAME TO home');
is( error_of($node, 'hostile', q{SELECT snowid.migrate_column('orders', 'id', 5)}),
	'', 'it is taken when the schema has its name again');

my $drawer = background($node, 'hostile');
$drawer->query_safe('SET ROLE hostile; BEGIN; '
	  . 'DECLARE ids CURSOR FOR SELECT home.next_id(7) FROM generate_series(1, 1000000); FETCH ids');
# Values that were drawn, and as many left as the server's own mark says
$node->safe_psql('hostile', <<'SQL');
SET ROLE hostile;
BEGIN;
DROP EXTENSION pg_snowid CASCADE;
CREATE SCHEMA snowid;
CREATE SEQUENCE snowid.high_water AS bigint;
SELECT setval('snowid.high_water', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 50000, false);
SELECT count(nextval('snowid.high_water')) FROM generate_series(1, 32);
COMMIT;
SQL
my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;
$drawer->query('FETCH ids; FETCH 1000 FROM ids') until $drawer->{stderr} || time > $deadline;
like( $drawer->{stderr},
	qr/55000: +sequence "snowid.high_water" does not exist/,
	'a mark that is not of the extension is none');
$drawer->quit;

$node->stop;
done_testing();
