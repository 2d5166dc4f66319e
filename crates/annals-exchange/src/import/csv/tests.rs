//! Facts about reading nodes and edges.

use std::sync::Arc;

use super::*;
use crate::import::{Refused, Source};

/// The rows, without the names of empty cells.
fn read_with(input: &str, options: Options) -> Vec<Checked<Row>> {
    let rows = RowReader::new(input.as_bytes(), &options).unwrap();
    let whole = rows.map(|row| {
        row.unwrap().map(|row| match row {
            Row::Node(node) => Row::Node(Node { empty: Vec::new(), ..node }),
            Row::Edge(edge) => Row::Edge(Edge { empty: Vec::new(), ..edge }),
        })
    });
    whole.collect()
}

fn read(input: &str) -> Vec<Checked<Row>> {
    read_with(input, Options::default())
}

fn id(group: &str, key: &str) -> Id {
    Id { group: group.into(), key: key.to_string() }
}

fn text(text: &str) -> CsvField {
    CsvField::Text(text.to_string())
}

fn properties(properties: &[(&str, CsvField)]) -> Vec<(Arc<str>, CsvField)> {
    properties.iter().map(|(name, field)| ((*name).into(), field.clone())).collect()
}

fn node(line: u64, key: &str, labels: &[&str], fields: &[(&str, CsvField)]) -> Checked<Row> {
    let labels = labels.iter().map(|label| label.to_string()).collect();
    let properties = properties(fields);
    Ok(Row::Node(Node { line, id: id("", key), labels, line_cell: None, properties, empty: Vec::new() }))
}

fn refused(line: u64, reason: &str) -> Checked<Row> {
    Err(Refused::new(line, reason))
}

#[test]
fn nodes_have_ids_labels_and_typed_properties() {
    let rows = read(
        "id:ID(Person),:LABEL,name,born:int,tags:string[],x:IGNORE\n1,Person;Actor,\"Reeves, K\",1964,a;b,?\n",
    );
    let fields = [
        ("id", text("1")),
        ("name", text("Reeves, K")),
        ("born", CsvField::Integer(1964)),
        ("tags", CsvField::List(vec![text("a"), text("b")])),
    ];
    let expected = Node {
        line: 2,
        id: id("Person", "1"),
        labels: vec!["Person".to_string(), "Actor".to_string()],
        line_cell: None,
        properties: properties(&fields),
        empty: Vec::new(),
    };
    assert_eq!(rows, [Ok(Row::Node(expected))]);
}

#[test]
fn edges_have_ends_of_their_groups_and_a_type() {
    let rows = read(":START_ID(Person),role,:END_ID(Movie),:TYPE\n1,Neo,tt1,ACTED_IN\n");
    let expected = Edge {
        line: 2,
        start: id("Person", "1"),
        end: id("Movie", "tt1"),
        edge_type: "ACTED_IN".to_string(),
        line_cell: None,
        properties: properties(&[("role", text("Neo"))]),
        empty: Vec::new(),
    };
    assert_eq!(rows, [Ok(Row::Edge(expected))]);
}

#[test]
fn an_empty_cell_is_an_absent_property() {
    let text = ":ID,a:int,b,c:int[],d\n1,,,,x\n";
    assert_eq!(read(text), [node(2, "1", &[], &[("d", CsvField::Text("x".to_owned()))])]);
    let row = RowReader::new(text.as_bytes(), &Options::default()).unwrap().next().unwrap().unwrap().unwrap();
    assert!(matches!(row, Row::Node(node) if node.empty == ["a", "b", "c"].map(Arc::from)));
}

#[test]
fn values_of_a_list_are_decoded_one_by_one() {
    let list = |fields: Vec<CsvField>| node(2, "1", &[], &[("a", CsvField::List(fields))]);
    assert_eq!(read(":ID,a:int[]\n1,1; 2\n"), [list(vec![CsvField::Integer(1), CsvField::Integer(2)])]);
    assert_eq!(read(":ID,a:string[]\n1,;x\n"), [list(vec![text(""), text("x")])]);
    let reason = "column `a:int[]`: expected a whole number from -2147483648 to 2147483647, found ``";
    assert_eq!(read(":ID,a:int[]\n1,1;;2\n"), [refused(2, reason)]);
}

