//! Shows the progress of long work: a bar with rate and time left, only on a terminal.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar appears after this time.
const QUIET_TIME: Duration = Duration::from_millis(400);
/// Without a number, the time that has passed appears after this time.
const SILENT_TIME: Duration = Duration::from_secs(2);
/// How often that time is drawn again.
const TICK_TIME: Duration = Duration::from_millis(200);
/// Levels of folders in a repository or a backup.
pub const FOLDERS_DEEP: usize = 3;
/// How often the bar measures a folder that is being written.
const WATCH_INTERVAL: Duration = Duration::from_millis(200);

/// A progress bar on standard error. Clones share it. It does nothing when standard error is no terminal.
#[derive(Clone)]
pub struct Progress {
    shared: Option<Arc<Shared>>,
}

struct Shared {
    bar: ProgressBar,
    unit: &'static str,
    started: Instant,
    is_shown: AtomicBool,
    // True once the bar has a number.
    is_counted: AtomicBool,
    // The text behind the bar; kept so that it is set only when it changes.
    note: Mutex<String>,
}

impl Progress {
    /// A bar called `name` that counts `unit`: `bytes` are shown as KiB, MiB, …
    pub fn new(name: &'static str, unit: &'static str) -> Progress {
        let shared = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            bar.set_prefix(name);
            let (is_shown, is_counted) = (AtomicBool::new(false), AtomicBool::new(false));
            Arc::new(Shared {
                bar,
                unit,
                started: Instant::now(),
                is_shown,
                is_counted,
                note: Mutex::default(),
            })
        });
        Progress { shared }
    }

    /// A bar that shows nothing.
    pub fn none() -> Progress {
        Progress { shared: None }
    }

    /// The same; until it has a number, it shows the time that has passed.
    #[must_use]
    pub fn with_time(self) -> Progress {
        let Some(shared) = &self.shared else { return self };
        let weak = Arc::downgrade(shared);
        std::thread::spawn(move || {
            std::thread::sleep(SILENT_TIME);
            let Some(shared) = weak.upgrade().filter(|shared| !shared.bar.is_finished()) else { return };
            if !shared.is_shown.swap(true, Ordering::Relaxed) {
                let style = ProgressStyle::with_template("{prefix} {spinner} {elapsed}");
                shared.bar.set_style(style.expect("the template is constant"));
                shared.bar.set_draw_target(ProgressDrawTarget::stderr());
                shared.bar.enable_steady_tick(TICK_TIME);
            }
        });
        self
    }

    /// True if a terminal shows it.
    pub fn is_active(&self) -> bool {
        self.shared.is_some()
    }

    /// Sets the amount done, and the total if it is known.
    pub fn set(&self, done: u64, total: Option<u64>) {
        let Some(shared) = &self.shared else { return };
        if shared.started.elapsed() >= QUIET_TIME && !shared.is_counted.swap(true, Ordering::Relaxed) {
            shared.bar.set_style(style(shared.unit, total.is_some()));
            if !shared.is_shown.swap(true, Ordering::Relaxed) {
                shared.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
        if let Some(total) = total {
            shared.bar.set_length(total);
        }
        shared.bar.set_position(done);
    }

    /// Sets the text behind the bar.
    pub fn note(&self, note: impl FnOnce() -> String) {
        let Some(shared) = &self.shared else { return };
        let text = note();
        let mut shown = shared.note.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != text {
            shared.bar.set_message(text.clone());
            *shown = text;
        }
    }

    /// Hides the bar while `print` runs.
    pub fn suspend(&self, print: impl FnOnce()) {
        match &self.shared {
            Some(shared) => shared.bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(shared) = &self.shared {
            shared.bar.finish_and_clear();
        }
    }
}

fn style(unit: &'static str, has_total: bool) -> ProgressStyle {
    let template = match (unit, has_total) {
        ("bytes", true) => {
            "{prefix} {bar:30} {percent:>3}%  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left {msg}"
        }
        ("bytes", false) => "{prefix} {spinner} {bytes}, {bytes_per_sec} {msg}",
        (_, true) => {
            "{prefix} {bar:30} {percent:>3}%  {human_pos} of {human_len}, {per_sec}, {eta} left {msg}"
        }
        (_, false) => "{prefix} {spinner} {human_pos}, {per_sec} {msg}",
    };
    ProgressStyle::with_template(template).expect("the templates are constant")
}

impl Progress {
    /// A bar of the bytes that other code writes below `folder`; a thread measures the folder.
    pub fn watch_folder(name: &'static str, folder: &Path, total: u64) -> Progress {
        let progress = Progress::new(name, "bytes");
        let Some(shared) = &progress.shared else { return progress };
        let (weak, folder) = (Arc::downgrade(shared), folder.to_path_buf());
        std::thread::spawn(move || {
            while let Some(shared) = weak.upgrade().filter(|shared| !shared.bar.is_finished()) {
                Progress { shared: Some(shared) }
                    .set(folder_bytes(&folder, FOLDERS_DEEP).min(total), Some(total));
                std::thread::sleep(WATCH_INTERVAL);
            }
        });
        progress
    }
}

impl annals_exchange::Progress for Progress {
    fn set(&self, done: u64, total: Option<u64>) {
        Progress::set(self, done, total);
    }
}

/// Bytes of the files below a folder; files that cannot be read count as 0.
pub fn folder_bytes(folder: &Path, depth_left: usize) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() && depth_left > 0 => folder_bytes(&entry.path(), depth_left - 1),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
