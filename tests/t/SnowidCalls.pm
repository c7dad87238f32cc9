# Calls of every function of the extension, listed from the catalogue: arguments by their names and types, so
# that the next function is called too, or found to be missing a value here.
package SnowidCalls;

use strict;
use warnings;

use Exporter 'import';
use List::Util 'max';

our @EXPORT = qw(extension_functions make_fixtures sane_arguments edge_arguments call call_in_row every_use outcomes);

# Every function and procedure of the extension: {name} as called, {signature}, {kind}, {parallel}, {leakproof},
# {arguments}: [[name, type]…].
# All names are written with their schemas: nothing in a call is looked up.
sub extension_functions
{
	my ($node, $database) = @_;
	my @functions;
	my $rows = $node->safe_psql($database, <<'SQL');
SET search_path = pg_catalog;
SELECT concat_ws('|', format('%I.%I', n.nspname, p.proname), p.oid::regprocedure, p.prokind, p.proparallel, p.proleakproof,
           array_to_string(ARRAY(SELECT concat_ws('=', coalesce(nullif(p.proargnames[a.n], ''), 'argument'),
                                            format('%I.%I', tn.nspname, t.typname))
                                   FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n)
                                   JOIN pg_type t ON t.oid = a.type JOIN pg_namespace tn ON tn.oid = t.typnamespace
                                  ORDER BY a.n), ','))
  FROM pg_extension e
  JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
  JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE e.extname = 'pg_snowid'
 ORDER BY p.oid::regprocedure::text COLLATE "C"
SQL
	for my $row (split /\n/, $rows)
	{
		my ($name, $signature, $kind, $parallel, $leakproof, $arguments) = split /\|/, $row, 6;
		my @arguments = map { [ split /=/, $_, 2 ] } split /,/, $arguments;
		push @functions,
		  { name => $name, signature => $signature, kind => $kind, parallel => $parallel,
			leakproof => $leakproof eq 't', arguments => \@arguments };
	}
	return @functions;
}

# Makes as a role, in a schema of this name, what the values below name.
sub make_fixtures
{
	my ($node, $database, $role, $schema) = @_;
	$node->safe_psql($database, <<"SQL");
SET SESSION AUTHORIZATION $role;
SET search_path = pg_catalog;
CREATE SCHEMA $schema;
CREATE SCHEMA ${schema}_bound;
CREATE TABLE $schema.rows (id bigint, created_at timestamptz);
INSERT INTO $schema.rows (created_at) SELECT '2025-01-01 00:00:00+00'::timestamptz + n * interval '1 minute' FROM generate_series(1, 50) n;
CREATE TABLE $schema.parted (id bigint) PARTITION BY RANGE (id);
CREATE TABLE $schema.counted (id bigint GENERATED ALWAYS AS IDENTITY);
CREATE SEQUENCE $schema.tickets AS bigint INCREMENT BY 3;
COMMENT ON SEQUENCE $schema.tickets IS 'pg_snowid tickets: server 1 of 3';
CREATE FUNCTION $schema.caller() RETURNS integer LANGUAGE sql RETURN snowid_internal.id_shard(5::bigint);
SQL
	return;
}

# A value that the function is meant for, by the parameter of this one, by the name of the parameter or else by its type.
my %by_function = (
	'snowid.advance id' => '5000', # the least: with other epochs the others lie ahead of the clock
	'snowid.advance_snowflake id' => '5000',
	'snowid.layout name' => q('pg_snowid'),
	'snowid_internal.remake_sequence relation' => q('SCHEMA.counted'));
