//! Self-contained HTML: the page around a body.

const STYLE: &str = include_str!("style.css");
/// Longer words may break.
const WORD_LETTERS_MAX: usize = 16;

/// Text as part of HTML or SVG, also within quotes.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A whole page. It loads nothing from elsewhere.
///
/// Shape: `body` is HTML; `title` is text.
pub fn page(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{plots}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the page</a>\n<main id=\"main\">\n{body}</main>\n</body>\n</html>\n",
        plots = super::plot::STYLE,
    )
}

/// Text whose long words may break: before a capital letter within a name, and after a slash or an underscore.
pub fn breakable(text: &str) -> String {
    let words: Vec<String> = text.split(' ').map(breakable_word).collect();
    words.join(" ")
}

fn breakable_word(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() <= WORD_LETTERS_MAX {
        return escaped(word);
    }
    let mut html = String::new();
    let mut start = 0;
    for place in 1..letters.len() {
        let is_name = letters[place - 1].is_lowercase() && letters[place].is_uppercase();
        if is_name || matches!(letters[place - 1], '/' | '_') {
            html += &escaped(&letters[start..place].iter().collect::<String>());
            html += "<wbr>";
            start = place;
        }
    }
    html + &escaped(&letters[start..].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(escaped("<a href='x'>\"&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;");
        assert!(page("<b>", "<p>x</p>").contains("<title>&lt;b&gt;</title>"));
        let broken = breakable("JanusGraph findEntitiesByValue 3 GiB <B>");
        assert_eq!(broken, "JanusGraph find<wbr>Entities<wbr>By<wbr>Value 3 GiB &lt;B&gt;");
    }

    #[test]
    fn a_page_loads_nothing_from_elsewhere() {
        let page = page("t", "");
        assert!(!page.contains("http") && !page.contains("@import") && !page.contains("url("), "{page}");
    }
}
