# Proves that a lease file which was edited or torn is not drawn from: it is as if there were none, and the
# log says so. With what it had been, unedited, the server serves without etcd.
#
# It would fail if the file had no checksum, or if that weren't looked at.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid qw(log_count);
use SnowidCrash qw(start_again);
use SnowidEtcd;
use SnowidFleet;

my $etcd = SnowidEtcd->new;
my $node = $etcd->server('a', settings => { etcd_lease => '10min' });
my $pair = in_force($node, 'etcd');
draw($node, 1000);
$etcd->kill9;
$node->stop('immediate');
my $file = $node->data_dir . '/pg_snowid.lease';
my $content = slurp_file($file);
# The server replaces the file; this one keeps its place.
link $file, "$file.kept" or die "$file: $!";
my $DAMAGED = qr/WARNING: +file "pg_snowid\.lease" is damaged/;

# Starts the server with this content of the file, where that was.
sub start_with
{
	my ($text) = @_;
	open my $out, '>', "$file.kept" or die "$file: $!";
	print $out $text;
	close $out or die "$file: $!";
	unlink $file;
	link "$file.kept", $file or die "$file: $!";
	start_again($node);
	return;
}

my ($line, $checksum) = split /\n/, $content;
my %damages = (
	'another worker' => $content =~ s/("worker":)\d+/${1}9/r,
	'a greater bound' => $content =~ s/("bound_ms":)(\d+)/$1 . ($2 + 86_400_000)/er,
	'torn in the middle' => substr($content, 0, length($content) / 2),
	'without its checksum' => "$line\n",
	'zeroed' => "\0" x length $content,
	'empty' => '',
);
for my $damage (sort keys %damages)
{
	my $before = log_count($node, $DAMAGED);
	start_with($damages{$damage});
	claim_refused($node, qr/ERROR: +55000: no worker ID is claimed yet\n/, qr/Could not reach etcd/, $damage);
	cmp_ok(log_count($node, $DAMAGED), '>', $before, "$damage: the log says so");
	$node->stop('immediate');
}

my $before = log_count($node, $DAMAGED);
start_with($content);
is(in_force($node, 'etcd, cached'), $pair, 'as it was written: served');
is(log_count($node, $DAMAGED), $before, 'and the log says nothing of it');
draw($node, 1000);
nothing_twice('all ids');
$node->stop;
done_testing();
