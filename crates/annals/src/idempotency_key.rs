//! The key of a request that its client may send again.

use std::fmt;

use sha2::Digest as _;

/// The key of a request that its client may send again because it did not get the answer: a repository commits it once,
/// and [`Snapshot::receipt_of`](crate::Snapshot::receipt_of) gives the receipt to each repeat. It holds digests only.
///
/// Shape: 16 bytes of the client and its key, then 8 bytes of the request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(pub(crate) [u8; IdempotencyKey::BYTES]);

impl IdempotencyKey {
    pub(crate) const BYTES: usize = 24;
    /// The part that names the key.
    pub(crate) const NAME_BYTES: usize = 16;

    /// The key that `client` has given to `request`. Two clients with equal keys do not meet. A request is anything that a
    /// repeat has in common with the first try, and another request with the same key has not.
    pub fn new(client: &str, key: &str, request: &str) -> IdempotencyKey {
        let digest = |texts: [&str; 2]| {
            let mut digest = sha2::Sha256::new();
            for text in texts {
                // Order: the length first, so that no two pairs have the same bytes.
                digest.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
                digest.update(text);
            }
            digest.finalize()
        };
        let (name, request) = (digest([client, key]), digest([request, ""]));
        let mut bytes = [0; IdempotencyKey::BYTES];
        let (front, back) = bytes.split_at_mut(IdempotencyKey::NAME_BYTES);
        front.iter_mut().zip(name).for_each(|(to, from)| *to = from);
        back.iter_mut().zip(request).for_each(|(to, from)| *to = from);
        IdempotencyKey(bytes)
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({:02x?})", &self.0[..4])
    }
}
