//! Takes little-endian numbers off the front of bytes; the caller has checked the length before.

/// The first two bytes, or zero if there are fewer.
pub(super) fn take_u16(bytes: &mut &[u8]) -> u16 {
    u16::from_le_bytes(take(bytes))
}

/// The first four bytes, or zero if there are fewer.
pub(super) fn take_u32(bytes: &mut &[u8]) -> u32 {
    u32::from_le_bytes(take(bytes))
}

/// The first eight bytes, or zero if there are fewer.
pub(super) fn take_u64(bytes: &mut &[u8]) -> u64 {
    u64::from_le_bytes(take(bytes))
}

/// The first `N` bytes, or zeros if there are fewer.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
    let Some((taken, rest)) = bytes.split_first_chunk() else { return [0; N] };
    *bytes = rest;
    *taken
}
