mod store;
mod util;

use crate::store::{Sink, Store as Keep};
use std::fmt;
use util::*;

/// Runs.
fn main() {
    let keep = Keep::open(3);
    keep.save(&store::Item { name: 1 });
    tidy();
    let f = |x: i32| helper(x);
    f(1);
    util::inner::deep();
}

fn helper(x: i32) -> i32 { x }

struct Out;

impl Sink for Out {
    fn write(&self, text: &str) { self.flush(); }
}

impl Out {
    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() { helper(1); }
}
