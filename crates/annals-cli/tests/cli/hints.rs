//! Hints on standard error: why a search found nothing, and what looks like a mistake.

use crate::support::Place;

fn place() -> Place {
    let place = Place::new();
    place.write(
        "n.csv",
        "icao,name,elevation,big:boolean,open:date\nEDDF,Frankfurt,364,true,1936-07-08\nEDDB,Berlin,157,false,2020-10-31\n",
    );
    place.ok(&["import", "n.csv", "--id", "icao", "--type", "airport"]);
    place.write("r.csv", ":START_ID,:TYPE,:END_ID,since:int\nEDDF,route,EDDB,2020\n");
    place.ok(&["import", "r.csv"]);
    place
}

// Each of these said "nothing found", and a user looked for the mistake elsewhere.
#[test]
fn a_search_that_finds_nothing_says_what_is_unknown() {
    let place = place();
    let found = |arguments: &[&str]| {
        let done = place.run(&[&["find"], arguments].concat());
        assert_eq!(done.code, 0, "{done:?}");
        done.err
    };
    for (arguments, hint) in [
        (
            &["airprot"][..],
            "entity type airprot: nothing is of it, and it is not declared; did you mean airport?",
        ),
        (&["nod"], "entity type nod: nothing is of it, and it is not declared; see the declared types"),
        (&["route"], "type route: it is a type of relationships: add --relationships"),
        (
            &["airport", "--relationships"],
            "type airport: it is a type of entities: leave --relationships out",
        ),
        (
            &["airport where namme = Berlin"],
            "property namme: no instance of the searched types has it; did you mean name?",
        ),
        (
            &["airport where big = true and colour = red"],
            "property colour: no instance of the searched types has it; nothing can fulfil the condition",
        ),
        (
            &["airport where elevation > 60"],
            "property elevation: the search compares it with a value of kind integer, and no instance of the searched types has \
             such a value; one has elevation = '364' (text); annals types convert airport elevation integer",
        ),
        (
            &["airport where elevation between 60.5 and 70"],
            "property elevation: the search compares it with a value of kind float, and no instance of the searched types has \
             such a value; one has elevation = '364' (text); annals types convert airport elevation float",
        ),
        (
            &["airport where open > 2030-01-01"],
            "property open: the search compares it with a value of kind text, and no instance of the searched types has such a \
             value; one has open = date('1936-07-08') (date)",
        ),
        (
            &["route where since = '2020'", "--relationships"],
            "property since: the search compares it with a value of kind text, and no instance of the searched types has such a \
             value; one has since = 2020 (integer)",
        ),
    ] {
        let nothing = found(arguments);
        let expected = format!("nothing found\nhint: {hint}\n");
        assert_eq!(nothing, expected, "{arguments:?}");
        let counted = place.run(&[&["find"], arguments, &["--count"]].concat());
        assert_eq!((counted.out.as_str(), counted.err), ("0\n", format!("hint: {hint}\n")), "{arguments:?}");
        // Programs get an empty list.
        let json = place.run(&[&["--json", "find"], arguments].concat());
        assert_eq!((json.out.as_str(), json.err.as_str()), ("", ""), "{arguments:?}");
    }
    for arguments in [
        &["airport where name = Paris"][..],
        &["airport where elevation = '60'"],
        &["airport where namme is null and name = Paris"],
        &["airport where open > date('2030-01-01')"],
        &["airport where not big is not null"],
        &["route where since > 2030", "--relationships"],
        &["@createdAt < 2000-01-01"],
    ] {
        assert_eq!(found(arguments), "nothing found\n", "{arguments:?}");
    }
    let explained = place.ok(&["find", "nod", "--explain"]);
    assert!(explained.contains("hint        entity type nod: "), "{explained}");
    assert_eq!(found(&["airport where name = Berlin"]), "");
}

#[test]
fn searches_of_other_languages_get_a_pointer() {
    let place = place();
    for text in ["MATCH (n:airport) RETURN n", "SELECT * FROM airport", "select name from airport"] {
        let done = place.run(&["find", text]);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(
            done.err.contains("this is not SQL or Cypher; a search is a type, then conditions"),
            "{done:?}"
        );
        assert!(done.err.contains("docs/search.md"), "{done:?}");
        let in_words: Vec<&str> = text.split(' ').collect();
        let done = place.run(&[&["find"], &in_words[..]].concat());
        assert!(done.err.contains("docs/search.md"), "{text}: {done:?}");
    }
    // A type may be called so.
    let done = place.run(&["find", "match where name = x"]);
    assert_eq!((done.code, done.err.contains("SQL")), (0, false), "{done:?}");
    let done = place.run(&["find", "airport where name ="]);
    assert_eq!((done.code, done.err.contains("SQL")), (2, false), "{done:?}");
}

#[test]
fn a_second_link_says_that_there_is_one() {
    let place = place();
    let first = place.run(&["link", "EDDB", "route", "EDDF", "--id", "first"]);
    assert_eq!((first.code, first.err.as_str()), (0, ""), "{first:?}");
    let new = place.run(&["link", "EDDB", "feeds", "EDDF"]);
    assert_eq!((new.code, new.err.as_str()), (0, ""), "{new:?}");
    let second = place.run(&["link", "EDDB", "route", "EDDF", "since=1"]);
    let expected = "hint: EDDB leads to EDDF by route already, as first; this is one more. To change the first: annals set first \
                    --relationship; to take this one away: annals delete ";
    assert!(second.code == 0 && second.err.starts_with(expected), "{second:?}");
    // A chosen id, programs, and the other direction get none.
    for arguments in [
        &["link", "EDDB", "route", "EDDF", "--id", "third"][..],
        &["--json", "link", "EDDB", "route", "EDDF"],
        &["link", "EDDF", "feeds", "EDDB"],
        &["link", "EDDF", "loops", "EDDF"],
    ] {
        assert_eq!(place.run(arguments).err, "", "{arguments:?}");
    }
}
