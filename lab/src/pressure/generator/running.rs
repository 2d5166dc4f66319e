//! A load while it runs.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use super::caller::{Asked, Caller};
use super::whole_answer::{Answer, read_answer};
use super::{Loaded, Pace, Plan, Work};
use crate::outcome::Outcome;

/// A request that begins later than this after it was due is late.
const LATE: Duration = Duration::from_millis(1);
/// Longest time to connect before the start, and during a load, which it delays. Linux asks a server that accepts too
/// slowly again after 1, 3 and 7 seconds.
const FIRST_CONNECT_TIME_MAX: Duration = Duration::from_secs(20);
const CONNECT_TIME_MAX: Duration = Duration::from_millis(100);
/// How often callers without a connection connect again, and how many at a time.
const MEND_INTERVAL: Duration = Duration::from_millis(10);
const MENDED_MAX: usize = 100;
/// Connections that are looked at together.
const EVENTS_MAX: usize = 1_024;
const BUFFER_BYTES: usize = 256 << 10;
/// How much of a wrong answer an error tells. Units: bytes.
const TOLD_BYTES_MAX: usize = 300;

/// Runs a load to its end.
///
/// Errors: if not all callers can connect before the start. That requests failed is a result.
pub fn load(plan: &Plan, work: &mut dyn Work) -> Outcome<Loaded> {
    let mut running = Running::connect(plan, work)?;
    running.run()?;
    Ok(running.loaded)
}

struct Running<'w> {
    plan: Plan,
    work: &'w mut dyn Work,
    epoll: OwnedFd,
    callers: Vec<Caller>,
    /// Callers that could not connect.
    broken: Vec<usize>,
    mended: Instant,
    start: Instant,
    in_progress: usize,
    /// True if no further request begins.
    is_over: bool,
    request: Vec<u8>,
    buffer: Vec<u8>,
    loaded: Loaded,
}

