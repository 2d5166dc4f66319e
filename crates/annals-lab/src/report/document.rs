//! A page as data: what it says, before any form.

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Heading(String),
    Text(String),
    List(Vec<String>),
    Table(Table),
    Plot(Plot),
    /// Lines for a terminal.
    Code(String),
}

/// A table with one line of heads. The first column names the row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub caption: String,
    pub head: Vec<String>,
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
    /// A state in the place of a figure.
    State,
}

/// A picture as SVG, and the sentence that says what it shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub name: String,
    pub text: String,
    pub svg: String,
}

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub title: String,
    /// What the page found, in a sentence or a few.
    pub finding: Vec<String>,
    pub blocks: Vec<Block>,
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
