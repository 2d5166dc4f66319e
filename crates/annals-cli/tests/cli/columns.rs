//! Answers as rows of chosen columns: tables, CSV, TSV and JSON.

use serde_json::{Value as Json, json};

use crate::support::Place;
use crate::terminal::in_terminal;

/// Entities with quotes, commas, line breaks, formulas, control characters and texts from right to left.
fn strange() -> Place {
    let place = Place::new();
    let entity = |id: &str, properties: Json| json!({"action": "create", "kind": "entity", "id": id, "type": "thing", "properties": properties});
    let operations = json!([
        entity("plain", json!({"name": "a", "n": 1, "a,b": true})),
        entity("say \"x\", y", json!({"name": "two\r\nlines\tand a tab", "n": {"$decimal": "1.50"}})),
        entity("=1+1", json!({"name": "=HYPERLINK(\"http://x\")", "n": -5})),
        entity(
            "\u{202e}cod.exe",
            json!({"name": "\u{1b}[31mred\u{9b}2J\u{202e}", "tags": {"$set": ["x", "y"]}})
        ),
    ]);
    place.write("strange.json", &operations.to_string());
    place.ok(&["apply", "strange.json", "--author", "eve"]);
    place
}

#[test]
fn columns_are_a_table_csv_tsv_or_json() {
    let place = Place::with_people();
    let columns = |format: &str| {
        place.ok(&["find", "person", "--columns", "name,@id,@updated.author,langs", "--format", format])
    };
    let table = [
        "name          @id      @updated.author  langs",
        "Ada Lovelace  ada      william",
        "Charles       charles  test             {en, fr}",
    ];
    assert_eq!(columns("table").lines().collect::<Vec<_>>(), table);
    assert_eq!(
        place.ok(&["find", "person", "--columns", "name,@id,@updated.author,langs"]),
        columns("table")
    );
    let csv = "name,@id,@updated.author,langs\r\nAda Lovelace,ada,william,\r\n\
               Charles,charles,test,\"{\"\"$set\"\":[\"\"en\"\",\"\"fr\"\"]}\"\r\n";
    assert_eq!(columns("csv"), csv);
    let tsv = "name\t@id\t@updated.author\tlangs\nAda Lovelace\tada\twilliam\t\n\
               Charles\tcharles\ttest\t{\"$set\":[\"en\",\"fr\"]}\n";
    assert_eq!(columns("tsv"), tsv);
    let lines: Vec<Json> = columns("json").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [
        json!({"id": "ada", "updated": {"author": "william"}, "properties": {"name": "Ada Lovelace"}}),
        json!({"id": "charles", "updated": {"author": "test"}, "properties": {"name": "Charles", "langs": {"$set": ["en", "fr"]}}}),
    ];
    assert_eq!(lines, expected);
    assert_eq!(place.json(&["find", "person", "--columns", "name,@id,@updated.author,langs"]), expected);
    // Without columns, JSON is the usual JSON and a table the usual table.
    assert_eq!(place.ok(&["find", "--format", "json"]), place.ok(&["--json", "find"]));
    assert_eq!(place.ok(&["find", "--format", "table"]), place.ok(&["find"]));
}

#[test]
fn csv_without_columns_has_all_properties_and_cursors_stand_elsewhere() {
    let place = Place::with_people();
    let done = place.run(&["find", "person", "--format", "csv", "--limit", "1"]);
    assert_eq!(done.out, "@id,@type,born,name\r\nada,person,1815-12-10,Ada Lovelace\r\n");
    assert!(done.err.starts_with("more: --after "), "{done:?}");
    let after = done.err.trim_start_matches("more: --after ").trim();
    let rest = place.ok(&["find", "person", "--format", "tsv", "--after", after, "--columns", "*,name,@id"]);
    assert_eq!(rest, "langs\tname\t@id\n{\"$set\":[\"en\",\"fr\"]}\tCharles\tcharles\n");
    // The header is there for programs, also without rows.
    let done = place.run(&["find", "person where name = nobody", "--columns", "name", "--format", "csv"]);
    assert_eq!((done.code, done.out.as_str()), (0, "name\r\n"));
    let done = place.run(&["find", "person where name = nobody", "--columns", "name"]);
    assert_eq!((done.out.as_str(), done.err.contains("nothing found")), ("", true));
    // Of then.
    let then = ["find", "person", "--columns", "name", "--at-position", "2", "--format", "tsv"];
    assert_eq!(place.ok(&then).lines().nth(1), Some("Ada"));
}

