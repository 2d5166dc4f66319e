//! The calls to the system.
#![allow(unsafe_code)]

use std::io::{Error, Result};
use std::mem::size_of;
use std::time::Duration;

use libc::sched_attr;

use crate::unsupported;

/// The calling thread.
const THIS: libc::pid_t = 0;
const SIZE: u32 = size_of::<sched_attr>() as u32;

/// `None` for turns as long as those of others.
pub(crate) fn set(length: Option<Duration>) -> Result<()> {
    let mut attributes = read()?;
    if attributes.sched_policy != libc::SCHED_OTHER as u32 {
        return Err(unsupported(&format!("expected policy SCHED_OTHER, found {}", attributes.sched_policy)));
    }
    // None at all stands for what others have.
    attributes.sched_runtime =
        length.map_or(0, |length| u64::try_from(length.as_nanos()).unwrap_or(u64::MAX));
    write(&attributes)
}

/// What the system knows of the calling thread.
fn read() -> Result<sched_attr> {
    let mut attributes = sched_attr {
        size: SIZE,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel writes at most as many bytes as it is told there are.
    let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, THIS, &raw mut attributes, SIZE, 0) };
    if answer == 0 { Ok(attributes) } else { Err(Error::last_os_error()) }
}

fn write(attributes: &sched_attr) -> Result<()> {
    // SAFETY: the kernel reads as many bytes as the first field says, and those are all of it.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, THIS, std::ptr::from_ref(attributes), 0) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{request, reset};

    const LENGTH: Duration = Duration::from_micros(100);

    // Earlier ones take the request and do nothing.
    fn has_own_lengths() -> bool {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release.split(['.', '-']).map(|number| number.trim().parse::<u32>().unwrap_or(0));
        (numbers.next(), numbers.next()) >= (Some(6), Some(12))
    }

    #[test]
    fn a_thread_gets_the_length_it_asks_for_and_stays_as_nice_as_it_is() {
        let after = std::thread::spawn(|| {
            // A niceness of its own, which must stay.
            let nice = sched_attr { sched_nice: 3, ..read().unwrap() };
            write(&nice).unwrap();
            request(LENGTH).unwrap();
            read().unwrap()
        });
        let after = after.join().unwrap();
        assert_eq!((after.sched_policy, after.sched_nice), (libc::SCHED_OTHER as u32, 3));
        if has_own_lengths() {
            assert_eq!(u128::from(after.sched_runtime), LENGTH.as_nanos());
        }
    }

    #[test]
    fn other_threads_are_left_alone_and_turns_are_as_before_after_a_reset() {
        let before = read().unwrap().sched_runtime;
        let after = std::thread::spawn(|| {
            request(LENGTH).unwrap();
            reset().unwrap();
            read().unwrap().sched_runtime
        });
        assert_eq!(after.join().unwrap(), before);
        assert_eq!(read().unwrap().sched_runtime, before);
    }

    #[test]
    fn a_thread_with_another_policy_is_refused() {
        let error = std::thread::spawn(|| {
            let idle =
                sched_attr { sched_policy: libc::SCHED_IDLE as u32, sched_runtime: 0, ..read().unwrap() };
            write(&idle).unwrap();
            request(LENGTH).unwrap_err()
        });
        let error = error.join().unwrap();
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported, "{error}");
    }
}
