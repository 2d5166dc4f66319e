//! A child process that ends with its parent.

use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::job::{Job, read_samples};
use super::sample::Sample;
use crate::outcome::Outcome;

/// How often a child is checked.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// A process that is killed when this is dropped, also after an error.
pub struct Child {
    process: std::process::Child,
    what: String,
}

impl Child {
    /// Starts it.
    ///
    /// Errors: name the program, so that the user can install it.
    pub fn start(what: &str, command: &mut Command) -> Outcome<Child> {
        let process = command.spawn().map_err(|error| format!("start {what}: {error}"))?;
        Ok(Child { process, what: what.into() })
    }

    /// The process, for its pipes.
    pub fn process(&mut self) -> &mut std::process::Child {
        &mut self.process
    }

    /// Waits until it ends.
    ///
    /// Errors: if it takes longer than `time_max`, and then it is killed.
    pub fn wait(&mut self, time_max: Duration) -> Outcome<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait()? {
                return Ok(status);
            }
            if start.elapsed() > time_max {
                return Err(format!("{}: did not end within {} s", self.what, time_max.as_secs()).into());
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Errors: if it has ended.
    pub fn check_running(&mut self) -> Outcome<()> {
        match self.process.try_wait()? {
            None => Ok(()),
            Some(status) => Err(format!("{} ended: {status}", self.what).into()),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Job {
    /// Longest time of one round: a run that hangs must end, too.
    fn time_max(&self) -> Duration {
        let seconds = if self.size.quick { 300 } else { 1_800 };
        Duration::from_secs(seconds * self.size.scale)
    }

    /// Runs the round in a fresh process.
    ///
    /// Errors: if the process fails, is killed, or takes too long.
    pub fn run_fresh(&self) -> Outcome<Vec<Sample>> {
        std::fs::create_dir_all(&self.folder)?;
        let output = self.folder.join(format!("{}-samples", self.experiment));
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["round", &self.experiment, "--folder"]).arg(&self.folder);
        command.args(["--round", &self.round.to_string(), "--scale", &self.size.scale.to_string()]);
        command.args(["--number", &self.number.to_string(), "--lines", &self.lines.join(",")]);
        command.args(self.size.quick.then_some("--quick"));
        command.stdin(Stdio::null()).stdout(File::create(&output)?);
        let what = format!("round {} of {}", self.round, self.experiment);
        let status = Child::start(&what, &mut command)?.wait(self.time_max())?;
        if !status.success() {
            return Err(format!("{what}: {status}").into());
        }
        read_samples(&read_text(&output)?)
    }
}

fn read_text(path: &Path) -> Outcome<String> {
    Ok(std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?)
}
