//! A page as data: what it says, before any form.

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Heading(String),
    /// A heading below another one.
    Subheading(String),
    Text(String),
    List(Vec<String>),
    Table(Table),
    Plot(Plot),
    /// Lines for a terminal.
    Code(String),
}

/// A table with one line of heads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub caption: String,
    pub head: Vec<String>,
    /// So many of the first columns name the row; 0 is as 1.
    pub row_heads: usize,
    pub rows: Vec<Vec<Cell>>,
}

/// A cell: its text, and what it means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    pub text: String,
    pub mark: Mark,
}

/// The meaning of a cell, which is shown by a colour beside the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    #[default]
    None,
    Better,
    Worse,
    /// A state instead of a figure.
    State,
}

/// A picture as SVG, and the sentence that says what it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub name: String,
    pub text: String,
    pub svg: String,
    /// The figures that it leaves out, and why.
    pub notes: Vec<String>,
}

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub title: String,
    /// The finding of the page, in one or a few sentences.
    pub finding: Vec<String>,
    pub blocks: Vec<Block>,
}

impl Table {
    /// A table whose first column names the row.
    pub fn new<'h>(
        caption: impl Into<String>,
        head: impl IntoIterator<Item = &'h str>,
        rows: Vec<Vec<Cell>>,
    ) -> Table {
        let head = head.into_iter().map(str::to_owned).collect();
        Table { caption: caption.into(), head, row_heads: 1, rows }
    }
}

impl Block {
    /// The cells of a table; none of other blocks.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        let rows = if let Block::Table(table) = self { table.rows.as_slice() } else { &[] };
        rows.iter().flatten()
    }
}

impl Document {
    /// Adds a part of the page under a heading.
    pub fn section(&mut self, heading: &str, blocks: impl IntoIterator<Item = Block>) {
        let mut blocks = blocks.into_iter().peekable();
        if blocks.peek().is_some() {
            self.blocks.push(Block::Heading(heading.to_owned()));
            self.blocks.extend(blocks);
        }
    }
}

impl Document {
    /// The plot of this name.
    pub fn plot(&self, name: &str) -> Option<&Plot> {
        self.blocks.iter().find_map(|block| match block {
            Block::Plot(plot) if plot.name == name => Some(plot),
            _ => None,
        })
    }

    /// Drops all plots but those of these names, and headings that have nothing left.
    pub fn keep_plots(&mut self, names: &[String]) {
        self.blocks.retain(|block| match block {
            Block::Plot(plot) => names.contains(&plot.name),
            _ => true,
        });
        let is_heading = |block: &Block| matches!(block, Block::Heading(_));
        let ends = |next: Option<&Block>| next.is_none_or(is_heading);
        let kept = (0..self.blocks.len())
            .filter(|at| !(is_heading(&self.blocks[*at]) && ends(self.blocks.get(at + 1))))
            .map(|at| self.blocks[at].clone());
        self.blocks = kept.collect();
    }
}

impl Cell {
    /// A cell without a meaning of its own.
    pub fn plain(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), mark: Mark::None }
    }

    /// A cell with a meaning.
    pub fn marked(text: impl Into<String>, mark: Mark) -> Cell {
        Cell { text: text.into(), mark }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_its_plots_has_no_empty_heading() {
        let plot = |name: &str| {
            let plot =
                Plot { name: name.into(), text: String::new(), svg: "<svg/>".into(), notes: Vec::new() };
            Block::Plot(plot)
        };
        let heading = |text: &str| Block::Heading(text.into());
        let blocks = vec![heading("Plots"), plot("a"), plot("b"), heading("Cost"), Block::Text("low".into())];
        let mut page = Document { blocks: blocks.clone(), ..Document::default() };
        page.keep_plots(&["b".into()]);
        assert_eq!(page.blocks, [&blocks[..1], &blocks[2..]].concat());
        page.keep_plots(&[]);
        assert_eq!(page.blocks, blocks[3..]);
    }
}
