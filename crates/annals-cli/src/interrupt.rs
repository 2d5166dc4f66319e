//! Ctrl-C in the shell: it ends the command that runs, and not the shell.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use annals::{Error, Result};
use annals_server::Closer;
use futures_util::future::{Either, select};
use tokio::sync::watch;

/// Longest time from the signal to the end of the command's request.
const LOOK_TIME: Duration = Duration::from_millis(20);

/// How often the user has interrupted a command.
static COUNT: LazyLock<watch::Sender<u64>> = LazyLock::new(|| watch::Sender::new(0));
/// Ends the request that this process answers itself.
static CLOSER: Mutex<Option<Closer>> = Mutex::new(None);

/// Takes Ctrl-C from now on: it ends requests, and no longer this process.
///
/// Errors: `Io`.
pub fn listen() -> Result<()> {
    let flag = Arc::new(AtomicBool::new(false));
    let broken = |source| Error::io("listen to Ctrl-C", source);
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&flag)).map_err(broken)?;
    // A handler of signals may only set a flag: closing a request takes locks.
    let watching = std::thread::Builder::new().name("annals-interrupt".into()).spawn(move || {
        loop {
            std::thread::sleep(LOOK_TIME);
            if flag.swap(false, Ordering::AcqRel) {
                COUNT.send_modify(|count| *count += 1);
                if let Some(closer) = CLOSER.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    closer.close();
                }
            }
        }
    });
    watching.map(drop).map_err(broken)
}

/// How often the user has interrupted a command.
pub fn count() -> u64 {
    *COUNT.borrow()
}

/// Lets Ctrl-C end this request, instead of the one before.
pub fn ends(closer: Closer) {
    *CLOSER.lock().unwrap_or_else(PoisonError::into_inner) = Some(closer);
}

/// The result of the work; an error if the user interrupts it.
pub async fn unless<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let mut interrupts = COUNT.subscribe();
    let interrupted = interrupts.changed();
    match select(pin!(work), pin!(interrupted)).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right(_) => Err(std::io::Error::other("it was interrupted")),
    }
}
