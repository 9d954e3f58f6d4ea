"""Perl as people write it."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
package Shop::Users;

use strict;
use warnings;
use parent 'Shop::Store';
use Shop::Parser;
use constant PAGE_SIZE => 20;
use constant { RED => 1, GREEN => 2 };

our $VERSION = '1.02';
my %cache;

=encoding utf8

=head1 NAME

Shop::Users - keeps users, and shows them

=head1 SYNOPSIS

    my $users = Shop::Users->new;

=cut

has 'limit' => (is => 'ro', isa => 'Int');
has name => sub { 'nobody' };

=head2 find

Finds a user by name.

=cut

sub find {
    my ($self, $name) = @_;
    my $row = $self->_row($name) or return;
    unless ($row && $name) {
        die "no user $name";
    }
    return Shop::Parser->new->parse($row);
}

# The row of a user,
# from the cache.
sub _row {
    my ($self, $name) = @_;
    return $cache{$name} //= Shop::Database::select($name);
}

sub size($) { scalar keys %cache }

sub rename ($self, $old, $new = 'nobody') {
    $cache{$new} = delete $cache{$old};
    my $shout = sub { print uc shift };
    $shout->($_) for sort keys %cache;
}

sub later;

*seek = sub { find(@_) };

sub Shop::Database::select {
    my $name = shift;
    return sprintf "%s %s", $name, RED;
}

package Shop::Parser;

=head1 NAME

Shop::Parser - reads one user

=method parse

Reads a row.

=cut

sub new { bless {}, shift }

=item parse

Reads a row.

=cut

sub parse {
    my ($self, $row) = @_;
    return split /,/, $row;
}

package Shop::Color 1.5 {
    sub lookup { return $_[0] }
}

use feature 'class';

class Shop::Point :isa(Shop::Shape) {
    field $x :param = 0;
    field @history;

    # Where it is.
    method coords {
        return ($x, scalar @history);
    }
}

package main;

subtest 'a user is found' => sub {
    is(Shop::Users->new->find('Ada'), 'Ada');
    is(Shop::Users::size(), 1);
};

1;
__END__

=head1 LICENSE

As Perl.
"""

CASE = OutlineCase(
    language="perl",
    path="lib/Shop/Users.pm",
    source=SOURCE,
    found={
        "Shop::Users": ("class", 1, 65),
        "Shop::Users::find": ("function", 34, 41),
        "Shop::Users::_row": ("function", 45, 48),
        "Shop::Users::size": ("function", 50, 50),
        "Shop::Users::rename": ("function", 52, 56),
        "Shop::Users::seek": ("function", 60, 60),
        "Shop::Database::select": ("function", 62, 65),
        "Shop::Parser": ("class", 67, 90),
        "Shop::Parser::new": ("function", 79, 79),
        "Shop::Parser::parse": ("function", 87, 90),
        "Shop::Color": ("class", 92, 94),
        "Shop::Color::lookup": ("function", 93, 93),
        "Shop::Point": ("class", 98, 106),
        "Shop::Point::coords": ("function", 103, 105),
        "main": ("class", 108, 120),
        "main::subtest.a user is found": ("function", 110, 113),
    },
    documented={
        "Shop::Users": "Shop::Users - keeps users, and shows them\n\n\nSYNOPSIS\n\n    my $users = Shop::Users->new;",
        "Shop::Users::find": "find\n\nFinds a user by name.",
        "Shop::Users::_row": "The row of a user,\nfrom the cache.",
        "Shop::Parser::parse": "parse\n\nReads a row.",
        "Shop::Point::coords": "Where it is.",
    },
    fields={
        "Shop::Users": ("PAGE_SIZE", "RED", "GREEN", "$VERSION", "limit", "name"),
        "Shop::Point": ("$x", "@history"),
    },
    calls={
        "Shop::Users::find": ("self._row", "die", "Shop.Parser.new"),
        "Shop::Users::_row": ("Shop.Database.select",),
        "Shop::Users::seek": ("find",),
    },
    private=frozenset({"Shop::Users::_row"}),
    constants=(),
    edit=("scalar keys %cache", "keys %cache"),
    edited=frozenset({"Shop::Users", "Shop::Users::size"}),
    rename=("_row", "_line"),
    renamed={"Shop::Users::_row": "Shop::Users::_line"},
    uses=frozenset(
        {
            ("Shop::Users", "Shop::Parser"),
            ("Shop::Users::_row", "Shop::Database::select"),
            ("Shop::Users::find", "Shop::Parser::new"),
            ("Shop::Users::find", "Shop::Users::_row"),
            ("Shop::Users::seek", "Shop::Users::find"),
            ("main::subtest.a user is found", "Shop::Users::size"),
        }
    ),
)