my %by_name = (
	'catalog pg_catalog.regclass' => q('pg_catalog.pg_proc'),
	(map { ("$_ pg_catalog.oid" => q('SCHEMA.caller'::pg_catalog.regproc)) } 'object', 'function'),
	(map { ("$_ pg_catalog.int8" => '5') } 'shard_id', 'datacenter_id', 'worker_id', 'sequence', 'count'),
	'created_at_column pg_catalog.name' => q('created_at'),
	'schema_name pg_catalog.text' => q('SCHEMA_bound'),
	'name pg_catalog.text' => q('SCHEMA.made_by_FUNCTION'),
	'from_id pg_catalog."numeric"' => '9223372036854775806', # past all that create_partitions makes
	'to_id pg_catalog."numeric"' => '9223372036854775807',
	'first pg_catalog.int8' => '1',
	'layout pg_catalog.text' => q('pg_snowid'),
	'ahead pg_catalog."interval"' => q('3 days'),
	'starting pg_catalog.timestamptz' => 'pg_catalog.clock_timestamp()',
	'at pg_catalog.timestamptz' => 'pg_catalog.clock_timestamp()',
	'digits pg_catalog.text' => q('5'),
	'shortcode pg_catalog.text' => q('F'),
	'base32 pg_catalog.text' => q('0000000000005'),
	'generated pg_catalog.text' => 'NULL');
my %by_type = (
	'pg_catalog.int4' => '5',
	'pg_catalog.int8' => '3706503089356805120',
	'pg_catalog."numeric"' => '1',
	'pg_catalog.bool' => 'false',
	'pg_catalog.text' => q('text'),
	'pg_catalog.name' => q('id'),
	'pg_catalog._int8' => q('{3,5}'),
	'pg_catalog.timestamptz' => q('2025-06-01 00:00:00+00'),
	'pg_catalog."timestamp"' => q('2025-06-01 00:00:00'),
	'pg_catalog.date' => q('2025-06-01'),
	'pg_catalog."interval"' => q('1 day'),
	'pg_catalog.jsonb' => q('{}'),
	'pg_catalog.internal' => 'NULL', # the functions are STRICT: nothing else can be passed by hand
	(map { ("snowid.$_" => row_of($_)) } 'layouts', 'custom_layouts'));

# A row of layouts, with other columns than these of a sound one.
sub row_of
{
	my ($type, $columns) = @_;
	my $row = q[{"name": "x", "epoch": "2025-01-01 00:00:00+00", "time_unit": "1 ms", "time_bits": 41, ]
	  . q["field_names": ["node", "count"], "field_bits": [10, 12]}];
	my $sound = "pg_catalog.jsonb_populate_record(NULL::snowid.$type, '$row'::pg_catalog.jsonb)";
	return defined $columns ? "pg_catalog.jsonb_populate_record($sound, '$columns'::pg_catalog.jsonb)" : $sound;
}

# An expression of an argument's type; where it is a row it is one already.
sub typed
{
	my ($type, $value) = @_;
	return $type eq 'pg_catalog.internal' || $type =~ /^snowid\./ && $value ne 'NULL' ? $value : "($value)::$type";
}

# A relation of the kind that a function is about.
sub relation
{
	my ($function) = @_;
	return $function->{name} =~ /partition/ ? q('SCHEMA.parted') : $function->{name} =~ /ticket|sequence_value/ ? q('SCHEMA.tickets') : q('SCHEMA.rows');
}

# The values of a function's arguments that it is meant for.
sub sane_arguments
{
	my ($schema, $function) = @_;
	return map {
		my ($name, $type) = @$_;
		my $value = $by_function{"$function->{name} $name"} // $by_name{"$name $type"} // $by_type{$type}
		  // ("$name $type" eq 'relation pg_catalog.regclass' ? relation($function) : undef)
		  // die "no value for parameter $name of type $type: add one to SnowidCalls.pm";
		my $made_by = $function->{name} =~ s/.*\.//r;
		typed($type, $value =~ s/SCHEMA/$schema/gr =~ s/FUNCTION/$made_by/gr);
	} @{ $function->{arguments} };
}

sub call
{
	my ($function, @arguments) = @_;
	return ($function->{kind} eq 'p' ? 'CALL ' : 'SELECT * FROM ') . "$function->{name}(" . join(', ', @arguments) . ')';
}

