//! Which core a thread runs on: where the kernel works for others is chance otherwise.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::Outcome;

/// How long each core is watched.
const WATCH: Duration = Duration::from_millis(30);
/// A thread that only looks at the clock and finds so much gone has been interrupted.
const GAP: Duration = Duration::from_micros(3);

/// The cores this process may use: one for the thread that is measured, the rest for another.
pub struct Cores {
    measured: CpuSet,
    rest: CpuSet,
}

impl Cores {
    /// Keeps the core for what is measured that loses the least time while `work` is done on the rest, again and again. Where
    /// there is one core, both share it.
    ///
    /// Errors: those of `work`, and those of the system, which may not let threads choose.
    pub fn apart_from(mut work: impl FnMut() -> Outcome<()> + Send) -> Outcome<Cores> {
        let all = sched_getaffinity(None)?;
        let numbers: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number)).collect();
        if numbers.len() < 2 {
            return Ok(Cores { measured: all, rest: all });
        }
        let mut best: Option<(Duration, Cores)> = None;
        for number in numbers {
            let mut cores = Cores { measured: CpuSet::new(), rest: all };
            cores.measured.set(number);
            cores.rest.unset(number);
            let lost = cores.beside(|_| work(), || Ok(lost_time()))?;
            if best.as_ref().is_none_or(|(least, _)| lost < *least) {
                best = Some((lost, cores));
            }
        }
        Ok(best.ok_or("no core")?.1)
    }

    /// Does `measured` on its core.
    pub fn alone<T: Send>(&self, measured: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
        let on_its_core = || {
            sched_setaffinity(None, &self.measured)?;
            measured()
        };
        let done = std::thread::scope(|scope| {
            scope
                .spawn(|| on_its_core().map_err(|error| error.to_string()))
                .join()
                .expect("it does not panic")
        });
        Ok(done?)
    }

    /// Does `measured` on its core while `other`, which gets the number of its call, is done on the rest, again and again.
    pub fn beside<T: Send>(
        &self,
        mut other: impl FnMut(usize) -> Outcome<()> + Send,
        measured: impl FnOnce() -> Outcome<T> + Send,
    ) -> Outcome<T> {
        let is_over = AtomicBool::new(false);
        let mut repeat = || {
            sched_setaffinity(None, &self.rest)?;
            for number in 0.. {
                other(number)?;
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
            Outcome::Ok(())
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(move || repeat().map_err(|error| error.to_string()));
            let result = self.alone(measured);
            is_over.store(true, Ordering::Relaxed);
            other.join().expect("the other thread does not panic")?;
            result
        })
    }
}

/// What interruptions took from this thread.
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

    #[test]
    fn what_is_measured_and_the_rest_run_on_different_cores() {
        let before = sched_getaffinity(None).unwrap();
        let sleep = || {
            std::thread::sleep(Duration::from_micros(100));
            Ok(())
        };
        let cores = Cores::apart_from(sleep).unwrap();
        let mut places = Vec::new();
        let note = |_| {
            places.push(sched_getcpu());
            Ok(())
        };
        let measured = cores.beside(note, || Ok(sched_getcpu())).unwrap();
        assert!(cores.measured.is_set(measured));
        assert!(!places.is_empty() && places.iter().all(|place| cores.rest.is_set(*place)));
        assert_eq!(cores.alone(|| Ok(sched_getcpu())).unwrap(), measured);
        assert_eq!(sched_getaffinity(None).unwrap(), before, "the caller stays free");
    }

    #[test]
    fn an_error_of_either_ends_both() {
        let cores = Cores::apart_from(|| Ok(())).unwrap();
        let error = cores.beside(|_| Err("other".into()), || Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "other");
        let error = cores.beside(|_| Ok(()), || Outcome::<()>::Err("measured".into())).unwrap_err();
        assert_eq!(error.to_string(), "measured");
    }
}
