//! The calls to the system.
#![allow(unsafe_code)]

use std::io::{Error, Result};

use crate::unsupported::unsupported;

/// Source: `asm-generic/mman-common.h` of Linux; the headers of some C libraries do not have it.
const MADV_COLLAPSE: libc::c_int = 25;

/// Errors: `Unsupported` if the system does not know how to move memory onto huge pages.
pub fn is_known() -> Result<()> {
    // For an empty range only a system that does not know the call refuses.
    collapse(0, 0).map_err(|error| unsupported(&format!("expected Linux 6.1 or later: {error}")))
}

/// Moves the memory at these addresses onto huge pages.
///
/// Errors: if the system cannot do it now: no huge page is free, the memory is being changed, or is no longer mapped.
pub fn collapse(start: usize, bytes: usize) -> Result<()> {
    // SAFETY: the kernel keeps the content and the addresses of the memory, and makes other threads wait meanwhile.
    // Whatever is mapped there, no program reads anything else than before.
    let answer = unsafe { libc::madvise(start as *mut libc::c_void, bytes, MADV_COLLAPSE) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Units: bytes.
pub fn page_bytes() -> usize {
    // SAFETY: it takes a number and returns one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("the system knows the size of its pages")
}