impl<'w> Running<'w> {
    fn connect(plan: &Plan, work: &'w mut dyn Work) -> Outcome<Running<'w>> {
        let start = Instant::now();
        let mut running = Running {
            plan: *plan,
            work,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            callers: (0..plan.callers).map(|_| Caller::default()).collect(),
            broken: Vec::new(),
            mended: start,
            start,
            in_progress: 0,
            is_over: false,
            request: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
            loaded: Loaded::new(plan.callers)?,
        };
        for place in 0..plan.callers {
            running
                .open(place, FIRST_CONNECT_TIME_MAX)
                .map_err(|error| format!("connect caller {place}: {error}"))?;
        }
        Ok(running)
    }

    /// Connects a caller.
    fn open(&mut self, place: usize, time_max: Duration) -> std::io::Result<()> {
        let address: SocketAddr = self.plan.address;
        let stream = self.callers[place].connect(address, time_max)?;
        let data = epoll::EventData::new_u64(place as u64);
        epoll::add(&self.epoll, stream, data, epoll::EventFlags::IN)?;
        Ok(())
    }

    fn run(&mut self) -> Outcome<()> {
        let cpu = thread_seconds();
        self.start = Instant::now();
        let end = self.start + self.plan.time;
        if self.plan.pace == Pace::Closed {
            (0..self.callers.len()).for_each(|place| self.begin(place, Instant::now()));
        }
        loop {
            let now = Instant::now();
            // Without work that is left, nothing can be due.
            if now >= end || (self.is_over && self.in_progress == 0) {
                break;
            }
            self.mend(now);
            let due = self.release(now);
            self.wait(due.map_or(end, |due| due.min(end)).saturating_duration_since(Instant::now()))?;
        }
        self.is_over = true;
        let ended = Instant::now();
        self.loaded.seconds = (ended - self.start).as_secs_f64();
        self.loaded.cpu_seconds = thread_seconds() - cpu;
        self.drop_due(ended);
        while self.in_progress > 0 && ended.elapsed() < self.plan.patience {
            self.wait(self.plan.patience.saturating_sub(ended.elapsed()))?;
        }
        let patience = self.plan.patience;
        for _ in 0..self.in_progress {
            self.loaded.note_error(|| format!("no answer within {} s after the end", patience.as_secs_f64()));
        }
        Ok(())
    }

    /// When request `number` of an open loop is due.
    fn due_at(&self, number: u64, rate: f64) -> Instant {
        self.start + Duration::from_secs_f64(number as f64 / rate)
    }

    /// Sends what is due. Returns when the next request is.
    fn release(&mut self, now: Instant) -> Option<Instant> {
        let Pace::Rate(rate) = self.plan.pace else { return None };
        if self.is_over {
            return None;
        }
        let callers = self.callers.len() as u64;
        loop {
            let due = self.due_at(self.loaded.due, rate);
            if due > now || self.is_over {
                return Some(due);
            }
            let place = (self.loaded.due % callers) as usize;
            self.loaded.due += 1;
            self.callers[place].due += 1;
            if self.callers[place].asked.is_none() && self.callers[place].due == self.callers[place].sent + 1
            {
                self.loaded.late += u64::from(due.elapsed() > LATE);
                self.begin(place, due);
            }
        }
    }

    /// Notes the requests that are due and not sent.
    fn drop_due(&mut self, ended: Instant) {
        let Pace::Rate(rate) = self.plan.pace else { return };
        let callers = self.callers.len() as u64;
        for place in 0..self.callers.len() {
            for turn in self.callers[place].sent..self.callers[place].due {
                let due = self.due_at(place as u64 + turn * callers, rate);
                self.loaded.dropped += 1;
                self.loaded.latencies.record(ended.saturating_duration_since(due));
            }
        }
    }

    /// Sends the next request of a caller without one in progress.
    fn begin(&mut self, place: usize, due: Instant) {
        if self.is_over {
            return;
        }
        self.request.clear();
        let Some(number) = self.work.next(&mut self.request) else {
            self.is_over = true;
            return;
        };
        let caller = &mut self.callers[place];
        caller.sent += 1;
        caller.asked = Some(Asked { number, due });
        self.in_progress += 1;
        if self.callers[place].stream.is_none()
            && let Err(error) = self.open(place, CONNECT_TIME_MAX)
        {
            self.fail(place, &format!("connect: {error}"));
            return;
        }
        match self.callers[place].send(&self.request) {
            Ok(true) => {}
            Ok(false) => self.watch(place, epoll::EventFlags::IN | epoll::EventFlags::OUT),
            Err(error) => self.fail(place, &format!("send: {error}")),
        }
    }

    /// Sends the next request after an answer, if one is due.
    fn go_on(&mut self, place: usize) {
        match self.plan.pace {
            Pace::Closed => self.begin(place, Instant::now()),
            Pace::Rate(rate) => {
                let caller = &self.callers[place];
                if caller.sent < caller.due {
                    let number = place as u64 + caller.sent * self.callers.len() as u64;
                    self.begin(place, self.due_at(number, rate));
                }
            }
        }
    }

    fn watch(&self, place: usize, flags: epoll::EventFlags) {
        if let Some(stream) = &self.callers[place].stream {
            let data = epoll::EventData::new_u64(place as u64);
            // It fails only if the connection is gone, and then a read says so.
            let _ = epoll::modify(&self.epoll, stream, data, flags);
        }
    }

    /// Notes a request that failed with its connection.
    fn fail(&mut self, place: usize, text: &str) {
        let caller = &mut self.callers[place];
        caller.stream = None;
        if caller.asked.take().is_some() {
            self.in_progress -= 1;
            self.loaded.note_error(|| text.to_owned());
            self.broken.push(place);
        }
    }

    /// Lets callers whose connection failed go on.
    fn mend(&mut self, now: Instant) {
        if self.broken.is_empty() || now - self.mended < MEND_INTERVAL {
            return;
        }
        self.mended = now;
        let count = self.broken.len().min(MENDED_MAX);
        for place in self.broken.drain(..count).collect::<Vec<_>>() {
            self.go_on(place);
        }
    }

    /// Waits for answers at most so long, and takes those that come.
    fn wait(&mut self, time_max: Duration) -> Outcome<()> {
        let time_max = if self.broken.is_empty() { time_max } else { time_max.min(MEND_INTERVAL) };
        let time_max =
            Timespec { tv_sec: time_max.as_secs().cast_signed(), tv_nsec: time_max.subsec_nanos().into() };
        let mut events = Vec::with_capacity(EVENTS_MAX);
        match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&time_max)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(format!("wait for answers: {error}").into()),
        }
        for event in events {
            let (place, flags) = (event.data.u64() as usize, event.flags);
            if flags.contains(epoll::EventFlags::OUT) {
                match self.callers[place].send_rest() {
                    Ok(true) => self.watch(place, epoll::EventFlags::IN),
                    Ok(false) => {}
                    Err(error) => self.fail(place, &format!("send: {error}")),
                }
            }
            if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
                self.read(place);
            }
        }
        Ok(())
    }

    fn read(&mut self, place: usize) {
        let mut buffer = std::mem::take(&mut self.buffer);
        loop {
            let length = match self.callers[place].read(&mut buffer) {
                Ok(Some(length)) => length,
                Ok(None) => break,
                Err(error) => {
                    self.fail(place, &format!("read: {error}"));
                    break;
                }
            };
            if let Err(error) = self.take(place, &buffer[..length]) {
                self.fail(place, &error);
                break;
            }
            // Less than it could take: nothing more has come.
            if length < buffer.len() {
                break;
            }
        }
        self.buffer = buffer;
    }

    /// Takes bytes that have come.
    ///
    /// Errors: if they are no answer to the request.
    fn take(&mut self, place: usize, bytes: &[u8]) -> Result<(), String> {
        self.loaded.bytes += bytes.len() as u64;
        let mut partial = std::mem::take(&mut self.callers[place].partial);
        let is_later = !partial.is_empty();
        if is_later {
            partial.extend_from_slice(bytes);
        }
        let bytes = if is_later { partial.as_slice() } else { bytes };
        let Some(answer) = read_answer(bytes)? else {
            let partial = if is_later { partial } else { bytes.to_vec() };
            self.callers[place].partial = partial;
            return Ok(());
        };
        if answer.length != bytes.len() {
            return Err(format!("expected one answer, found {} bytes more", bytes.len() - answer.length));
        }
        let asked = self.callers[place].asked.take();
        let asked = asked.ok_or_else(|| format!("expected no answer, found {}", answer.status))?;
        self.in_progress -= 1;
        self.note(asked, &answer);
        if answer.is_last {
            self.callers[place].stream = None;
        }
        self.go_on(place);
        Ok(())
    }

    fn note(&mut self, asked: Asked, answer: &Answer<'_>) {
        let now = Instant::now();
        let since_due = now.saturating_duration_since(asked.due);
        let told = || {
            let told = String::from_utf8_lossy(&answer.body[..answer.body.len().min(TOLD_BYTES_MAX)]);
            format!("{}: {told}", answer.status)
        };
        if answer.is_success() {
            if self.work.take(asked.number, &answer.body) {
                self.loaded.note_right(since_due, now - self.start, self.plan.time);
            } else {
                self.loaded.note_error(|| format!("wrong answer: {}", told()));
            }
        } else if answer.status == 503 && answer.has_retry_after {
            self.loaded.note_refusal(since_due, told);
        } else {
            self.loaded.note_error(told);
        }
    }
}

/// Processor time of this thread. Units: seconds.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