# The same where the arguments depend on a row of a table with a column n that is 1: the planner doesn't know them.
sub call_in_row
{
	my ($table, $function, @arguments) = @_;
	return "SELECT $function->{name}(" . join(', ', map { /::/ ? "CASE n WHEN 1 THEN $_ END" : $_ } @arguments) . ") FROM $table";
}

# Values at and beyond the edges of what a function is meant for.
my $long = q(pg_catalog.repeat('x', 1000000));
my @instants = (q('-infinity'), q('infinity'), q('1970-01-01'), q('4714-11-24 BC'));
my %edges = (
	'pg_catalog.int4' => [ -2147483648, -1, 0, 1, 8192, 2147483647 ],
	'pg_catalog.int8' => [ q('-9223372036854775808'), -1, 0, 1, 8192, q('1099511627776'), q('9223372036854775807') ],
	'pg_catalog._int8' => [ q('{}'), q('{NULL,1}'), q('{{1,2},{3,4}}'), q('[5:6]={1,2}'), q('{-9223372036854775808,9223372036854775807}') ],
	'pg_catalog."numeric"' => [ -1, 0, q('1e400'), q('-Infinity'), q('Infinity'), q('NaN') ],
	'pg_catalog.bool' => ['true'],
	'pg_catalog.text' => [ q(''), $long, q('"'), q('a.b.c.d'), q('pg_catalog'), "pg_catalog.chr(233)", q('%s $1 {}') ],
	'pg_catalog.name' => [ q(''), q('created_at'), q(repeat('x', 63)), q('ctid') ],
	'pg_catalog.regclass' => [ 0, q('4294967294'), q('pg_catalog.pg_class'), q('pg_catalog.pg_stats'), q('pg_catalog.pg_class_oid_index'), q('snowid.high_water'), q('SCHEMA.rows') ],
	'pg_catalog.oid' => [ 0, q('4294967294') ],
	'pg_catalog.timestamptz' => [ @instants, q('294276-12-31 23:59:59.999999+00'), q('2025-01-01 00:00:00.0005+00') ],
	'pg_catalog."timestamp"' => [ @instants, q('294276-12-31 23:59:59.999999') ],
	'pg_catalog.date' => [ @instants, q('5874897-12-31') ],
	'pg_catalog."interval"' => [ q('0'), q('-1 day'), q('1 microsecond'), q('1 month 1 day'), q('178000000 years'), q('-178000000 years') ],
	'pg_catalog.jsonb' => [ q('null'), q('[]'), q('5'), q('{"node": 1e400}'), q('{"node": null}'), "pg_catalog.concat(repeat('[', 5000), repeat(']', 5000))" ],
	(map { ("snowid.$_" => [ map { row_of($_->[0], $_->[1]) } row_edges($_) ]) } 'layouts', 'custom_layouts'));

# Arrays of no, two and too many dimensions, with NULLs and lower bounds of their own; numbers and times out of range.
sub row_edges
{
	my ($type) = @_;
	return map { [ $type, $_ ] } '{}', '{"time_bits": 2147483647}', '{"time_bits": -1}', '{"epoch": "infinity"}', '{"epoch": "4714-11-24 BC"}',
	  '{"time_unit": "178000000 years"}', '{"time_unit": "-1 ms"}', '{"time_unit": "0"}', '{"name": null}', '{"name": ""}',
	  '{"name": null, "epoch": null, "time_unit": null, "time_bits": null, "field_names": null, "field_bits": null}',
	  map { my $array = $_; map { qq({"$_": "$array"}) } 'field_names', 'field_bits' } '{}', '{{1,2},{3,4}}', '{{{1}}}', '{NULL,NULL}', '[5:6]={1,2}', '{2147483647,-2147483648}';
}

