//! Nobody tells by the time of an answer whether an id is hidden or absent.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use annals::{NewEntity, Repository};
use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::access::{Access, AccessSettings, Client};
use crate::bounds::limits::Limits;
use crate::protocol::names::AUTHOR;
use crate::request::door::Door;
use crate::request::hosts::Hosts;
use crate::serving::router::router;

/// Requests for each id.
const ROUNDS: usize = 2_000;
/// The same in a long run, which tells by one attempt.
const LONG_ROUNDS: usize = 20_000;
/// Requests for each id that are not measured.
const WARM_ROUNDS: usize = 200;
/// Pages that are open, and as many that are hidden.
const PAGES: usize = 500;

/// The times of the same request for each of some ids, in turn. Units: nanoseconds.
struct Times(Vec<Vec<u64>>);

impl Times {
    /// A quarter of the times are shorter: of requests that nothing interrupted.
    fn typical(&self, at: usize) -> u64 {
        let mut all = self.0[at].clone();
        let quarter = all.len() / 4;
        *all.select_nth_unstable(quarter).1
    }

    /// True if two ids differ by so many hundredths of the second one.
    fn tells_apart(&self, one: usize, other: usize, percent: u64) -> bool {
        let [one, other] = [one, other].map(|at| self.typical(at));
        one.abs_diff(other) * 100 >= other * percent
    }
}

/// A door whose clients see open pages.
fn door() -> Arc<Door> {
    let repository = Repository::in_memory();
    let create = |t: &mut annals::Transaction| {
        for number in 0..PAGES {
            let page = |name: &str| NewEntity::new("page").id(&format!("{name}-{number:04}"));
            t.create_entity(page("open")?.property("public", true).property("text", "x"))?;
            t.create_entity(page("hidden")?.property("public", false).property("text", "x"))?;
        }
        let grant = NewEntity::new("annals.Grant").property("role", "readers");
        t.create_entity(grant.property("where", "page where public = true"))
    };
    repository.transact(create).expect("pages");
    let settings = AccessSettings {
        proxy: Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        default_roles: vec!["readers".into()],
        ..AccessSettings::default()
    };
    let hosts = Hosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), Vec::new(), Vec::new(), None);
    let mut door = Door::new(Limits::default(), hosts, String::new());
    door.access = Access::new(settings).expect("settings without files");
    let door = Arc::new(door);
    door.open(repository).expect("a thread");
    door
}

async fn ask(router: &axum::Router, path: &str) -> StatusCode {
    let client =
        Client { address: IpAddr::V4(Ipv4Addr::LOCALHOST), reached: None, has_tls: false, certificate: None };
    let request = Request::get(path).header("host", "localhost").header(&AUTHOR, "ada").extension(client);
    let request = request.body(Body::empty()).expect("a request");
    let answer = router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
    let status = answer.status();
    answer.into_body().collect().await.expect("a body");
    status
}

/// Asks for the ids in a random order, since a request depends on the one before. The last id is asked for as the one before, and
/// each answer is `late` by this much.
async fn measure(router: &axum::Router, tail: &str, late: Duration, rounds: usize) -> Times {
    // Names of one length. The last is absent, too.
    let names = ["hidden", "absent", "gone00", "slowed"];
    let mut times = Times(vec![Vec::with_capacity(rounds); names.len()]);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |end: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 33).unwrap_or_default() % end
    };
    for round in 0..WARM_ROUNDS + rounds {
        let mut order: Vec<usize> = (0..names.len()).collect();
        while !order.is_empty() {
            let at = order.swap_remove(next(order.len()));
            let path = format!("/v1/entities/{}-{:04}{tail}", names[at], round % PAGES);
            let start = Clock::now();
            let status = ask(router, &path).await;
            while names[at] == "slowed" && start.elapsed() < late {
                std::hint::spin_loop();
            }
            let taken = start.elapsed();
            assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
            if round >= WARM_ROUNDS {
                times.0[at].push(u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX));
            }
        }
    }
    times
}

/// Differences that are found. To find a hidden id in the table of ids takes a little longer than to find nothing, most of
/// all in a test, which is not optimized. Long reads change threads. Units: percent.
const TAILS: [(&str, u64); 3] = [("", 5), ("/history", 25), ("/neighbors", 25)];
/// The same in a long run. Units: percent.
const LONG_PERCENT: u64 = 4;
/// A machine that does other work may tell two absent ids apart: in a short run. Units: measurements.
const ATTEMPTS_MAX: usize = 5;

#[tokio::test]
async fn a_hidden_id_takes_as_long_as_an_absent_one() {
    let router = router(&door(), None);
    assert_eq!(ask(&router, "/v1/entities/open-0001").await, StatusCode::OK);
    let is_long = std::env::var_os("ANNALS_TEST_ALL").is_some();
    let (attempts, rounds) = if is_long { (1, LONG_ROUNDS) } else { (ATTEMPTS_MAX, ROUNDS) };
    for (tail, percent) in TAILS {
        let percent = if is_long { LONG_PERCENT } else { percent };
        // A difference that is there is found: this says how late the slowed ones come.
        let late = Duration::from_nanos(2 * measure(&router, tail, Duration::ZERO, ROUNDS).await.typical(1));
        let mut told = Vec::new();
        for _ in 0..attempts {
            let times = measure(&router, tail, late, rounds).await;
            told.push([0, 1, 2, 3].map(|at| times.typical(at)));
            let is_fine = times.tells_apart(3, 1, percent) && !times.tells_apart(2, 1, percent);
            if is_fine && !times.tells_apart(0, 1, percent) {
                println!("{tail:?}: hidden, absent, absent, slowed: {told:?}");
                told.clear();
                break;
            }
        }
        assert!(told.is_empty(), "{tail:?}: hidden, absent, absent, slowed: {told:?}");
    }
}
