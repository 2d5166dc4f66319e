//! A key as a set returns it: the part that its leaf holds once for all keys, and its own rest.

use std::cmp::Ordering;

/// A key in two parts, borrowed from its set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'k> {
    common: &'k [u8],
    rest: &'k [u8],
}

impl<'k> Key<'k> {
    #[inline]
    pub(super) fn of_parts(common: &'k [u8], rest: &'k [u8]) -> Key<'k> {
        Key { common, rest }
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.common.len() + self.rest.len()
    }

    pub(crate) fn to_vec(self) -> Vec<u8> {
        [self.common, self.rest].concat()
    }

    /// Appends its bytes.
    #[inline]
    pub(crate) fn append_to(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.common);
        out.extend_from_slice(self.rest);
    }

    /// Replaces `out` by its bytes.
    pub(crate) fn write_to(self, out: &mut Vec<u8>) {
        out.clear();
        self.append_to(out);
    }

    /// Its last four bytes as a number, big endian. It must have as many.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the last bytes are the lowest")]
    pub(crate) fn last_u32(self) -> u32 {
        match self.rest.last_chunk() {
            Some(last) => u32::from_be_bytes(*last),
            None => {
                let common = last_u64(self.common) as u32;
                match *self.rest {
                    [] => common,
                    [a] => common << 8 | u32::from(a),
                    [a, b, ..] => {
                        let first = common << 16 | u32::from(a) << 8 | u32::from(b);
                        self.rest.get(2).map_or(first, |c| first << 8 | u32::from(*c))
                    }
                }
            }
        }
    }

    /// Its last sixteen bytes, or all, as a number, big endian.
    #[inline]
    pub(crate) fn last_u128(self) -> u128 {
        match self.rest.last_chunk() {
            Some(last) => u128::from_be_bytes(*last),
            None => last_u128(self.common) << (8 * self.rest.len()) | last_u128(self.rest),
        }
    }

    /// The bytes at `at`. It must have as many.
    pub(crate) fn bytes_at<const N: usize>(self, at: usize) -> [u8; N] {
        std::array::from_fn(|index| match self.common.get(at + index) {
            Some(byte) => *byte,
            None => self.rest[at + index - self.common.len()],
        })
    }

    /// The key without this many bytes at its end. It must have as many.
    #[inline]
    pub(crate) fn without_last(self, count: usize) -> Key<'k> {
        match self.rest.len().checked_sub(count) {
            Some(end) => Key { common: self.common, rest: &self.rest[..end] },
            None => Key { common: &self.common[..self.len() - count], rest: &[] },
        }
    }

    /// The key without this many bytes at its beginning, in two parts. It must have as many.
    #[inline]
    pub(super) fn without_first(self, count: usize) -> [&'k [u8]; 2] {
        match count.checked_sub(self.common.len()) {
            Some(in_rest) => [&[], &self.rest[in_rest..]],
            None => [&self.common[count..], self.rest],
        }
    }

    /// The length of the common prefix of two keys.
    pub(super) fn common_len(self, other: Key) -> usize {
        let pairs = self.common.iter().chain(self.rest).zip(other.common.iter().chain(other.rest));
        pairs.take_while(|(own, other)| own == other).count()
    }

    #[inline]
    fn compare(self, other: &[u8]) -> Ordering {
        match other.split_at_checked(self.common.len()) {
            Some((first, rest)) => self.common.cmp(first).then_with(|| self.rest.cmp(rest)),
            // A key of which the other is a prefix is greater.
            None => self.common.cmp(other),
        }
    }

    pub(crate) fn starts_with(self, prefix: &[u8]) -> bool {
        match prefix.split_at_checked(self.common.len()) {
            Some((first, rest)) => self.common == first && self.rest.starts_with(rest),
            None => self.common.starts_with(prefix),
        }
    }
}

// The last eight bytes, or all, as a number. Two words that overlap cost less than a loop over bytes.
#[inline]
fn last_u64(bytes: &[u8]) -> u64 {
    if let Some(last) = bytes.last_chunk() {
        return u64::from_be_bytes(*last);
    }
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return u64::from(u32::from_be_bytes(*first)) << (8 * (len - 4))
            | u64::from(u32::from_be_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return u64::from(u16::from_be_bytes(*first)) << (8 * (len - 2))
            | u64::from(u16::from_be_bytes(*last));
    }
    bytes.first().map_or(0, |byte| u64::from(*byte))
}

// The last sixteen bytes, or all, as a number.
#[inline]
fn last_u128(bytes: &[u8]) -> u128 {
    if let Some(last) = bytes.last_chunk() {
        return u128::from_be_bytes(*last);
    }
    match bytes.first_chunk() {
        Some(first) => {
            u128::from(u64::from_be_bytes(*first)) << (8 * (bytes.len() - 8)) | u128::from(last_u64(bytes))
        }
        None => last_u64(bytes).into(),
    }
}

impl<'k> From<&'k [u8]> for Key<'k> {
    #[inline]
    fn from(rest: &'k [u8]) -> Key<'k> {
        Key { common: &[], rest }
    }
}

impl Ord for Key<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let Some((first, rest)) = other.common.split_at_checked(self.common.len()) else {
            return other.cmp(self).reverse();
        };
        self.common
            .cmp(first)
            .then_with(|| Key { common: rest, rest: other.rest }.compare(self.rest).reverse())
    }
}

impl PartialOrd for Key<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.cmp(other).is_eq()
    }
}

impl Eq for Key<'_> {}

impl PartialOrd<[u8]> for Key<'_> {
    #[inline]
    fn partial_cmp(&self, other: &[u8]) -> Option<Ordering> {
        Some(self.compare(other))
    }
}

impl PartialEq<[u8]> for Key<'_> {
    #[inline]
    fn eq(&self, other: &[u8]) -> bool {
        self.len() == other.len() && self.compare(other).is_eq()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes() -> impl Strategy<Value = (Vec<u8>, usize)> {
        prop::collection::vec(0u8..3, 0..30).prop_flat_map(|bytes| {
            let len = bytes.len();
            (Just(bytes), 0..=len)
        })
    }

    proptest! {
        #[test]
        fn a_key_behaves_as_its_bytes_wherever_it_is_divided((one, at) in bytes(), (other, other_at) in bytes()) {
            let key = Key::of_parts(&one[..at], &one[at..]);
            let second = Key::of_parts(&other[..other_at], &other[other_at..]);
            prop_assert_eq!(key.cmp(&second), one.cmp(&other));
            prop_assert_eq!(key == second, one == other);
            prop_assert_eq!(key.partial_cmp(&other[..]), Some(one.cmp(&other)));
            prop_assert_eq!(key == other[..], one == other);
            prop_assert_eq!(key.starts_with(&other), one.starts_with(&other));
            let common = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(key.common_len(second), common);
            prop_assert_eq!(key.to_vec(), &one[..]);
            for count in 0..=one.len() {
                prop_assert_eq!(key.without_first(count).concat(), &one[count..]);
                prop_assert_eq!(key.without_last(count).to_vec(), &one[..one.len() - count]);
            }
            let whole = one.iter().fold(0u128, |number, byte| number << 8 | u128::from(*byte));
            prop_assert_eq!(key.last_u128(), whole);
            if let Some(first) = one.first_chunk::<4>() {
                prop_assert_eq!(u128::from(key.last_u32()), whole & 0xFFFF_FFFF);
                prop_assert_eq!(key.bytes_at::<4>(0), *first);
            }
        }
    }
}