# Lists of arguments in which one after the other is NULL and each of its edges, then all at once.
sub edge_arguments
{
	my ($schema, $function) = @_;
	my @sane = sane_arguments($schema, $function);
	my @values = map {
		my $type = $_->[1];
		[ map { typed($type, s/SCHEMA/$schema/gr) } 'NULL', @{ $edges{$type} // [] } ]
	} @{ $function->{arguments} };
	my @lists = ([@sane]);
	for my $n (0 .. $#sane)
	{
		push @lists, map { my @list = @sane; $list[$n] = $_; \@list } @{ $values[$n] };
	}
	my $most = max(0, map { scalar @$_ } @values);
	for my $edge (0 .. $most - 1)
	{
		push @lists, [ map { $_->[ $edge % @$_ ] } @values ] if @sane > 1;
	}
	return @lists;
}

# Statements that call each function, read each view, write the table of layouts, and use defaults, conditions and
# bound functions. The operators in them are written with their schema too.
sub every_use
{
	my ($node, $database, $schema) = @_;
	my @functions = extension_functions($node, $database);
	my ($public) = map { $_->{name} =~ /^(.*)\.id_timestamp$/ && $1 ne 'snowid_internal' ? $1 : () } @functions;
	my %kind = map { split /\|/ } split /\n/, $node->safe_psql($database, <<'SQL');
SET search_path = pg_catalog;
SELECT c.oid::regclass, c.relkind
  FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
 WHERE e.extname = 'pg_snowid'
SQL
	my ($layouts) = grep { $kind{$_} eq 'r' && /layouts$/ } sort keys %kind;
	return (
		(map { call($_, sane_arguments($schema, $_)) } @functions),
		(map { "SELECT * FROM $_" } sort keys %kind),
		"INSERT INTO $layouts (name, epoch, time_bits, field_names, field_bits) VALUES ('$schema', '2025-01-01 00:00:00+00', 41, '{node,count}', '{10,12}')",
		"UPDATE $layouts SET note = 'x'",
		"DELETE FROM $layouts",
		"SELECT snowid.migrate_column('$schema.rows'::pg_catalog.regclass, 'id'::pg_catalog.name, 5::pg_catalog.int8, NULL::pg_catalog.timestamptz)",
		"INSERT INTO $schema.rows DEFAULT VALUES",
		"SELECT id FROM $schema.rows WHERE $public.id_timestamp(id) OPERATOR(pg_catalog.>) '2025-01-01 00:00:00+00'::pg_catalog.timestamptz",
		"SELECT snowid.revert_column('$schema.rows'::pg_catalog.regclass, 'id'::pg_catalog.name)",
		"SELECT snowid.bind_schema('${schema}_bound'::pg_catalog.text, 5::pg_catalog.int8, '2025-01-01 00:00:00+00'::pg_catalog.timestamptz, true)",
		"SELECT ${schema}_bound.id_timestamp(${schema}_bound.next_id())");
}

# outcomes(NODE, DATABASE, PRELUDE, [SQL]…): the SQLSTATE that each statement ended with, and all that was written of
# errors, each after a line with its statement. Fewer than statements if the session was lost. Where the prelude ends
# with BEGIN, each statement has a transaction of its own like that one, which is rolled back (twice: who cancels
# statements may hit a ROLLBACK).
sub outcomes
{
	my ($node, $database, $prelude, @statements) = @_;
	my ($out, $errors) = ('', '');
	my $begin = $prelude =~ s/;\s*(BEGIN[^;]*)\z// ? $1 : undef;
	my $script = "\\set VERBOSITY verbose\n$prelude;\n\\o /dev/null\n" . join '', map {
		"\\warn call: $_\n" . (defined $begin ? "$begin;\n" : '') . "$_;\n\\echo :SQLSTATE\n" . (defined $begin ? "ROLLBACK;\nROLLBACK;\n" : '')
	} @statements;
	$node->psql($database, $script, stdout => \$out, stderr => \$errors, on_error_stop => 0);
	return ([ $out =~ /^([0-9A-Z]{5})$/mg ], $errors);
}

1;
