# Proves that a publication FOR ALL TABLES takes the extension's own table, snowid.custom_layouts, into no trouble: on
# a subscriber that has the extension too, with rows of the same names and of others, nothing that the publisher
# sends changes the table. The first copy, INSERT, UPDATE, DELETE and TRUNCATE are skipped, the subscription goes on
# without an error, and the users' tables follow, through a crash of the subscriber too. So it is, from 16 on, with
# a subscription of an ordinary role that has created the extension.
#
# It would fail if the table had no primary key, if the triggers were not enabled for replicas, or if a TRUNCATE
# that was sent emptied the table.

use strict;
use warnings;

use Test::More;
use Snowid;

my $publisher = server('publisher', init => [ allows_streaming => 'logical' ]);
my $subscriber = server('subscriber');

sub layout { my ($name, $year) = @_; return "('$name', '$year-01-01 00:00:00.5+00', '20 ms', 41, '{a,\"b, c\"}', '{13,9}', E'of $year\\n\"x\"')" }
my $insert = 'INSERT INTO snowid.custom_layouts (name, epoch, time_unit, time_bits, field_names, field_bits, note) VALUES';
$_->safe_psql('postgres', 'CREATE TABLE t (n integer PRIMARY KEY)') for $publisher, $subscriber;
$publisher->safe_psql('postgres', "$insert " . join ', ', layout('both', 2020), layout('theirs', 2020));
$subscriber->safe_psql('postgres', "$insert " . join ', ', layout('both', 2021), layout('ours', 2021), layout('later', 2021));
$subscriber->safe_psql('postgres', "$insert ('bare', '1970-01-01+00', '1 s', 33, '{}', '{}', NULL)");

my $rows = "SELECT * FROM snowid.custom_layouts ORDER BY name";
my $before = $subscriber->safe_psql('postgres', $rows);
my $n = 0;

# What the publisher does, and a row of t after it.
sub nothing_lost
{
	my ($name, @statements) = @_;
	$n++;
	$publisher->safe_psql('postgres', join '; ', 'BEGIN', @statements, "INSERT INTO t VALUES ($n)", 'COMMIT');
	$publisher->wait_for_catchup('s');
	is($subscriber->safe_psql('postgres', $rows), $before, "$name: the subscriber's layouts are as before");
	is($subscriber->safe_psql('postgres', 'SELECT max(n) FROM t'), $n, "$name: and its other tables follow");
	return;
}

$publisher->safe_psql('postgres', 'CREATE PUBLICATION p FOR ALL TABLES');
is( $publisher->safe_psql('postgres', "SELECT string_agg(tablename, ' ') FROM pg_publication_tables WHERE schemaname = 'snowid'"),
	'custom_layouts', 'all tables are those of the extension too');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION p");
$subscriber->wait_for_subscription_sync($publisher, 's');
nothing_lost('the first copy');
nothing_lost('INSERT', "$insert " . join ', ', layout('new', 2022), layout('later', 2022));
nothing_lost('UPDATE', "UPDATE snowid.custom_layouts SET note = 'changed'", "UPDATE snowid.custom_layouts SET name = 'ours' WHERE name = 'new'");
nothing_lost('DELETE', 'DELETE FROM snowid.custom_layouts');
nothing_lost('TRUNCATE', 'TRUNCATE snowid.custom_layouts');
nothing_lost('TRUNCATE of several', $insert . layout('both', 2023), 'TRUNCATE t, snowid.custom_layouts', 'TRUNCATE snowid.custom_layouts');

$subscriber->stop('immediate');
$subscriber->start;
nothing_lost('after a crash', $insert . layout('both', 2023));
is($subscriber->safe_psql('postgres', 'SELECT n FROM t ORDER BY n'), "6\n7", 'a TRUNCATE of theirs empties those');
is(log_count($subscriber, qr/ERROR:/), 0, 'the subscription had no error');

# What the subscriber writes itself is written.
$subscriber->safe_psql('postgres', "UPDATE snowid.custom_layouts SET note = 'mine' WHERE name = 'both'; DELETE FROM snowid.custom_layouts WHERE name <> 'both'");
is($subscriber->safe_psql('postgres', 'SELECT name, note FROM snowid.custom_layouts'), 'both|mine', 'its own changes count');
# So it is where a trigger of its own does so for rows that are sent.
$subscriber->safe_psql('postgres', <<"SQL");
CREATE FUNCTION add_layout() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN $insert ${\ layout('of a trigger', 2024)}; RETURN NULL; END \$\$;
CREATE TRIGGER add_layout AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION add_layout();
ALTER TABLE t ENABLE ALWAYS TRIGGER add_layout;
SQL
$publisher->safe_psql('postgres', 'INSERT INTO t VALUES (100)');
$publisher->wait_for_catchup('s');
is($subscriber->safe_psql('postgres', 'SELECT name FROM snowid.custom_layouts ORDER BY name'), "both\nof a trigger", 'those of its triggers too');

# From 16 on an ordinary role can have the subscription, and applies what comes with its own rights.
SKIP: {
	skip 'subscriptions are for superusers before PostgreSQL 16', 2 if major($subscriber) < 16;
	$subscriber->safe_psql('postgres', 'CREATE ROLE owner LOGIN; GRANT pg_create_subscription TO owner; CREATE DATABASE own OWNER owner');
	$subscriber->safe_psql('own', "SET SESSION AUTHORIZATION owner; CREATE EXTENSION pg_snowid; CREATE TABLE t (n integer PRIMARY KEY); $insert " . layout('both', 2021));
	my $own = $subscriber->safe_psql('own', $rows);
	$subscriber->safe_psql('own', "CREATE SUBSCRIPTION own CONNECTION '" . $publisher->connstr
		. " dbname=postgres' PUBLICATION p WITH (enabled = false, password_required = false, run_as_owner)");
	$subscriber->safe_psql('own', 'ALTER SUBSCRIPTION own OWNER TO owner; ALTER SUBSCRIPTION own ENABLE');
	$subscriber->wait_for_subscription_sync($publisher, 'own', 'own');
	$publisher->safe_psql('postgres', "UPDATE snowid.custom_layouts SET note = 'changed'; TRUNCATE snowid.custom_layouts; INSERT INTO t VALUES (101)");
	$publisher->wait_for_catchup('own');
	is($subscriber->safe_psql('own', $rows), $own, "an ordinary role's subscription: the layouts are as before");
	is($subscriber->safe_psql('own', 'SELECT max(n) FROM t'), '101', "an ordinary role's subscription: other tables follow");
}

$_->stop for $subscriber, $publisher;
done_testing();
