//! Numbers of a fixed width, in memory and in keys.

use std::any::type_name;
use std::fmt::Display;

/// The number in a narrower type. It fits, because the structure that it comes from is bounded. A larger number is a
/// defect of this crate and stops the thread: it is never cut.
#[inline]
#[track_caller]
pub(crate) fn narrow<T: TryFrom<S>, S: Copy + Display>(number: S) -> T {
    T::try_from(number).unwrap_or_else(|_| panic!("{number} exceeds a {}", type_name::<T>()))
}

/// The `N` bytes at `at`, which must be there.
#[inline]
pub(crate) fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    found.copy_from_slice(&bytes[at..at + N]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "65536 exceeds a u16")]
    fn a_number_that_does_not_fit_is_not_cut() {
        assert_eq!(narrow::<u16, usize>(65_535), 65_535);
        narrow::<u16, usize>(65_536);
    }
}
