//! Runs one script: loads with several connections, retrieves cold and warm, through curl too, and checks the counts.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::client::{Client, Place, Request};
use super::count::{check_triples, lines_with};
use super::script::{Script, Work};
use crate::outcome::Outcome;
use crate::run::{WRONG_ANSWER, agree, median};

/// Items around the 10th, the half and the last whose median is the time there.
const WINDOW: usize = 11;
/// Longest time of a retrieval with curl. Units: seconds, as curl takes them.
const CURL_S_MAX: &str = "600";

/// How a script runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub items: usize,
    /// That load at a time. Values of one resource are added with one.
    pub connections: usize,
    /// Warm retrievals, and as many with curl.
    pub tries: usize,
    /// Longest time of the load of a script.
    pub load_time_max: Duration,
}

/// The figures of one script.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Connections that loaded.
    pub connections: usize,
    pub load: Duration,
    pub requests: usize,
    /// Median time of an item around the 10th, the half and the last. Units: milliseconds.
    pub each_ms: [f64; 3],
    /// The first retrieval after the load.
    pub cold: Retrieval,
    /// The medians of the others.
    pub warm: Retrieval,
    /// The median of whole processes of curl. Units: milliseconds.
    pub curl_ms: f64,
    /// Of the retrieved answer.
    pub bytes: usize,
    /// Lines that the script counts, or binaries.
    pub found: usize,
}

/// The times of one retrieval. Units: milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retrieval {
    pub first_byte_ms: f64,
    pub whole_ms: f64,
}

/// The times of a load.
struct Load {
    elapsed: Duration,
    /// Of each item, in their order. Units: milliseconds.
    each_ms: Vec<f64>,
    /// The address that the last item got.
    last: Option<String>,
}

/// Runs a script below a new path of the server. `folder` is for the answers of curl.
///
/// Errors: an answer other than 2xx, a load that takes too long, lines that are no triples, and a wrong count.
pub fn measure(work: &Work, place: &Place, plan: Plan, folder: &Path) -> Outcome<Figures> {
    let mut client = Client::new(place);
    work.prepare(&mut client)?;
    let script = work.script;
    let connections = if script.is_patch() { 1 } else { plan.connections };
    let load = load(work, place, connections, plan)?;
    let request = work.retrieval(load.last.as_deref());
    if script == Script::MemberOf {
        // The scripts look at the collection without its inbound references first.
        // With a new connection: a server closes one that was idle during a long load.
        let plain = Request { headers: request.headers[..1].to_vec(), ..request.clone() };
        check_count(&retrieve(place, &plain)?.1, "memberOf", 0)?;
    }
    let cold = retrieve(place, &request)?.0;
    let mut warm = Vec::new();
    let mut body = Vec::new();
    for _ in 0..plan.tries {
        let (times, found) = retrieve(place, &request)?;
        warm.push(times);
        body = found;
    }
    let mut curls = Vec::new();
    for _ in 0..plan.tries {
        curls.push(curl(place, &request, folder, &body)?);
    }
    let found = check(work, &body, plan.items)?;
    let whole = median(warm.iter().map(|times| times.whole_ms).collect());
    let first_byte = median(warm.iter().map(|times| times.first_byte_ms).collect());
    Ok(Figures {
        connections,
        load: load.elapsed,
        requests: plan.items * script.requests(),
        each_ms: growth(&load.each_ms),
        cold,
        warm: Retrieval { first_byte_ms: first_byte, whole_ms: whole },
        curl_ms: median(curls),
        bytes: body.len(),
        found,
    })
}