#[test]
fn a_bad_row_is_refused_with_line_and_column_and_reading_goes_on() {
    let rows = read(":ID,age:int\n1,old\n2,\"3\n\"\n,4\n5\n6,6,6\n7,\"7\"\n\"8");
    let expected = [
        refused(2, "column `age:int`: expected a whole number from -2147483648 to 2147483647, found `old`"),
        node(3, "2", &[], &[("age", CsvField::Integer(3))]),
        refused(5, "column `:ID`: expected an id, found an empty cell"),
        refused(6, "expected 2 columns, found 1"),
        refused(7, "expected 2 columns, found 3"),
        node(8, "7", &[], &[("age", CsvField::Integer(7))]),
        refused(9, "expected a closing quote, found the end of the file"),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn edges_without_ends_or_type_are_refused() {
    let rows = read(":START_ID,:END_ID,:TYPE\n,2,T\n1, ,T\n1,2,\n");
    let expected = [
        refused(2, "column `:START_ID`: expected an id, found an empty cell"),
        refused(3, "column `:END_ID`: expected an id, found an empty cell"),
        refused(4, "column `:TYPE`: expected a type, found an empty cell"),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn delimiters_can_be_chosen() {
    for delimiter in [';', '\t', '|'] {
        let options = Options { array_delimiter: Some('/'), ..Options::default() };
        let input = ":ID,a:int[],b\n1,1/2,\"x,y\"\n".replace(',', &delimiter.to_string());
        let list = CsvField::List(vec![CsvField::Integer(1), CsvField::Integer(2)]);
        let quoted = text(&format!("x{delimiter}y"));
        assert_eq!(read_with(&input, options), [node(2, "1", &[], &[("a", list), ("b", quoted)])]);
    }
}

#[test]
fn delimiters_that_cannot_work_are_refused() {
    let problem = |field_delimiter, array_delimiter| {
        let options = Options { field_delimiter, array_delimiter, ..Options::default() };
        RowReader::new(&b":ID;a\n"[..], &options).err().unwrap().to_string()
    };
    assert_eq!(problem(Some('x'), None), "--delimiter: expected `,`, `;`, tab or `|`, found `x`");
    let text = "--array-delimiter: expected another than the one between the cells, found `;` for both";
    assert_eq!(problem(None, Some(';')), text);
}

#[test]
fn rows_below_a_plain_header_are_nodes_or_edges() {
    let plain = Some(Plain::Nodes { id: "Table Name(t)".to_owned() });
    let options = Options {
        plain,
        type_name: Some("table".to_owned()),
        labels: vec!["pii".to_owned()],
        ..Options::default()
    };
    let rows = read_with("Table Name;Owner;rows:int;\norders;Ada;7;\ncosts; B;;\nx;;;y\n", options);
    let table = |line, key: &str, fields: &[(&str, CsvField)]| {
        let mut fields = properties(fields);
        fields.insert(0, ("Table Name".into(), text(key)));
        let labels = vec!["table".to_owned(), "pii".to_owned()];
        let (line_cell, empty) = (None, Vec::new());
        Ok(Row::Node(Node { line, id: id("t", key), labels, line_cell, properties: fields, empty }))
    };
    let expected = [
        table(2, "orders", &[("Owner", text("Ada")), ("rows", CsvField::Integer(7))]),
        table(3, "costs", &[("Owner", text(" B"))]),
        refused(4, "column 4: expected nothing below an empty title, found `y`"),
    ];
    assert_eq!(rows, expected);
    let plain = Some(Plain::Edges { from: "job".to_owned(), to: "table(t)".to_owned() });
    let options = Options { plain, type_name: Some("reads".to_owned()), ..Options::default() };
    let edge = Edge {
        line: 2,
        start: id("", "load"),
        end: id("t", "orders"),
        edge_type: "reads".to_owned(),
        line_cell: None,
        properties: properties(&[("since", text("2024"))]),
        empty: Vec::new(),
    };
    assert_eq!(read_with("job;table;since\nload;orders;2024\n", options), [Ok(Row::Edge(edge))]);
}

#[test]
fn a_header_may_stand_in_a_file_of_its_own() {
    let layout = Layout::read(&b":ID\ta:int\n\n"[..], &Options::default()).unwrap();
    let rows = RowReader::without_header(&b"\xef\xbb\xbf1\t2\n"[..], &layout).unwrap();
    let rows: Vec<_> = rows.map(|row| row.unwrap()).collect();
    assert_eq!(rows, [node(1, "1", &[], &[("a", CsvField::Integer(2))])]);
    let problem = Layout::read(&b":ID,a:int\n\n1,2\n"[..], &Options::default()).unwrap_err();
    assert_eq!(problem.to_string(), "csv header: expected nothing behind the header, found line 3");
}

#[test]
fn labels_and_type_can_be_given_for_a_file() {
    let labels = vec!["Thing".to_string()];
    let options = Options { labels, type_name: Some("KNOWS".to_string()), ..Options::default() };
    let nodes = read_with(":ID,:LABEL\n1,A;Thing; ;A\n", options.clone());
    assert_eq!(nodes, [node(2, "1", &["Thing", "A"], &[])]);
    let types: Vec<String> = [":START_ID,:END_ID\n1,2\n", ":START_ID,:END_ID,:TYPE\n1,2,\n1,2,LIKES\n"]
        .iter()
        .flat_map(|input| read_with(input, options.clone()))
        .map(|row| match row.unwrap() {
            Row::Edge(edge) => edge.edge_type,
            Row::Node(node) => panic!("expected an edge, found {node:?}"),
        })
        .collect();
    assert_eq!(types, ["KNOWS", "KNOWS", "LIKES"]);
}

#[test]
fn a_file_without_header_is_an_error() {
    let problem =
        |input: &'static [u8]| RowReader::new(input, &Options::default()).err().unwrap().to_string();
    assert_eq!(problem(b"\n"), "csv header: expected a header line, found an empty file");
    assert_eq!(problem(b"\xff\n"), "csv header: line 1: expected UTF-8, found other bytes");
}

#[test]
fn reading_ends_behind_a_broken_input() {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&[&b":ID\n"[..], &b"1\n".repeat(100_000)].concat()).unwrap();
    let mut packed = encoder.finish().unwrap();
    packed.truncate(packed.len() - 8);
    let source = Source::from_reader("test", std::io::Cursor::new(packed)).unwrap();
    let mut rows = RowReader::new(source, &Options::default()).unwrap().skip_while(|row| row.is_ok());
    assert_eq!(rows.next().unwrap().unwrap_err().kind(), ErrorKind::Io);
    assert!(rows.next().is_none());
}

/// Changes single bytes of a small file in all ways that syntax cares about; the reader must come to the end.
#[test]
fn no_damaged_byte_makes_the_reader_panic_or_hang() {
    let good =
        "id:ID(G),:LABEL,a:int[],b:datetime,c:duration\r\n1,A;B,1;2,2024-01-01T00:00Z,P1D\r\n2,,\"3\",,\n";
    for place in 0..good.len() {
        for byte in b"\n\r\t ,;:|()[]{}\"'a0-+TZP\x00\xff\xc3".iter().copied() {
            let mut input = good.as_bytes().to_vec();
            input[place] = byte;
            if let Ok(rows) = RowReader::new(input.as_slice(), &Options::default()) {
                assert!(rows.collect::<Result<Vec<_>>>().unwrap().len() <= 3, "byte {byte:#x} at {place}");
            }
        }
    }
}

/// Tells the rate of reading a million generated rows.
#[test]
#[ignore = "a measurement: cargo test --release -p annals-exchange a_million_rows -- --ignored --nocapture"]
fn a_million_rows_are_read() {
    use std::fmt::Write;
    let mut input = String::from("id:ID(P),:LABEL,name,age:int,score:double,born:date,tags:string[]\n");
    for number in 0..1_000_000 {
        writeln!(input, "p{number},Person,\"Name, {number}\",{},{number}.5,2001-02-03,a;b", number % 100)
            .unwrap();
    }
    let start = std::time::Instant::now();
    let rows = RowReader::new(input.as_bytes(), &Options::default()).unwrap();
    let count = rows.filter(|row| matches!(row, Ok(Ok(Row::Node(_))))).count();
    let (seconds, megabytes) = (start.elapsed().as_secs_f64(), input.len() as f64 / 1e6);
    println!("{count} rows, {megabytes:.0} MB in {seconds:.2} s, {:.0} rows/s", count as f64 / seconds);
    assert_eq!(count, 1_000_000);
}
