//! The suites of all logs and all registers.

use annals::log::conformance::TestedLog;
use annals::log::log_conformance;
use annals::log::register_conformance::check_register;

use crate::support::{new_place, open};

log_conformance!(postgres, || {
    let place = new_place();
    let (second, again) = (place.clone(), place.clone());
    TestedLog::new(open(&place)).remote().with_handle(move || open(&second)).with_reopen(move |log| {
        drop(log);
        open(&again)
    })
});

#[test]
fn the_register_conforms() {
    let place = new_place();
    let (first, second) = (open(&place), open(&place));
    check_register(&[first.register().expect("it has one"), second.register().expect("it has one")]);
}
