//! Runs one script: loads with several connections, retrieves cold and warm, through curl too, and checks the counts.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::count::{check_triples, lines_with};
use super::script::{Script, Wording, Work};
use crate::outcome::Outcome;
use crate::run::{Client, Place, Request, WRONG_ANSWER, agree, median};

/// Items around the 10th and the last whose median is the time there.
const WINDOW: usize = 11;
/// Longest time of a retrieval with curl. Units: seconds, as curl takes them.
const CURL_S_MAX: &str = "600";

/// How a script runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub items: usize,
    /// Bytes of a binary before its number.
    pub binary_bytes: usize,
    /// That load at a time. Values of one resource are added with one.
    pub connections: usize,
    /// Warm retrievals, and as many with curl.
    pub tries: usize,
    /// Longest time of the load of a script.
    pub load_time_max: Duration,
}

/// The figures of one script. Units: seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// All requests.
    pub load: f64,
    /// Median time of an item around the 10th, and around the last.
    pub tenth: f64,
    pub last: f64,
    /// The first byte of the retrievals after the first one.
    pub first_byte: f64,
    /// The first retrieval after the load.
    pub cold: f64,
    /// The median of the others.
    pub warm: f64,
    /// The median of whole processes of curl.
    pub curl: f64,
    /// Lines that the script counts, or binaries.
    pub found: usize,
}

/// The times of one retrieval. Units: seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Retrieval {
    first_byte: f64,
    whole: f64,
}

/// The times of a load.
struct Load {
    elapsed: Duration,
    /// Of each item, in their order. Units: seconds.
    each: Vec<f64>,
    /// The address that the last item got.
    last: Option<String>,
}

/// Runs a script below a path that the server does not have yet. `folder` is for the answers of curl.
///
/// Errors: an answer other than 2xx, a load that takes too long, lines that are no triples, and a wrong count.
pub fn measure(
    script: Script,
    wording: Wording,
    place: &Place,
    plan: Plan,
    folder: &Path,
) -> Outcome<Figures> {
    let base = format!("{}/{}", place.path, SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos());
    let work = &Work::new(script, wording, place, base, plan.binary_bytes);
    let mut client = Client::new(place);
    work.prepare(&mut client)?;
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
    let [tenth, last] = [9, load.each.len()].map(|place| around(&load.each, place));
    Ok(Figures {
        load: load.elapsed.as_secs_f64(),
        tenth,
        last,
        first_byte: median(warm.iter().map(|times| times.first_byte).collect()),
        cold: cold.whole,
        warm: median(warm.iter().map(|times| times.whole).collect()),
        curl: median(curls),
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
            added.push((number, begin.elapsed().as_secs_f64(), made));
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
    Ok(Load { elapsed, each: added.into_iter().map(|(_, time, _)| time).collect(), last })
}

/// One retrieval with a new connection, and its body. Connecting does not count.
fn retrieve(place: &Place, request: &Request) -> Outcome<(Retrieval, Vec<u8>)> {
    let mut client = Client::new(place);
    let answer = client.send(request)?;
    let [first_byte, whole] = [answer.first_byte, answer.elapsed].map(|time| time.as_secs_f64());
    Ok((Retrieval { first_byte, whole }, client.body))
}

/// One retrieval with curl, as the scripts make it. Returns the time of the whole process, in seconds.
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
    Ok(elapsed.as_secs_f64())
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

/// The median around a place.
fn around(each: &[f64], place: usize) -> f64 {
    let from = place.saturating_sub(WINDOW / 2).min(each.len().saturating_sub(WINDOW));
    median(each.iter().skip(from).take(WINDOW).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_median_around_its_place() {
        let each: Vec<f64> = (0..1_000).map(f64::from).collect();
        assert_eq!([9, 500, 1_000].map(|place| around(&each, place)), [9.0, 500.0, 994.0]);
        assert_eq!(around(&[3.0, 1.0, 2.0], 9), 2.0);
    }

    #[test]
    fn a_wrong_count_is_told_with_both_numbers() {
        let error = check_count(b"<a> <title> <b> .\n", "title", 2).unwrap_err().to_string();
        assert_eq!(error, "lines with \"title\": wrong answer: expected 2, found 1");
        assert_eq!(check_count(b"", "memberOf", 0).unwrap(), 0);
    }
}
