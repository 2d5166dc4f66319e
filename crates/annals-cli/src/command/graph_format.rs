//! Graphs on standard output in formats of other programs.

use annals::{Error, ErrorKind};
use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::request::Request;
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
        self.format.map(|format| format.without_json(context)).transpose()
    }
}

impl GraphFormatArgument {
    /// The same, if answers are not to be JSON.
    ///
    /// Errors: `InvalidArgument` beside `--json`.
    pub fn without_json(self, context: &Context) -> annals::Result<GraphFormatArgument> {
        if context.output.is_json() {
            let text = "--format: expected no --json beside it, found both; leave one out";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        Ok(self)
    }

    /// Writes the graph that answers a request.
    pub fn print(self, context: &mut Context, request: Request) -> Outcome {
        let name = match self {
            GraphFormatArgument::Graphml => "graphml",
            GraphFormatArgument::Dot => "dot",
        };
        context.ask(request.with("format", name))?.copy_to(context.output.writer())
    }
}
