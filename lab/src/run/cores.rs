//! Chooses the core of a thread: otherwise chance decides whether the kernel disturbs it with other work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::outcome::Outcome;

/// How long each core is watched at a time, and how often: the machine may pause any of them for a while.
const WATCH: Duration = Duration::from_millis(10);
const LOOKS: usize = 3;
/// A thread that only reads the clock and sees this gap has been interrupted.
const GAP: Duration = Duration::from_micros(3);
/// The greatest number of watched cores.
const WATCHED_MAX: usize = 8;

/// The cores that this process may use: one for the measured thread, the others for another thread.
pub struct Cores {
    measured: CpuSet,
    rest: CpuSet,
}

impl Cores {
    /// Chooses the core that loses the least time while the other cores repeat `work`. If there is only one core, both
    /// share it.
    ///
    /// Errors: those of `work`, and those of the system, which may forbid choosing cores.
    pub fn apart_from(mut work: impl FnMut() -> Outcome<()> + Send) -> Outcome<Cores> {
        let all = sched_getaffinity(None).map_err(|error| format!("ask for the cores to run on: {error}"))?;
        let numbers = (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number));
        let mut watched: Vec<(Duration, Cores)> = numbers
            .take(WATCHED_MAX)
            .map(|number| {
                let mut cores = Cores { measured: CpuSet::new(), rest: all };
                cores.measured.set(number);
                cores.rest.unset(number);
                (Duration::MAX, cores)
            })
            .collect();
        if watched.len() < 2 {
            return Ok(Cores { measured: all, rest: all });
        }
        for _ in 0..LOOKS {
            for (least, cores) in &mut watched {
                *least = cores.beside(|_| work(), || Ok(lost_time()))?.min(*least);
            }
        }
        let best = watched.into_iter().min_by_key(|(least, _)| *least);
        Ok(best.ok_or("there is no core")?.1)
    }

    /// Runs `measured` on its core.
    pub fn alone<T: Send>(&self, measured: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
        let measured = || {
            run_on(&self.measured)?;
            measured()
        };
        let ended =
            std::thread::scope(|scope| scope.spawn(|| measured().map_err(|error| error.to_string())).join());
        Ok(ended.unwrap_or_else(|_| Err("what is measured panicked".into()))?)
    }

    /// Runs `measured` on its core while the other cores repeat `other`, which gets the number of its call; the first
    /// call of `other` comes before.
    pub fn beside<T: Send>(
        &self,
        mut other: impl FnMut(usize) -> Outcome<()> + Send,
        measured: impl FnOnce() -> Outcome<T> + Send,
    ) -> Outcome<T> {
        let is_over = AtomicBool::new(false);
        let is_over = &is_over;
        let (begun, has_begun) = channel();
        let mut repeat = move || {
            run_on(&self.rest)?;
            other(0)?;
            begun.send(())?;
            for number in 1.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                other(number)?;
            }
            Outcome::Ok(())
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(move || repeat().map_err(|error| error.to_string()));
            // No message arrives if the other thread failed.
            let result = has_begun.recv().map_err(Into::into).and_then(|()| self.alone(measured));
            is_over.store(true, Ordering::Relaxed);
            other.join().unwrap_or_else(|_| Err("what is done beside it panicked".into()))?;
            result
        })
    }
}

fn run_on(cores: &CpuSet) -> Outcome<()> {
    Ok(sched_setaffinity(None, cores).map_err(|error| format!("choose a core to run on: {error}"))?)
}

/// The time that interruptions took from this thread.
fn lost_time() -> Duration {
    let begin = Instant::now();
    let (mut last, mut lost) = (begin, Duration::ZERO);
    while last - begin < WATCH {
        let now = Instant::now();
        if now - last > GAP {
            lost += now - last;
        }
        last = now;
    }
    lost
}

#[cfg(test)]
mod tests {
    use rustix::thread::sched_getcpu;

    use super::*;

    fn pause() -> Outcome<()> {
        std::thread::sleep(Duration::from_micros(100));
        Ok(())
    }

    #[test]
    fn what_is_measured_has_a_core_and_the_rest_the_others() {
        let before = sched_getaffinity(None).unwrap();
        let cores = Cores::apart_from(pause).unwrap();
        let mut places = Vec::new();
        let note = |_| {
            places.push(sched_getcpu());
            pause()
        };
        let here = || {
            pause()?;
            Ok(sched_getcpu())
        };
        let measured = cores.beside(note, here).unwrap();
        assert!(cores.measured.is_set(measured));
        assert!(!places.is_empty() && places.iter().all(|place| cores.rest.is_set(*place)));
        assert_eq!(cores.rest.is_set(measured), before.count() == 1);
        assert_eq!(cores.alone(here).unwrap(), measured);
        assert_eq!(sched_getaffinity(None).unwrap(), before, "the caller stays free");
    }

    #[test]
    fn an_error_or_a_panic_of_either_is_told() {
        let cores = Cores::apart_from(pause).unwrap();
        let told = |outcome: Outcome<()>| outcome.unwrap_err().to_string();
        assert_eq!(told(cores.beside(|_| Err("other".into()), pause)), "other");
        assert_eq!(told(cores.beside(|_| pause(), || Err("measured".into()))), "measured");
        assert_eq!(told(cores.beside(|_| pause(), || panic!("on purpose"))), "what is measured panicked");
        assert_eq!(told(cores.beside(|_| panic!("on purpose"), pause)), "what is done beside it panicked");
    }
}