#[test]
fn every_list_has_columns() {
    let place = Place::with_people();
    let csv = |arguments: &[&str]| place.ok(&[arguments, &["--format", "csv"]].concat());
    assert_eq!(
        csv(&["reach", "ada"]),
        "@distance,@id,@type,langs,name\r\n1,charles,person,\"{\"\"$set\"\":[\"\"en\"\",\"\"fr\"\"]}\",Charles\r\n"
    );
    assert_eq!(csv(&["reach", "ada", "--group-by", "@type"]), "@type,count\r\nperson,1\r\n");
    assert_eq!(csv(&["reach", "ada", "--group-by", "born"]), "born,count\r\n,1\r\n");
    let expected = "@direction,@relationship.@type,@id,@relationship.since\r\nout,knows,charles,1833\r\n";
    assert_eq!(csv(&["neighbors", "ada"]), expected);
    let chosen =
        csv(&["neighbors", "charles", "--columns", "@direction,name,@relationship.@id,@relationship.since"]);
    assert_eq!(
        chosen,
        "@direction,name,@relationship.@id,@relationship.since\r\nin,Ada Lovelace,met,1833\r\n"
    );
    let versions = csv(&["history", "ada", "--columns", "@version,@author,name,@inForce"]);
    assert_eq!(
        versions,
        "@version,@author,name,@inForce\r\n2,william,Ada Lovelace,true\r\n1,test,Ada,false\r\n"
    );
    assert!(csv(&["history", "ada"]).starts_with("@version,@action,@status,@inForce,@position,"));
    let changes = csv(&["log", "ada", "--columns", "@author,@message,@action,@id,@before.name,name"]);
    let expected =
        "@author,@message,@action,@id,@before.name,name\r\nwilliam,married,update,ada,Ada,Ada Lovelace\r\n";
    assert!(changes.starts_with(expected), "{changes}");
    assert!(changes.ends_with(",ada,,Ada\r\n"), "{changes}");
    let whole = place.json(&["log", "ada", "--columns", "@author,@id,name", "--limit", "1"]);
    let change = json!({"id": "ada", "difference": {"properties": {"name": {"before": "Ada", "after": "Ada Lovelace"}}}});
    assert_eq!(whole[0], json!({"author": "william", "changes": [change]}));
    assert_eq!(
        csv(&["find", "--relationships", "knows"]),
        "@id,@from,@type,@to,since\r\nmet,ada,knows,charles,1833\r\n"
    );
}

