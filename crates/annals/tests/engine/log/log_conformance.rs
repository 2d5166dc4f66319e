//! Runs the conformance suite on every log of this crate.

use std::sync::Arc;

use crate::support::object_log::ObjectLog;
use annals::log::conformance::TestedLog;
use annals::log::register_conformance::check_register;
use annals::log::{FaultLog, FaultPlan, FileLog, FileOptions, Log, MemoryLog, log_conformance};

log_conformance!(memory, || {
    let log = MemoryLog::new();
    let handle = log.clone();
    TestedLog::new(log).with_handle(move || Arc::new(handle.clone())).remote()
});

log_conformance!(objects, || {
    let log = ObjectLog::new();
    let handle = log.clone();
    TestedLog::new(log).with_handle(move || Arc::new(handle.clone())).remote()
});

log_conformance!(memory_with_faults_off, || TestedLog::new(FaultLog::new(
    MemoryLog::new(),
    FaultPlan::default()
)));

log_conformance!(memory_with_short_reads, || {
    let plan = FaultPlan { read_short: 500, ..FaultPlan::default() };
    TestedLog::new(Arc::new(FaultLog::new(MemoryLog::new(), plan)))
});

#[test]
fn a_register_in_memory_conforms() {
    let log = MemoryLog::with_register();
    let other = log.clone();
    check_register(&[log.register().unwrap(), other.register().unwrap()]);
    assert!(MemoryLog::new().register().is_none());
}

fn file_subject(options: FileOptions) -> TestedLog {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("log");
    let log = FileLog::open_with(&path, options).expect("open");
    let reopen = move |log: Arc<dyn Log>| -> Arc<dyn Log> {
        drop(log);
        Arc::new(FileLog::open_with(&path, options).expect("reopen"))
    };
    TestedLog::new(log).with_reopen(reopen).keeping(folder)
}

log_conformance!(file, || file_subject(FileOptions::default()));

// Many segments, one open file, everything verified on opening.
log_conformance!(file_with_small_segments, || {
    file_subject(FileOptions { segment_bytes: 4096, open_files_max: 1, verify_sealed: true })
});
