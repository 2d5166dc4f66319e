//! The share of each kind of room that one client may use, so that cheap requests of one leave room for others.
//!
//! A client is a proven name, or else an address; an IPv6 address counts by its first 64 bits, because a single host usually has all of the
//! rest. A proxy has one address for all its clients: see `docs/http.md`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Instant as Clock;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::rate::Rate;
use crate::protocol::machine::is_this_machine;
use crate::protocol::problem::Problem;

/// The share of an address of another machine, unless the settings name one. Units: percent.
const SHARE_DEFAULT: u8 = 50;
/// Clients without connections that are remembered until the next one comes.
const GONE_MAX: usize = 1_024;

/// Searches and walks that wait, for each one that can be worked on.
const HEAVY_WAITING: usize = 32;

/// A kind of room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Requests in progress, including answers that are being sent.
    Requests,
    /// Contents that are received.
    Uploads,
    /// Contents that are sent.
    Downloads,
    /// Imports.
    Imports,
    /// Requests that wait for the rest of a slow body.
    SlowBodies,
    /// Requests that wait for a position.
    PositionWaits,
    /// Answers in lines.
    Streams,
    /// Subscribers of the feed.
    Subscribers,
    /// Failed logins whose answers wait.
    FailedLogins,
    /// Searches, walks and other long work, in progress or waiting for its turn.
    Heavy,
    /// Bytes of answers that are being sent.
    AnswerBytes,
    /// Bytes of bodies that are being received or worked on.
    BodyBytes,
}

/// Number of kinds.
const KINDS: usize = Kind::BodyBytes as usize + 1;

/// The room that one client uses. All its connections share it.
#[derive(Debug)]
pub struct Peer {
    /// Units: percent.
    share: u8,
    /// True for a client with a proven name, which counts by its name.
    is_named: bool,
    used: [AtomicUsize; KINDS],
    rate: Mutex<Rate>,
    /// One per search or walk of this client in progress.
    heavy: OnceLock<Arc<Semaphore>>,
}

/// The turn of a search or a walk, until it is dropped.
#[derive(Debug)]
pub struct HeavyTurn {
    _permit: OwnedSemaphorePermit,
    _share: Share,
}

tokio::task_local! {
    static ASKING: Arc<Peer>;
}

/// Works on a request of a client: all long work in it takes turns with other work of this client.
pub async fn asked_by<T>(peer: Arc<Peer>, work: impl Future<Output = T>) -> T {
    ASKING.scope(peer, work).await
}

/// The client whose request this task works on.
pub fn asking() -> Option<Arc<Peer>> {
    ASKING.try_with(Arc::clone).ok()
}

/// Room in use; dropping it gives it back.
#[derive(Debug)]
pub struct Share {
    peer: Arc<Peer>,
    kind: Kind,
    amount: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.peer.used[self.kind as usize].fetch_sub(self.amount, Ordering::Relaxed);
    }
}

impl Peer {
    fn new(share: u8) -> Arc<Peer> {
        Peer::of(share, false)
    }

    fn of(share: u8, is_named: bool) -> Arc<Peer> {
        let (rate, heavy) = (Mutex::new(Rate::new()), OnceLock::new());
        Arc::new(Peer { share, is_named, used: Default::default(), rate, heavy })
    }

    /// Counts a request; at most `max` begin within a second.
    ///
    /// Errors: `too-many-requests`.
    pub fn begin(&self, max: u32, now: Clock) -> Result<(), Problem> {
        let mut rate = self.rate.lock().unwrap_or_else(PoisonError::into_inner);
        if !rate.begins(max, max, now) {
            let text = format!(
                "requests: expected at most {max} a second from one client, found more; wait a second"
            );
            return Err(Problem::door("too-many-requests", text));
        }
        Ok(())
    }

    /// Waits for the turn of one more search or walk of this client, of which all clients do at most `max` at once.
    ///
    /// Errors: `too-many-requests` or `busy` if too many of its own wait.
    pub async fn heavy_turn(self: &Arc<Peer>, max: usize) -> Result<HeavyTurn, Problem> {
        let share = self.take(Kind::Heavy, 1, max.saturating_mul(HEAVY_WAITING))?;
        // One at least; all of them for a client without a share.
        let own = (max * usize::from(self.share) / 100).max(1);
        let gate = self.heavy.get_or_init(|| Arc::new(Semaphore::new(own)));
        let permit = Arc::clone(gate).acquire_owned().await.expect("gates are never closed");
        Ok(HeavyTurn { _permit: permit, _share: share })
    }

