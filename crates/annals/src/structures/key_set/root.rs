//! The root of a key set: nothing, a few keys, or a tree.

use super::leaf::{Few, Leaf, NONE};
use super::node::Node;
use super::run::Run;
use std::sync::Arc;

#[derive(Clone)]
pub(crate) enum Root {
    Empty,
    Few(Arc<Few>),
    Tree(Arc<Node>),
}

/// The root for a reader.
#[derive(Clone, Copy)]
pub(crate) enum Top<'a> {
    Few(&'a Run),
    Tree(&'a Node),
}

impl Root {
    #[inline]
    pub(crate) fn top(&self) -> Top<'_> {
        match self {
            Root::Tree(node) => Top::Tree(node),
            Root::Few(few) => Top::Few(few),
            Root::Empty => Top::Few(&NONE),
        }
    }

    /// The few keys, mutable.
    pub(crate) fn few_mut(&mut self) -> &mut Few {
        if let Root::Empty = self {
            *self = Root::Few(Arc::new(Few::new()));
        }
        match self {
            Root::Few(few) => Arc::make_mut(few),
            Root::Empty | Root::Tree(_) => unreachable!("few keys are no tree"),
        }
    }

    /// The tree, mutable; few keys become a tree.
    pub(crate) fn tree_mut(&mut self) -> &mut Arc<Node> {
        if let Top::Few(few) = self.top() {
            let mut leaf = Leaf::new();
            leaf.append(few);
            *self = Root::Tree(Arc::new(Node::Leaf(leaf)));
        }
        match self {
            Root::Tree(node) => node,
            Root::Empty | Root::Few(_) => unreachable!("made a tree above"),
        }
    }
}
