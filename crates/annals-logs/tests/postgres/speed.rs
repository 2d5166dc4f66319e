//! An append beside the same statement in a bare loop: run it by hand, on a quiet machine, in a release build.

use std::time::{Duration, Instant};

use annals::Position;
use annals::log::{Log, Term, Token};

use crate::server::shared;
use crate::support::{new_schema, open, place_at};

/// Rounds, each with both.
const ROUNDS: usize = 5;
/// Appends of each in a round.
const APPENDS: u64 = 2_000;

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
#[ignore = "it measures, and has no bound that every machine keeps"]
fn an_append_takes_little_longer_than_its_statement() {
    let record = [7; 1024];
    let (ours, bare) = (new_schema(), new_schema());
    let port = shared().port;
    let log = open(&place_at(port, &ours));
    drop(open(&place_at(port, &bare)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let settings = format!("host=127.0.0.1 port={port} user=annals dbname=library");
    let (client, connection) =
        runtime.block_on(tokio_postgres::connect(&settings, tokio_postgres::NoTls)).expect("connect");
    runtime.spawn(connection);
    let text = format!(
        "insert into {bare}.call (first, last, token, term, writer, bytes, index, body)
         select $1::int8, $1::int8, gen_random_uuid(), 0, gen_random_uuid(), 0, $2::bytea, $3::bytea
         where coalesce((select last from {bare}.call order by first desc limit 1), 0) = $1 - 1
         on conflict (first) do nothing"
    );
    let statement = runtime.block_on(client.prepare(&text)).expect("prepare");
    let mut ratios = Vec::new();
    for round in 0..ROUNDS as u64 {
        let (mut own, mut raw) = (Vec::new(), Vec::new());
        for number in 1..=APPENDS {
            let at = round * APPENDS + number;
            let start = Instant::now();
            let sent =
                runtime.block_on(client.execute(&statement, &[&(at as i64), &&[0u8; 8][..], &&record[..]]));
            assert_eq!(sent.expect("an append"), 1);
            raw.push(start.elapsed());
            let call = annals::log::Call {
                at: Position(at),
                token: Token::random(),
                term: Term(0),
                records: &[&record],
            };
            let start = Instant::now();
            assert!(crate::support::is_stored(&log.append_call(&call)));
            own.push(start.elapsed());
        }
        let (own, raw) = (median(&mut own), median(&mut raw));
        ratios.push(own.as_secs_f64() / raw.as_secs_f64());
        println!("round {round}: log {own:?}, statement {raw:?}, ratio {:.3}", ratios[round as usize]);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ROUNDS / 2]);
}