#[test]
fn items_of_trees_have_columns() {
    let place = Place::new();
    place.write(
        "types.jsonl",
        r#"{"type": {"kind": "entity", "name": "port", "attributes": [{"name": "name", "type": "string", "key": true}]}}
"#,
    );
    place.ok(&["import", "types.jsonl"]);
    place.write("ports.json", r#"{"port": [{"name": "a,b", "mtu": 1500}, {"name": "c"}]}"#);
    place.ok(&["put", "/ports", "ports.json"]);
    let csv = place.ok(&["ls", "/ports/port", "--columns", "@name,@type,mtu", "--format", "csv"]);
    assert_eq!(csv, "@name,@type,mtu\r\n\"port[name = 'a,b']\",port,1500\r\nport[name = 'c'],port,\r\n");
    let found = place.ok(&["ls", "--find", "//port/mtu", "--columns", "@path,@value,mtu", "--format", "tsv"]);
    assert_eq!(found, "@path\t@value\tmtu\n/ports/port[name = 'a,b']/mtu\t1500\t\n");
    assert!(place.ok(&["ls", "/ports/port", "--format", "csv"]).starts_with("@name,@type,mtu,name\r\n"));
}

#[test]
fn what_a_spreadsheet_or_a_terminal_would_obey_is_escaped_where_they_read() {
    let place = strange();
    let find = ["find", "thing", "--columns", "@id,name,n,\"a,b\"", "--format"];
    // A file has exactly the values.
    let csv = place.ok(&[&find[..], &["csv"]].concat());
    let exact = "@id,name,n,\"a,b\"\r\nplain,a,1,true\r\n\"say \"\"x\"\", y\",\"two\r\nlines\tand a tab\",1.50,\r\n\
                 =1+1,\"=HYPERLINK(\"\"http://x\"\")\",-5,\r\n\u{202e}cod.exe,\u{1b}[31mred\u{9b}2J\u{202e},,\r\n";
    assert_eq!(csv, exact);
    let tsv = place.ok(&[&find[..], &["tsv"]].concat());
    assert_eq!(tsv.lines().nth(2), Some("say \"x\", y\ttwo\\r\\nlines\\tand a tab\t1.50\t"));
    let harmless = place.ok(&[&find[..], &["csv", "--spreadsheet"]].concat());
    assert!(harmless.contains("\r\n'=1+1,\"'=HYPERLINK(\"\"http://x\"\")\",-5,\r\n"), "{harmless}");
    let table = place.ok(&find[..find.len() - 1]);
    assert!(table.contains("two\\r\\nlines\\tand a tab") && table.contains("\\u{202e}cod.exe"), "{table}");
    for format in ["table", "csv", "tsv", "json"] {
        let command = place.command(&[&find[..], &[format]].concat());
        let (shown, code) = in_terminal(command, 80);
        assert_eq!(code, 0, "{shown}");
        let is_raw = |one: char| one.is_control() && !"\r\n\t".contains(one) || one == '\u{202e}';
        let shown = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        assert!(!shown.chars().any(is_raw), "{format}: {shown:?}");
    }
}

#[test]
fn a_table_fits_the_terminal_and_has_colours_only_there() {
    let place = strange();
    let find = ["find", "thing", "--columns", "@id,@type,name,n,tags,@createdAt,@createdBy,@version,@status"];
    for columns in [30, 60, 80, 200] {
        let (shown, _) = in_terminal(place.command(&find), columns);
        let (first, rest) = shown.split_once('\n').unwrap();
        let first =
            first.strip_prefix("\u{1b}[1m").and_then(|first| first.strip_suffix("\u{1b}[0m")).unwrap();
        let widths = std::iter::once(first).chain(rest.lines()).map(|line| line.chars().count());
        assert!(widths.max().unwrap() <= usize::from(columns), "{columns}: {shown}");
    }
    let without = place.command(&["find", "thing", "--limit", "1", "--columns", "@id,name"]);
    // The helper removes the variable, so a shell sets it.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "NO_COLOR=1 exec \"$0\" \"$@\""]).arg(without.get_program()).args(without.get_args());
    shell.current_dir(without.get_current_dir().unwrap());
    let (shown, _) = in_terminal(shell, 80);
    assert!(shown.starts_with("@id") && !shown.contains('\u{1b}'), "{shown:?}");
    let (shown, _) = in_terminal(place.command(&["find", "thing", "--limit", "1"]), 80);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn wrong_columns_and_formats_are_refused_and_an_empty_property_gets_a_hint() {
    let place = Place::with_people();
    for (arguments, expected) in [
        (&["find", "--columns", "@udpated.author"][..], "did you mean @updated.author?"),
        (&["find", "--columns", "@from"], "column @from: expected"),
        (&["find", "--columns", "a,,b"], "empty"),
        (&["find", "--columns", "name,name"], "twice"),
        (&["find", "--columns", "\"name"], "quote"),
        (&["find", "--format", "xml"], "invalid value 'xml'"),
        (&["--json", "find", "--format", "csv"], "--format"),
        (&["find", "--spreadsheet"], "--format csv or tsv"),
        (&["find", "--count", "--format", "csv"], "--count"),
        (&["find", "--explain", "--columns", "name"], "--explain"),
        (&["reach", "ada", "--format", "dot", "--columns", "name"], "--columns"),
        (&["reach", "ada", "--group-by", "@type", "--columns", "name"], "--columns"),
        (&["neighbors", "ada", "--count", "--columns", "name"], "--count"),
        (&["neighbors", "ada", "--columns", "@relationship.@form"], "did you mean @from?"),
        (&["history", "ada", "--columns", "@autor"], "did you mean @author?"),
        (&["log", "--columns", "@actoin"], "did you mean @action?"),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.err.contains(expected), "{arguments:?}: {done:?}");
        assert_eq!(done.out, "", "{arguments:?}");
    }
    // No property is unknown where every instance may have any.
    let done = place.run(&["find", "person", "--columns", "@id,nmae,type", "--format", "csv"]);
    assert_eq!((done.code, done.out.as_str()), (0, "@id,nmae,type\r\nada,,\r\ncharles,,\r\n"));
    assert!(
        done.err.contains("hint: column nmae: it is empty in all rows (2); did you mean name?"),
        "{done:?}"
    );
    assert!(
        done.err.contains("hint: column type: it is empty in all rows (2); did you mean @type?"),
        "{done:?}"
    );
}
