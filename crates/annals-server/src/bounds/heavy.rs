//! Long work: a bounded number at once on threads of its own, each client in its turn.

use std::sync::Arc;

use annals::{Cancel, Snapshot};
use tokio::sync::OwnedSemaphorePermit;

use super::peers::{HeavyTurn, asking};
use super::sending;
use super::value::Bounds;
use crate::protocol::problem::{Outcome, Problem};

/// Does long work on a separate thread, a bounded number at once. A bounded number waits.
///
/// Errors: `busy`; those of the work.
pub async fn heavy<T: Send + 'static>(
    bounds: &Bounds,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let held = place_for_heavy(bounds).await?;
    let running = tokio::task::spawn_blocking(move || {
        // Work that cannot be cancelled continues after the client has gone, so the work holds its place.
        let _held = held;
        work()
    });
    match running.await {
        Ok(result) => result,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

async fn place_for_heavy(bounds: &Bounds) -> Result<(OwnedSemaphorePermit, Option<HeavyTurn>), Problem> {
    let Ok(_waiting) = bounds.gates.heavy_waits.try_acquire() else {
        let most = bounds.limits.heavy_waits_max();
        let text =
            format!("{most} searches, walks and other long reads wait for their turn; try again later");
        return Err(Problem::busy(text));
    };
    // Order: those of one client wait for each other first, so that others pass them.
    let turn = match asking() {
        Some(peer) => Some(peer.heavy_turn(bounds.limits.heavy_max).await?),
        None => None,
    };
    let permit = Arc::clone(&bounds.gates.heavy).acquire_owned().await.expect("gates are never closed");
    Ok((permit, turn))
}

/// The same for work that reads a snapshot. The work is cancelled when the client has gone or the time of the request
/// is over.
pub async fn heavy_read<T: Send + 'static>(
    bounds: &Bounds,
    snapshot: Snapshot,
    work: impl FnOnce(Snapshot) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let cancel = CancelOnDrop(Cancel::new());
    let snapshot = snapshot.cancelled_by(&cancel.0);
    heavy(bounds, move || work(snapshot)).await
}

/// The same for work that makes an answer: the permit is released only after the answer has its room.
pub async fn heavy_answer(
    bounds: &Arc<Bounds>,
    snapshot: Snapshot,
    work: impl Fn(Snapshot) -> Outcome + Send + 'static,
) -> Outcome {
    let known = Arc::clone(bounds);
    heavy_read(bounds, snapshot, move |snapshot| sending::admit(&known, work(snapshot)?)).await
}

/// Cancels when the request is dropped, for any reason.
pub struct CancelOnDrop(pub Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::bounds::limits::Limits;
    use crate::bounds::peers::asked_by;

    /// All room for searches could be in the hands of one client, and others waited for it.
    #[tokio::test(flavor = "multi_thread")]
    async fn searches_of_one_client_leave_room_for_those_of_others() {
        let limits = Limits { heavy_max: 2, ..Limits::default() };
        let bounds = Arc::new(Bounds::new(limits));
        let search = |name: &str, wait: mpsc::Receiver<()>| {
            let (bounds, peer) = (Arc::clone(&bounds), bounds.peers.named(&name.into()));
            tokio::spawn(asked_by(peer, async move {
                heavy(&bounds, move || {
                    let _ = wait.recv();
                    Ok(())
                })
                .await
            }))
        };
        let (ends, waits): (Vec<_>, Vec<_>) = (0..40).map(|_| mpsc::channel()).unzip();
        let mut of_ada: Vec<_> = waits.into_iter().map(|wait| search("ada", wait)).collect();
        tokio::time::sleep(Duration::from_millis(100)).await;
        let bob = search("bob", mpsc::channel().1);
        tokio::time::timeout(Duration::from_secs(20), bob)
            .await
            .expect("bob does not wait")
            .unwrap()
            .unwrap();
        // 32 of ada are in progress or wait, and the others are refused.
        let refused = of_ada.extract_if(.., |task| task.is_finished()).collect::<Vec<_>>();
        assert_eq!(refused.len(), 8);
        for task in refused {
            let problem = task.await.unwrap().unwrap_err();
            assert_eq!(problem.kind(), "too-many-requests");
        }
        drop(ends);
        for task in of_ada {
            task.await.unwrap().unwrap();
        }
    }
}
