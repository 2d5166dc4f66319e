//! The size of a run.

use clap::Args;

/// The size of a run.
#[derive(Args, Clone, Copy, Debug)]
pub struct Size {
    /// Small sizes and few rounds: checks that everything runs and answers correctly; the figures mean nothing.
    #[arg(long)]
    pub quick: bool,
    /// Times as many elements.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub scale: u64,
}

impl Size {
    /// A number of elements: `full` normally, `quick` in a quick run, times the scale.
    pub fn elements(&self, full: usize, quick: usize) -> usize {
        self.operations(full, quick) * self.scale as usize
    }

    /// A number of operations, which does not grow with the elements.
    pub fn operations(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// Units: seconds.
    pub fn seconds(&self, full: f64, quick: f64) -> f64 {
        if self.quick { quick } else { full }
    }

    /// The same with ten times the elements.
    pub fn grown(&self) -> Size {
        Size { scale: self.scale * 10, ..*self }
    }
}
