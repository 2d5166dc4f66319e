//! The calls to the system.
#![allow(unsafe_code)]

use std::io::{Error, Result};

use crate::unsupported::unsupported;

/// Source: `asm-generic/mman-common.h` of Linux; the headers of some C libraries do not have it.
const MADV_COLLAPSE: libc::c_int = 25;

/// Errors: `Unsupported` if the system does not know how to move memory onto huge pages.
pub fn is_known() -> Result<()> {
    // Of no memory at all it is refused only by who does not know it.
    collapse(0, 0).map_err(|error| unsupported(&format!("expected Linux 6.1 or later: {error}")))
}

/// Moves the memory at these addresses onto huge pages.
///
/// Errors: if the system does not now, for want of a free one, because the memory is being changed, or is no longer there.
pub fn collapse(start: usize, bytes: usize) -> Result<()> {
    // SAFETY: the kernel keeps what is in memory and where it is found, and makes others wait meanwhile. Whatever is mapped there,
    // nothing that a program can read is changed.
    let answer = unsafe { libc::madvise(start as *mut libc::c_void, bytes, MADV_COLLAPSE) };
    if answer == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Units: bytes.
pub fn page_bytes() -> usize {
    // SAFETY: it takes a number and returns one.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("the system knows the size of its pages")
}
