//! Sights that are made for many requests at once: the work goes on when the request that began it has gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::door::Door;
use crate::access::Principal;
use crate::bounds::heavy::heavy;
use crate::protocol::problem::Problem;

/// The sights that are being made, by the roles that they are for. Each entry is a task, which removes it.
#[derive(Default)]
pub struct Preparing(Mutex<HashMap<Vec<Arc<str>>, watch::Receiver<()>>>);

/// Waits until the sight of a client with grants is made for a position of the repository that is not older than the call:
/// then only the changes since are asked. After a change of grants every instance is asked.
///
/// Errors: `busy` if that takes longer than a request may wait; the next one finds it done.
pub async fn prepare(door: &Arc<Door>, principal: &Principal) -> Result<(), Problem> {
    let roles: Vec<Arc<str>> = principal.granted_roles().cloned().collect();
    let limits = &door.bounds.limits;
    let waiting = async {
        // Order: one that was begun before this call may be of an older position.
        let mut begun = door.preparing.known(&roles);
        loop {
            if let Some(mut begun) = begun.take() {
                let _ = begun.changed().await;
            }
            let snapshot = door.snapshot()?;
            if door.grants.ready(&snapshot, &roles).is_some() {
                return Ok(());
            }
            match door.preparing.begin(door, &roles) {
                (mut of_this, true) => {
                    let _ = of_this.changed().await;
                    return Ok(());
                }
                (of_another, false) => begun = Some(of_another),
            }
        }
    };
    match tokio::time::timeout(limits.body_time(), waiting).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Problem::busy(
            "access: the grants of this client are being compared with all instances, which takes long; try again in a few seconds",
        )),
    }
}

impl Preparing {
    fn known(&self, roles: &[Arc<str>]) -> Option<watch::Receiver<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(roles).cloned()
    }

    /// The task for these roles, and true if it has just begun.
    fn begin(&self, door: &Arc<Door>, roles: &[Arc<str>]) -> (watch::Receiver<()>, bool) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tasks.get(roles) {
            return (known.clone(), false);
        }
        let (sender, receiver) = watch::channel(());
        tasks.insert(roles.to_vec(), receiver.clone());
        let (door, roles) = (Arc::clone(door), roles.to_vec());
        tokio::spawn(async move {
            // Receivers learn of the end when the sender is dropped.
            let _ended = Ended { door: Arc::clone(&door), roles: roles.clone(), _sender: sender };
            let shared = Arc::clone(&door);
            let outcome = heavy(&door.bounds, move || {
                let snapshot = shared.snapshot()?;
                let rights = shared.grants.rights(&snapshot, &roles)?;
                snapshot.seen_by(rights.sight())?;
                Ok(())
            });
            if let Err(problem) = outcome.await {
                // The request that reads with the sight gets the same problem.
                tracing::debug!("a sight could not be made: {}", problem.detail());
            }
        });
        (receiver, true)
    }
}

/// Removes its task when that ends, in whatever way.
struct Ended {
    door: Arc<Door>,
    roles: Vec<Arc<str>>,
    _sender: watch::Sender<()>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.door.preparing.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.roles);
    }
}
