"""Rust as people write it."""

from codesum_pipeline_tests.languages.declarations.cases import LanguageCase

SOURCE = """\
//! Shapes, and what can be asked about them.
//!
//! Nothing here allocates.

#![allow(dead_code)]

use std::collections::HashMap;
use std::fmt::{self, Display as Show, Write as _};

use crate::errors::*;
pub use self::inner::Scale;

mod helpers;

/// How many shapes fit.
pub const LIMIT: usize = 1 << 4;
static mut COUNT: u32 = 0;

/// Something with an area.
pub trait Area: Send + Show {
    const SIDES: u8;
    type Unit;

    /// The area in square units.
    fn area(&self) -> f64;

    fn is_larger(&self, other: &dyn Area<Unit = Self::Unit>) -> bool {
        self.area() > other.area()
    }
}

/// A circle.
///
/// Round.
#[derive(Debug, Clone, PartialEq)]
pub struct Circle<'a, T: Copy = f64>
where
    T: Into<f64>,
{
    pub radius: T,
    name: &'a str, // for people
}

struct Unit;
struct Pair(pub i32, u8);

#[repr(u8)]
pub enum Shape {
    Circle(Circle<'static>),
    Square { side: f64 },
    Nothing = 3,
}

impl<'a, T: Copy + Into<f64>> Circle<'a, T> {
    /// Makes a circle.
    #[inline]
    #[must_use]
    pub fn new(radius: T, name: &'a str) -> Self {
        Circle { radius, name }
    }

    pub(crate) async fn fetch(mut self, sizes: [u8; 3], f: impl Fn(f64) -> f64) -> Result<f64, Box<dyn std::error::Error>> {
        let cache = HashMap::<String, f64>::new();
        let found = self.look(&cache, sizes.len())?;
        if let Some(value) = found.get("a").filter(|x| **x > 0.0) {
            return Ok(f(*value));
        } else if sizes[0] == b'a' {
            panic!("no {}", self.name);
        }
        for (i, size) in sizes.iter().enumerate().skip(1) {
            match size {
                0 | 1 => continue,
                n if *n > 3 => {
                    self.total += -(i as f64) * 2.0;
                }
                2..=9 => unsafe { COUNT += 1 },
                _ => unreachable!(),
            }
        }
        let twice = |value: f64| -> f64 {
            value * 2.0
        };
        Ok(twice(r#"raw "text""#.len() as f64))
    }
}

impl<'a, T: Copy + Into<f64>> Area for Circle<'a, T> {
    const SIDES: u8 = 0;
    type Unit = ();

    fn area(&self) -> f64 {
        let radius: f64 = self.radius.into();
        radius * radius * std::f64::consts::PI
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unit")
    }
}

/// Squares a number.
#[macro_export]
macro_rules! square {
    ($x:expr) => {
        $x * $x
    };
    ($x:expr, $($rest:expr),+) => {
        square!($x) + square!($($rest),+)
    };
}

pub mod inner {
    pub struct Scale(pub f64);

    impl Scale {
        pub const fn half() -> Self {
            Scale(0.5)
        }
    }
}

extern "C" {
    fn puts(s: *const u8) -> i32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_larger() {
        assert_eq!(square!(2, 3), 13);
    }
}
"""

CONDITIONS = """\
fn decide(mode: Mode, size: i32, found: Option<i32>) -> Result<(), Error> {
    if size < 0 {
        too_small();
    } else if let Some(one) = found {
        one_found(one);
    } else {
        fits();
    }
    let Some(value) = found else {
        return missing();
    };
    always();
    match mode {
        Mode::Read | Mode::Write => use_it(),
        Mode::Seek(place) if place > 3 => seek(place),
        other => refuse(other),
    }
    done()
}
"""

OPENING = """\
fn apart() {
    // Walk all of it once,
    // in order.

    begin();
    end();
}

fn whole() {
    // Walk all of it once, in order.
    begin();
}

fn first() {
    // Walk all of it once, in order.
    begin();
    end();
}

fn task() {
    // TODO: walk all of it once, in order.

    begin();
    end();
}

fn code() {
    // walk(all, once);

    begin();
    end();
}
"""

CASE = LanguageCase(
    language="rust",
    path="src/lib.rs",
    source=SOURCE,
    reformatted=SOURCE.replace("    ", "  ")
    .replace("<T = f64>\nwhere\n  T: Into<f64>,\n{", "<T = f64> where T: Into<f64>, {")
    .replace("    Circle { radius, name }", "    Circle {\n      radius,\n      name\n    }")
    .replace("|value: f64| -> f64 {\n      value * 2.0\n    }", "|value: f64| -> f64 { value * 2.0 }")
    .replace("f: impl Fn(f64) -> f64)", "\n    f: impl Fn(f64) -> f64\n  )")
    .replace("struct Unit;\nstruct Pair", "struct Unit;\n\n\nstruct Pair"),
    commented=SOURCE.replace(" // for people", " /* shown */")
    .replace("        Circle { radius", "        // as given\n        Circle { radius")
    .replace("0 | 1 => continue,", "0 | 1 => continue, // too small"),
    edit=("radius * radius * std", "radius * radius * 2.0 * std"),
    edited=frozenset({"Circle::area"}),
    rename=("fn half", "fn middle"),
    renamed={"inner::Scale::half": "inner::Scale::middle"},
    conditions=CONDITIONS,
    when={
        "too_small": "size < 0",
        "one_found": "found is Some(one)",
        "fits": "neither size < 0 nor found is Some(one)",
        "missing": "found is not Some(value)",
        "always": "",
        "use_it": "mode is Mode::Read or Mode::Write",
        "seek": "mode is Mode::Seek(place), and place > 3",
        "refuse": "mode is anything else",
        "done": "",
    },
    opening=OPENING,
)
