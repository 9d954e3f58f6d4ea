"""Zig as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
//! A store of named points.

const std = @import("std");
const Allocator = std.mem.Allocator;
const shapes = @import("shapes.zig");
const Circle = @import("shapes.zig").Circle;
usingnamespace @import("common.zig");

/// How many points fit.
pub const limit: usize = 1 << 4;
var count: u32 = 0;

/// What can go wrong.
pub const StoreError = error{ Full, NotFound };

pub const Kind = enum(u8) {
    round,
    square = 2,

    pub fn isRound(self: Kind) bool {
        return self == .round;
    }
};

const Value = union(enum) {
    number: i32,
    none: void,
};

/// A point in the plane.
pub const Point = struct {
    x: f32,
    y: f32 = 0, // up

    const Self = @This();

    /// Makes a point
    /// on the axis.
    pub fn init(x: f32) Self {
        return .{ .x = x };
    }

    pub fn length(self: *const Point, scale: ?f32) !f32 {
        if (self.x > 1) {
            return StoreError.Full;
        } else if (scale) |factor| {
            return self.x * factor;
        }
        var i: usize = 0;
        while (i < 3) : (i += 1) {
            if (i == 2) break;
        }
        for (items, 0..) |item, index| {
            std.debug.print("{} {s}\\n", .{ index, item });
        }
        return switch (self.kind) {
            .round, .square => 3,
            else => @sqrt(self.x * self.x - -self.y),
        };
    }
};

/// A list of anything.
pub fn List(comptime T: type) type {
    return struct {
        items: []T,
        allocator: Allocator,

        fn get(self: @This(), index: usize) ?T {
            defer count += 1;
            errdefer std.log.err("no", .{});
            const item = self.find(index) catch |err| switch (err) {
                error.NotFound => return null,
                else => unreachable,
            };
            return item orelse self.items[index];
        }
    };
}

extern "c" fn puts(s: [*:0]const u8) c_int;

export fn add(a: i32, b: i32) callconv(.C) i32 {
    return a + b;
}

fn @"odd name"() void {}

test "points are made" {
    var point = Point.init(3);
    try std.testing.expectEqual(@as(f32, 3), try point.length(null));
}

comptime {
    _ = Point;
}
"""

CONDITIONS = """\
fn decide(mode: Mode, size: i32, found: ?i32) !void {
    if (size < 0) {
        tooSmall();
    } else if (size > 9) {
        tooLarge();
    } else {
        fits();
    }
    always();
    const chosen = if (size == 1) one() else several();
    const given = found orelse standard();
    const read = attempt() catch recover();
    switch (mode) {
        .read, .write => use(mode),
        else => refuse(mode),
    }
}
"""

OPENING = """\
fn apart() void {
    // Walk all of it once,
    // in order.

    begin();
    end();
}

fn whole() void {
    // Walk all of it once, in order.
    begin();
}

fn first() void {
    // Walk all of it once, in order.
    begin();
    end();
}

fn task() void {
    // TODO: walk all of it once, in order.

    begin();
    end();
}

fn code() void {
    // walk(all, once);

    begin();
    end();
}
"""

CASE = LanguageCase(
    language="zig",
    path="src/store.zig",
    source=SOURCE,
    reformatted=SOURCE.replace("    ", "  ")
    .replace("error{ Full, NotFound }", "error{\n  Full,\n  NotFound\n}")
    .replace("if (i == 2) break;", "if (i == 2)\n        break;")
    .replace("fn add(a: i32, b: i32)", "fn add(\n  a: i32,\n  b: i32\n)")
    .replace("\n\nfn @", "\n\n\n\nfn @"),
    commented=SOURCE.replace(" // up", " // or down")
    .replace("        var i: usize", "        // three times\n        var i: usize")
    .replace("_ = Point;", "_ = Point; // used"),
    edit=("return a + b;", "return b + a;"),
    edited=frozenset({"add"}),
    rename=("fn isRound", "fn isCircle"),
    renamed={"Kind::isRound": "Kind::isCircle"},
    conditions=CONDITIONS,
    when={
        "tooSmall": "size < 0",
        "tooLarge": "size > 9",
        "fits": "neither size < 0 nor size > 9",
        "always": "",
        "one": "size == 1",
        "several": "size != 1",
        "standard": "found has no value",
        "attempt": "",
        "recover": "attempt() fails",
        "use": "mode is .read or .write",
        "refuse": "mode is anything else",
    },
    opening=OPENING,
)
