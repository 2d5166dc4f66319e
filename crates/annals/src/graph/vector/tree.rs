//! The tree of a vector. Its height is in its type, so that on the way to an element no node is asked what it is, and by how
//! many bits an index is shifted at each level stands in the program.

use std::sync::Arc;

const LEAF_BITS: u32 = 5;
/// Units: elements of a leaf.
pub(super) const LEAF_LEN: usize = 1 << LEAF_BITS;
const FAN_BITS: u32 = 5;
const FAN: usize = 1 << FAN_BITS;

pub(super) type Leaf<T> = [T; LEAF_LEN];

/// Leaves, or branches that are all as high.
trait Node<T>: Clone {
    /// So many low bits tell the elements below a node of this height apart.
    const BITS: u32;

    fn leaf(&self, index: usize) -> &Leaf<T>;

    fn leaf_mut(&mut self, index: usize) -> &mut Leaf<T>;

    /// Puts a leaf below the node at `place`, which is made if it is not there.
    fn put(place: &mut Option<Arc<Self>>, index: usize, leaf: Arc<Leaf<T>>);
}

impl<T: Clone> Node<T> for Leaf<T> {
    const BITS: u32 = LEAF_BITS;

    #[inline(always)]
    fn leaf(&self, _: usize) -> &Leaf<T> {
        self
    }

    #[inline(always)]
    fn leaf_mut(&mut self, _: usize) -> &mut Leaf<T> {
        self
    }

    fn put(place: &mut Option<Arc<Leaf<T>>>, _: usize, leaf: Arc<Leaf<T>>) {
        *place = Some(leaf);
    }
}

#[derive(Clone)]
pub(super) struct Branch<N>([Option<Arc<N>>; FAN]);

impl<N> Branch<N> {
    fn with_first(first: Option<Arc<N>>) -> Branch<N> {
        let mut children = [const { None }; FAN];
        children[0] = first;
        Branch(children)
    }
}

impl<T, N: Node<T>> Node<T> for Branch<N> {
    const BITS: u32 = N::BITS + FAN_BITS;

    #[inline(always)]
    fn leaf(&self, index: usize) -> &Leaf<T> {
        self.0[(index >> N::BITS) % FAN].as_deref().expect(FILLED).leaf(index)
    }

    #[inline(always)]
    fn leaf_mut(&mut self, index: usize) -> &mut Leaf<T> {
        Arc::make_mut(self.0[(index >> N::BITS) % FAN].as_mut().expect(FILLED)).leaf_mut(index)
    }

    fn put(place: &mut Option<Arc<Branch<N>>>, index: usize, leaf: Arc<Leaf<T>>) {
        let node = Arc::make_mut(place.get_or_insert_with(|| Arc::new(Branch::with_first(None))));
        N::put(&mut node.0[(index >> N::BITS) % FAN], index, leaf);
    }
}

type Branch1<T> = Branch<Leaf<T>>;
type Branch2<T> = Branch<Branch1<T>>;
type Branch3<T> = Branch<Branch2<T>>;
type Branch4<T> = Branch<Branch3<T>>;
type Branch5<T> = Branch<Branch4<T>>;
type Branch6<T> = Branch<Branch5<T>>;

/// The leaves of a vector in their order. Room: 2 to the 35 elements, which is more than there are slots.
#[derive(Clone)]
pub(super) enum Tree<T> {
    Height1(Option<Arc<Branch1<T>>>),
    Height2(Option<Arc<Branch2<T>>>),
    Height3(Option<Arc<Branch3<T>>>),
    Height4(Option<Arc<Branch4<T>>>),
    Height5(Option<Arc<Branch5<T>>>),
    Height6(Option<Arc<Branch6<T>>>),
}

macro_rules! at_its_height {
    ($tree:expr, $root:ident => $result:expr) => {
        match $tree {
            Tree::Height1($root) => $result,
            Tree::Height2($root) => $result,
            Tree::Height3($root) => $result,
            Tree::Height4($root) => $result,
            Tree::Height5($root) => $result,
            Tree::Height6($root) => $result,
        }
    };
}

impl<T: Clone> Tree<T> {
    pub(super) fn new() -> Tree<T> {
        Tree::Height1(None)
    }

    /// The leaf of an element that is there.
    #[inline(always)]
    pub(super) fn leaf(&self, index: usize) -> &Leaf<T> {
        at_its_height!(self, root => root.as_deref().expect(FILLED).leaf(index))
    }

    /// The same for changing it. Copies what a clone still shares.
    pub(super) fn leaf_mut(&mut self, index: usize) -> &mut Leaf<T> {
        at_its_height!(self, root => Arc::make_mut(root.as_mut().expect(FILLED)).leaf_mut(index))
    }

    /// Adds a leaf behind all others, whose first element has this index.
    pub(super) fn push(&mut self, index: usize, leaf: Arc<Leaf<T>>) {
        if index >> self.bits() != 0 {
            *self = self.higher();
        }
        at_its_height!(self, root => Node::put(root, index, leaf));
    }

    fn bits(&self) -> u32 {
        fn bits<T, N: Node<T>>(_: &Option<Arc<N>>) -> u32 {
            N::BITS
        }
        at_its_height!(self, root => bits(root))
    }

    fn higher(&self) -> Tree<T> {
        fn above<N>(root: &Option<Arc<N>>) -> Option<Arc<Branch<N>>> {
            Some(Arc::new(Branch::with_first(root.clone())))
        }
        match self {
            Tree::Height1(root) => Tree::Height2(above(root)),
            Tree::Height2(root) => Tree::Height3(above(root)),
            Tree::Height3(root) => Tree::Height4(above(root)),
            Tree::Height4(root) => Tree::Height5(above(root)),
            Tree::Height5(root) => Tree::Height6(above(root)),
            Tree::Height6(_) => panic!("a vector has at most 2 to the 35 elements"),
        }
    }
}

const FILLED: &str = "the tree is filled up to the tail";
