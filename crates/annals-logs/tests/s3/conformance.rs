//! The suites of all logs, all stores and all registers.

use annals::log::conformance::TestedLog;
use annals::log::register_conformance::check_register;
use annals::log::{Log, Register, log_conformance};
use annals::storage::conformance::check_store;

use crate::support::{new_place, open, open_log};

log_conformance!(s3_log, || {
    let place = new_place();
    let (second, again) = (place.clone(), place.clone());
    TestedLog::new(open_log(&place)).remote().with_handle(move || open_log(&second)).with_reopen(move |log| {
        drop(log);
        open_log(&again)
    })
});

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

#[test]
fn the_register_of_a_log_conforms() {
    let place = new_place();
    let (first, second) = (open_log(&place), open_log(&place));
    check_register(&[first.register().expect("it has one"), second.register().expect("it has one")]);
}
