//! The first page of a folder of pages.

use super::html::{self, escaped};

/// A page of the folder.
pub struct Entry {
    /// Its file in the folder.
    pub file: String,
    pub title: String,
    /// Its finding.
    pub text: String,
}

/// The page that leads to all others.
pub fn html(entries: &[Entry]) -> String {
    let link = |entry: &Entry| format!("<a href=\"{}\">{}</a>", escaped(&entry.file), escaped(&entry.title));
    let row = |entry: &Entry| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", link(entry), escaped(&entry.text))
    };
    let rows: String = entries.iter().map(row).collect();
    let body = format!(
        "<h1>Annals beside other systems</h1>\n<table>\n<caption>Pages of this folder</caption>\n<thead>\n\
         <tr><th scope=\"col\">page</th><th scope=\"col\">finding</th></tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    );
    html::page("Annals beside other systems", &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_links_every_page_and_shows_its_finding() {
        let entry = Entry { file: "a.html".into(), title: "A & B".into(), text: "x < y".into() };
        let found = html(&[entry]);
        assert!(found.contains("<a href=\"a.html\">A &amp; B</a>") && found.contains("x &lt; y"), "{found}");
    }
}
