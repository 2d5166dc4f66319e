//! The suites of all stores and all registers.

use annals::log::Register;
use annals::log::register_conformance::check_register;
use annals::storage::conformance::check_store;

use crate::support::{new_place, open};

#[test]
fn the_store_conforms() {
    check_store(&*open(&new_place()));
}

#[test]
fn the_register_conforms() {
    let place = new_place();
    let (first, second) = (open(&place), open(&place));
    let handles: [&dyn Register; 2] = [&*first, &*second];
    check_register(&handles);
}