/// Adds all items, the next one as soon as a connection is free.
fn load(work: &Work, place: &Place, connections: usize, plan: Plan) -> Outcome<Load> {
    let (next, has_failed) = (AtomicUsize::new(1), AtomicBool::new(false));
    let start = Instant::now();
    // The error is a text, because it crosses threads.
    let add = || -> Result<Vec<(usize, f64, Option<String>)>, String> {
        let mut client = Client::new(place);
        let mut added = Vec::new();
        while !has_failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number > plan.items {
                break;
            }
            let begin = Instant::now();
            let made = match work.add(&mut client, number) {
                Ok(_) if start.elapsed() > plan.load_time_max => Err(format!(
                    "expected the load within {} s, found no end of it",
                    plan.load_time_max.as_secs()
                )),
                Ok(made) => Ok(made),
                Err(error) => Err(error.to_string()),
            };
            let made = made.map_err(|error| {
                has_failed.store(true, Ordering::Relaxed);
                format!("item {number}: {error}")
            })?;
            added.push((number, milliseconds(begin.elapsed()), made));
        }
        Ok(added)
    };
    let mut added = std::thread::scope(|scope| -> Outcome<Vec<_>> {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(add)).collect();
        let mut all = Vec::with_capacity(plan.items);
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a thread that loads panicked")??);
        }
        Ok(all)
    })?;
    let elapsed = start.elapsed();
    added.sort_by_key(|(number, _, _)| *number);
    let last = added.last_mut().and_then(|(_, _, made)| made.take());
    Ok(Load { elapsed, each_ms: added.into_iter().map(|(_, ms, _)| ms).collect(), last })
}

/// One retrieval with a new connection, and its body. Connecting does not count.
fn retrieve(place: &Place, request: &Request) -> Outcome<(Retrieval, Vec<u8>)> {
    let mut client = Client::new(place);
    let answer = client.send(request)?;
    let [first_byte_ms, whole_ms] = [answer.first_byte, answer.elapsed].map(milliseconds);
    Ok((Retrieval { first_byte_ms, whole_ms }, client.body))
}

/// One retrieval with curl, as the scripts make it. Returns the time of the whole process, in milliseconds.
///
/// Errors: also if the answer has another number of bytes than `expected`.
fn curl(place: &Place, request: &Request, folder: &Path, expected: &[u8]) -> Outcome<f64> {
    let output = folder.join("answer");
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail", "--max-time", CURL_S_MAX, "--output"]).arg(&output);
    for (name, value) in &request.headers {
        command.arg("--header").arg(format!("{name}: {value}"));
    }
    command.arg(place.url(&request.path)).stdin(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("start curl (apt-get install curl): {error}"))?;
    let elapsed = start.elapsed();
    let found = std::fs::metadata(&output).map_or(0, |file| file.len());
    if !status.success() || found != expected.len() as u64 {
        let url = place.url(&request.path);
        return Err(format!("curl {url}: {status}, expected {} bytes, found {found}", expected.len()).into());
    }
    Ok(milliseconds(elapsed))
}

/// Checks the last retrieval. Returns the count of the script.
fn check(work: &Work, body: &[u8], items: usize) -> Outcome<usize> {
    let Some(pattern) = work.pattern() else {
        // Each binary was answered with 2xx; the last one is read back.
        return if is_binary(work, body, items) {
            Ok(items)
        } else {
            Err(format!("{WRONG_ANSWER}: a binary has other bytes than were sent").into())
        };
    };
    check_triples(body)?;
    if work.script == Script::MemberOf {
        // The proxies refer to the collection, too.
        check_count(body, "proxyIn", items)?;
    }
    check_count(body, pattern, items)
}

fn is_binary(work: &Work, body: &[u8], number: usize) -> bool {
    body == work.binary(number)
}

fn check_count(body: &[u8], pattern: &str, expected: usize) -> Outcome<usize> {
    let found = lines_with(body, pattern);
    agree(&format!("lines with {pattern:?}"), found, expected)?;
    Ok(found)
}

/// The medians around the 10th, the half and the last.
fn growth(each_ms: &[f64]) -> [f64; 3] {
    let around = |at: usize| {
        let from = at.saturating_sub(WINDOW / 2).min(each_ms.len().saturating_sub(WINDOW));
        median(each_ms.iter().skip(from).take(WINDOW).copied().collect())
    };
    [around(9), around(each_ms.len() / 2), around(each_ms.len())]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_the_median_around_three_places() {
        let each_ms: Vec<f64> = (0..1_000).map(f64::from).collect();
        assert_eq!(growth(&each_ms), [9.0, 500.0, 994.0]);
        assert_eq!(growth(&[3.0, 1.0, 2.0]), [2.0; 3]);
    }

    #[test]
    fn a_wrong_count_is_told_with_both_numbers() {
        let error = check_count(b"<a> <title> <b> .\n", "title", 2).unwrap_err().to_string();
        assert_eq!(error, "lines with \"title\": wrong answer: expected 2, found 1");
        assert_eq!(check_count(b"", "memberOf", 0).unwrap(), 0);
    }
}
