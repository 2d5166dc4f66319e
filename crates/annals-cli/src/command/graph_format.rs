//! Graphs on standard output in formats of other programs.

use annals::{Error, ErrorKind};
use annals_exchange::export::{GraphFormat, GraphPart};
use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::stop::Outcome;

/// The format of a graph.
#[derive(Args, Clone, Copy, Debug)]
pub struct GraphFormatArguments {
    /// Write the entities and the relationships between them as a graph for other programs
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<GraphFormatArgument>,
}

/// A graph format of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormatArgument {
    /// GraphML, an XML format
    Graphml,
    /// DOT, which Graphviz draws
    Dot,
}

impl GraphFormatArguments {
    /// The chosen format, if there is one.
    ///
    /// Errors: `InvalidArgument` beside `--json`.
    pub fn of(&self, context: &Context) -> annals::Result<Option<GraphFormatArgument>> {
        if self.format.is_some() && context.output.is_json() {
            let text = "--format: expected no --json beside it, found both; leave one out";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(self.format)
    }
}

impl GraphFormatArgument {
    /// Writes a part of the graph.
    pub fn write<P: GraphPart + ?Sized>(self, part: &P, context: &mut Context) -> Outcome {
        Ok(self.format().write(part, context.output.writer())?)
    }

    fn format(self) -> GraphFormat {
        match self {
            GraphFormatArgument::Graphml => GraphFormat::GraphMl,
            GraphFormatArgument::Dot => GraphFormat::Dot,
        }
    }
}
