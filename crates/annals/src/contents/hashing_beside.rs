//! The digests of a content that is being written: a thread of its own computes them, so that the disk need not wait for them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::hashing::Hashing;

/// Most pieces that wait for the thread; when there are more, the writer waits.
const PIECES_MAX: usize = 2;

/// A piece of a content. The threads that write and hash it share it.
pub(super) type Piece = Arc<Vec<u8>>;

/// Computes the digests of pieces.
pub(super) enum HashingBeside<'scope> {
    /// On the thread that writes: a content of one piece is not worth another one.
    Here(Box<Hashing>),
    /// On a thread of its own.
    Beside(SyncSender<Piece>, ScopedJoinHandle<'scope, Box<Hashing>>),
}

impl<'scope> HashingBeside<'scope> {
    /// Goes on on a thread of its own, unless the system has none.
    pub(super) fn move_to_thread(self, scope: &'scope Scope<'scope, '_>) -> HashingBeside<'scope> {
        let HashingBeside::Here(hashing) = self else { return self };
        let (sender, receiver) = sync_channel(PIECES_MAX);
        let begun = hashing.clone();
        let builder = Builder::new().name("annals-digests".into());
        match builder.spawn_scoped(scope, move || hash(begun, receiver)) {
            Ok(thread) => HashingBeside::Beside(sender, thread),
            Err(_) => HashingBeside::Here(hashing),
        }
    }

    /// Takes the next bytes.
    pub(super) fn update(&mut self, piece: &Piece) {
        match self {
            HashingBeside::Here(hashing) => hashing.update(piece),
            // A thread that has panicked takes none; `finish` passes its panic on.
            HashingBeside::Beside(sender, _) => drop(sender.send(Arc::clone(piece))),
        }
    }

    /// Waits for the digests of all bytes.
    pub(super) fn finish(self) -> Box<Hashing> {
        match self {
            HashingBeside::Here(hashing) => hashing,
            HashingBeside::Beside(sender, thread) => {
                drop(sender);
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }
        }
    }
}

fn hash(mut hashing: Box<Hashing>, pieces: Receiver<Piece>) -> Box<Hashing> {
    for piece in pieces {
        hashing.update(&piece);
    }
    hashing
}
