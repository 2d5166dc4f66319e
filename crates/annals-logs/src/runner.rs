//! The thread of a log: it runs the runtime of the driver, and callers wait for it with a deadline.

use std::future::Future;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;

use annals::{Error, Result};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// How much longer than a task a caller waits, which ends by its own deadline. It hides a thread that is not scheduled.
const GRACE: Duration = Duration::from_secs(1);

/// A thread with a runtime.
pub(crate) struct Runner {
    handle: Handle,
    // Dropped to end the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Runner {
    /// Starts the thread `name`.
    ///
    /// Errors: `Io` if the system gives no thread.
    pub fn start(name: &str) -> Result<Runner> {
        let failed = |error| Error::io(format!("start the thread {name}"), error);
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            let _ = runtime.block_on(stopped);
            // Names of hosts are looked up by threads that may hang.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run).map_err(failed)?;
        Ok(Runner { handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Runs `task` on the thread, and waits for it on this one, which may belong to another runtime. `None` if the task does
    /// not end within `limit`, or panics; it may go on.
    pub fn wait<T: Send + 'static>(
        &self,
        limit: Duration,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (tell, told) = sync_channel(1);
        self.handle.spawn(async move {
            // The caller may be gone.
            let _ = tell.send(task.await);
        });
        told.recv_timeout(limit.saturating_add(GRACE)).ok()
    }

    /// Runs `task` on the thread.
    pub fn go(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        drop(self.stop.take());
        let own = std::thread::current().id();
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != own) {
            // A panic of the thread was told by the calls that it did not answer.
            let _ = thread.join();
        }
    }
}