    /// A client without bounds of its own.
    pub fn unbounded() -> Arc<Peer> {
        Peer::new(100)
    }

    /// Uses room of a kind of which there is `all`. A client may always use one thing, however large.
    ///
    /// Errors: `busy` if the client would use more than its share.
    pub fn take(self: &Arc<Peer>, kind: Kind, amount: usize, all: usize) -> Result<Share, Problem> {
        let mut share = Share { peer: Arc::clone(self), kind, amount: 0 };
        share.grow(amount, all)?;
        Ok(share)
    }
}

impl Share {
    /// Adds to room of a kind of which there is `all`. If it is all that the client uses of this kind, it may become
    /// larger than the share.
    ///
    /// Errors: `busy` if the client would use more than its share.
    pub fn grow(&mut self, amount: usize, all: usize) -> Result<(), Problem> {
        let percent = self.peer.share;
        let max = (all.saturating_mul(usize::from(percent)) / 100).max(1);
        let own = self.amount;
        let next = |used: usize| {
            let next = used.saturating_add(amount);
            (used == own || percent == 100 || next <= max).then_some(next)
        };
        let used = &self.peer.used[self.kind as usize];
        match used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Ok(_) => {
                self.amount += amount;
                Ok(())
            }
            Err(used) => {
                let name = match self.kind {
                    Kind::Requests => "requests and unread answers",
                    Kind::Uploads => "contents being received",
                    Kind::Downloads => "contents being sent",
                    Kind::Imports => "imports",
                    Kind::SlowBodies => "slow bodies",
                    Kind::PositionWaits => "requests that wait for positions",
                    Kind::Streams => "answers in lines",
                    Kind::Subscribers => "subscriptions",
                    Kind::FailedLogins => "failed logins",
                    Kind::Heavy => "searches and walks",
                    Kind::AnswerBytes => "bytes of unread answers",
                    Kind::BodyBytes => "bytes of bodies",
                };
                let one = if self.peer.is_named { "client" } else { "address" };
                let text = format!(
                    "{name}: expected at most {max} from one {one}, found {used}; end some, or try again later"
                );
                Err(match self.peer.is_named {
                    true => Problem::door("too-many-requests", text),
                    false => Problem::busy(text),
                })
            }
        }
    }
}

/// Takes one of `all` places behind a gate, for a client that has room for it.
///
/// Errors: `busy`, with this text if all places are taken.
pub fn enter(
    gate: &Arc<Semaphore>,
    (peer, kind, all): (&Arc<Peer>, Kind, usize),
    text: impl FnOnce() -> String,
) -> Result<(OwnedSemaphorePermit, Share), Problem> {
    let permit = Arc::clone(gate).try_acquire_owned().map_err(|_| Problem::busy(text()))?;
    Ok((permit, peer.take(kind, 1, all)?))
}

/// The clients that have connections.
#[derive(Debug)]
pub struct Peers {
    share: Option<u8>,
    known: Mutex<HashMap<IpAddr, Weak<Peer>>>,
    named: Mutex<HashMap<Arc<str>, Arc<Peer>>>,
}

impl Peers {
    /// Units: `share` in percent, for every address; `None` for the default, which leaves out this machine.
    pub fn new(share: Option<u8>) -> Peers {
        Peers { share, known: Mutex::default(), named: Mutex::default() }
    }

    /// The client with a proven name, from whatever address.
    pub fn named(&self, name: &Arc<str>) -> Arc<Peer> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(peer) = named.get(name) {
            return Arc::clone(peer);
        }
        if named.len() > GONE_MAX {
            named.retain(|_, peer| Arc::strong_count(peer) > 1);
        }
        let peer = Peer::of(self.share.unwrap_or(SHARE_DEFAULT), true);
        named.insert(Arc::clone(name), Arc::clone(&peer));
        peer
    }

    /// The client at an address.
    pub fn at(&self, address: IpAddr) -> Arc<Peer> {
        let address = client_of(address);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(peer) = known.get(&address).and_then(Weak::upgrade) {
            return peer;
        }
        if known.len() > GONE_MAX {
            known.retain(|_, peer| peer.strong_count() > 0);
        }
        let default = if is_this_machine(address) { 100 } else { SHARE_DEFAULT };
        let peer = Peer::new(self.share.unwrap_or(default));
        known.insert(address, Arc::downgrade(&peer));
        peer
    }
}

