//! bulk, memory and disk: time and size of loading the standard graph, compared with its bytes alone.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use minicbor::Encoder;

use crate::graph::{Packed, Random, StandardGraph, edge_id, is_even, name, size, uuid, vertex_id, weight};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, resident_bytes};

/// Units: bytes.
const BLOCK_BYTES: usize = 1 << 20;
const GIB: f64 = (1 << 30) as f64;

/// bulk: elements per second, compared with writing as many bytes as the log has.
pub fn speed(job: &Job, graph: &StandardGraph, loading: &Timed<()>) -> Outcome<Vec<Sample>> {
    let elements = graph.entities + graph.edges.len();
    let bytes = usize::try_from(graph.repository.log_bytes())?;
    let mut random = Random::new(1);
    let block: Vec<u8> = (0..BLOCK_BYTES / 8).flat_map(|_| random.next().to_le_bytes()).collect();
    let path = job.folder.join("raw");
    let writing = Timed::of(|| {
        let mut file = File::create(&path)?;
        for offset in (0..bytes).step_by(BLOCK_BYTES) {
            file.write_all(&block[..BLOCK_BYTES.min(bytes - offset)])?;
        }
        Ok(file.sync_data()?)
    })?;
    std::fs::remove_file(path)?;
    Ok(vec![Sample::new("bulk", loading.rate(elements), writing.rate(elements))])
}

/// memory: growth of the process, compared with the packed vectors. Units: GiB.
pub fn memory(job: &Job, graph: &StandardGraph, bytes_before: u64) -> Outcome<Vec<Sample>> {
    // The allocator returns the memory of loading, but with a delay.
    std::thread::sleep(Duration::from_secs_f64(job.size.seconds(1.0, 0.05)));
    let used = resident_bytes().saturating_sub(bytes_before) as f64;
    let packed = Packed::bytes(graph.entities, graph.edges.len()) as f64;
    Ok(vec![Sample::new("memory", used / GIB, packed / GIB)])
}

/// disk: bytes of the log, compared with a sequence of the same elements in CBOR. Units: GiB.
pub fn disk(graph: &StandardGraph) -> Outcome<Vec<Sample>> {
    let bytes = graph.repository.log_bytes() as f64;
    Ok(vec![Sample::new("disk", bytes / GIB, sequence_bytes(graph)? as f64 / GIB)])
}

/// Shape: `[id, type, {name: value}]` for an entity, `[id, type, from, to, {name: value}]` for a relationship.
fn sequence_bytes(graph: &StandardGraph) -> Outcome<usize> {
    let mut encoder = Encoder::new(Count(0));
    for number in 0..graph.entities {
        encoder.array(3)?.bytes(&uuid(&vertex_id(number)))?.str("vertex")?.map(4)?;
        encoder.str("name")?.str(&name(number))?.str("size")?.i64(size(number))?;
        encoder.str("weight")?.f64(weight(number))?.str("is_even")?.bool(is_even(number))?;
    }
    for (number, (from, to)) in graph.edges.iter().enumerate() {
        let ends = [from, to].map(|end| uuid(&vertex_id(*end as usize)));
        encoder.array(5)?.bytes(&uuid(&edge_id(number)))?.str("edge")?;
        encoder.bytes(&ends[0])?.bytes(&ends[1])?.map(1)?.str("number")?.u64(number as u64)?;
    }
    Ok(encoder.writer().0)
}

/// Counts the written bytes.
struct Count(usize);

impl minicbor::encode::Write for Count {
    type Error = std::convert::Infallible;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0 += bytes.len();
        Ok(())
    }
}
