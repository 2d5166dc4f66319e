//! The page of figures in Markdown: the text around its table.

use super::machine::Machine;

/// The page before its tables: the measurement, the machine, and doubts about the figures.
pub fn head(title: &str, text: &str, machine: &Machine, doubts: &[String]) -> String {
    let facts: String =
        machine.facts.iter().map(|(name, found)| row([*name, found.as_str()]) + "\n").collect();
    let doubts: String = doubts.iter().map(|doubt| format!("- all figures: {doubt}\n")).collect();
    let doubts = if doubts.is_empty() { "Nothing speaks against all figures.\n" } else { &doubts };
    let columns = columns(["what", "found"]);
    format!("# {title}\n\n{text}\n\n## Machine\n\n{columns}\n{facts}\n## Distrust\n\n{doubts}")
}

/// The page after its tables.
pub fn foot(unfair: &[&str]) -> String {
    let unfair: String = unfair.iter().map(|text| format!("- {text}\n")).collect();
    format!(
        "\n## Run it again\n\nIn a checkout of the commit above, on a machine that does nothing else:\n\n```sh\n{}\n\
         ```\n\n## Limits of the comparison\n\n{unfair}",
        command_line(std::env::args().skip(1))
    )
}

/// The first two lines of a table.
pub fn columns<const N: usize>(names: [&str; N]) -> String {
    format!("{}\n{}", row(names), row(["---"; N]))
}

/// A row of a table, with characters of Markdown and HTML escaped.
pub fn row<const N: usize>(cells: [&str; N]) -> String {
    format!("| {} |", cells.map(escaped).join(" | "))
}

/// A cell with characters of Markdown and HTML escaped.
pub fn escaped(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut letters = cell.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_tag = letter == '<' && letters.peek().is_some_and(|next| !" =".contains(*next));
        if letter == '|' || is_tag {
            text.push('\\');
        }
        text.push(if letter == '\n' { ' ' } else { letter });
    }
    text
}

/// The command line with these arguments.
pub fn command_line(arguments: impl Iterator<Item = String>) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:".contains(letter);
    let quoted = |argument: String| {
        if !argument.is_empty() && argument.chars().all(is_plain) {
            argument
        } else {
            format!("'{}'", argument.replace('\'', r"'\''"))
        }
    };
    let arguments: Vec<String> = arguments.map(quoted).collect();
    format!("lab/annals-lab {}", arguments.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_breaks_a_table_or_a_command() {
        assert_eq!(row(["a|b", "c\nd", "e<f> <= g"]), "| a\\|b | c d | e\\<f> <= g |");
        let given = ["limits", "--folder", "it's here", ""].map(String::from);
        assert_eq!(command_line(given.into_iter()), r"lab/annals-lab limits --folder 'it'\''s here' ''");
    }
}