/// The address by which a client counts.
pub fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) if !v6.is_loopback() => {
            let [a, b, c, d, ..] = v6.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::StatusCode;

    #[test]
    fn a_client_uses_at_most_its_share_and_always_one_thing() {
        let peers = Peers::new(Some(50));
        let (one, other) = (peers.at([10, 0, 0, 1].into()), peers.at([10, 0, 0, 2].into()));
        let held: Vec<Share> = (0..2).map(|_| one.take(Kind::Uploads, 1, 4).unwrap()).collect();
        assert_eq!(one.take(Kind::Uploads, 1, 4).unwrap_err().status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(
            peers.at([10, 0, 0, 1].into()).take(Kind::Uploads, 1, 4).unwrap_err().status(),
            StatusCode::SERVICE_UNAVAILABLE
        );
        assert!(one.take(Kind::Requests, 1, 4).is_ok() && other.take(Kind::Uploads, 1, 4).is_ok());
        drop(held);
        let large = one.take(Kind::Uploads, 9, 4).unwrap();
        assert!(one.take(Kind::Uploads, 1, 4).is_err());
        drop(large);
        assert!(one.take(Kind::Uploads, 1, 4).is_ok());
    }

    #[test]
    fn the_only_share_of_a_client_may_grow_over_its_bound_and_others_may_not() {
        let one = Peers::new(Some(50)).at([10, 0, 0, 1].into());
        let mut only = one.take(Kind::BodyBytes, 3, 10).unwrap();
        only.grow(6, 10).unwrap();
        assert!(one.take(Kind::BodyBytes, 1, 10).is_err());
        drop(only);
        let (mut first, mut second) =
            (one.take(Kind::BodyBytes, 2, 10).unwrap(), one.take(Kind::BodyBytes, 2, 10).unwrap());
        second.grow(1, 10).unwrap();
        assert!(first.grow(1, 10).is_err());
        drop(second);
        assert!(first.grow(9, 10).is_ok());
        drop(first);
        assert_eq!(one.used[Kind::BodyBytes as usize].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_named_client_begins_so_many_requests_a_second() {
        let peers = Peers::new(None);
        let (ada, now) = (peers.named(&"ada".into()), Clock::now());
        let begun = |count: usize, at| (0..count).filter(|_| ada.begin(5, at).is_ok()).count();
        assert_eq!(begun(9, now), 5);
        assert_eq!(begun(9, now + std::time::Duration::from_millis(400)), 2);
        assert_eq!(begun(99, now + std::time::Duration::from_secs(60)), 5);
        assert!(peers.named(&"bob".into()).begin(5, now).is_ok());
        let refused = peers.named(&"ada".into()).begin(1, now).unwrap_err();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    }

    #[test]
    fn names_that_are_not_in_use_make_room() {
        let peers = Peers::new(None);
        let held = peers.named(&"ada".into());
        (0..2 * GONE_MAX).for_each(|index| drop(peers.named(&index.to_string().into())));
        assert!(peers.named.lock().unwrap().len() <= GONE_MAX + 1);
        assert!(Arc::ptr_eq(&held, &peers.named(&"ada".into())));
    }

    #[test]
    fn this_machine_has_no_bound_unless_one_is_set_and_ipv6_counts_by_network() {
        let peers = Peers::new(None);
        let local = peers.at([127, 0, 0, 1].into());
        let held: Vec<_> = (0..4).map(|_| local.take(Kind::Uploads, 1, 4).unwrap()).collect();
        assert_eq!(held.len(), 4);
        let (one, other): (IpAddr, IpAddr) = ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
        let (one, other) = (peers.at(one), peers.at(other));
        assert!(Arc::ptr_eq(&one, &other));
        let (mapped, plain) = (peers.at("::ffff:10.0.0.1".parse().unwrap()), peers.at([10, 0, 0, 1].into()));
        assert!(Arc::ptr_eq(&mapped, &plain));
        assert!(Peers::new(Some(25)).at([127, 0, 0, 1].into()).share == 25);
    }
}
