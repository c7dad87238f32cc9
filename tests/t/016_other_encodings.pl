# Proves that databases in other encodings than UTF-8 have the extension too: it can be created, and text that
# is none of UTF-8's raises errors with a SQLSTATE of their own, in names of layouts, in the fields given to
# make_as(), and in what the id_from_...() functions are given. The same in PostgreSQL's SQL_ASCII, which checks nothing.
#
# It would fail if the extension's SQL had a character beyond ASCII, which CREATE EXTENSION reads in the database's
# encoding, or if a text were taken for UTF-8 without a look at it.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $node = server('main');

# A letter in the encoding, as a literal.
my %letters = (EUC_JP => "convert_from('\\xa4a2', 'EUC_JP')", LATIN1 => "convert_from('\\xe9', 'LATIN1')", SQL_ASCII => "E'\\xe9'");

for my $encoding (sort keys %letters)
{
	my $letter = $letters{$encoding};
	my $database = lc $encoding;
	$node->safe_psql('postgres', "CREATE DATABASE $database ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	is(error_of($node, $database, 'CREATE EXTENSION pg_snowid'), '', "$encoding: the extension is created");
	is($node->safe_psql($database, "SELECT (decode_as('discord', 175928847299117063)).fields, id_from_shortcode('BcPiCpyHKzQ')"),
		'{"increment": 7, "worker_id": 1, "process_id": 0}|1661696503407488208', "$encoding: and works");

	my $insert = 'INSERT INTO snowid.custom_layouts (name, epoch, time_bits, field_names, field_bits) VALUES';
	my $refused = qr/0A000: +names beyond ASCII need a database in UTF-8/;
	like(error_of($node, $database, "$insert ($letter, '2020-01-01+00', 41, '{n}', '{22}')"), $refused, "$encoding: a layout's name");
	like(error_of($node, $database, "$insert ('a', '2020-01-01+00', 41, ARRAY[$letter], '{22}')"), $refused, "$encoding: a field's name");
	like(error_of($node, $database, "SELECT make_as('twitter', now(), jsonb_build_object($letter, 1))"), $refused, "$encoding: a field that is given");
	for my $form ('text', 'shortcode', 'base32')
	{
		like(error_of($node, $database, "SELECT id_from_$form(repeat($letter, 13))"), qr/22P02: +invalid [\w ]+: "\?+"\n/,
			"$encoding: what is no $form, with what the encoding has in the message");
	}
}

done_testing();
