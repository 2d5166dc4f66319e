//! The tree of a vector. Its height is in its type. So a look-up does not check the kind of a node, and the shift at
//! each level is a constant.

use std::sync::Arc;

const LEAF_BITS: u32 = 5;
/// Units: elements of a leaf.
pub(crate) const LEAF_LEN: usize = 1 << LEAF_BITS;
const FAN_BITS: u32 = 5;
const FAN: usize = 1 << FAN_BITS;

pub(crate) type Leaf<T> = [T; LEAF_LEN];

/// Leaves, or branches of equal height.
trait Node<T>: Clone {
    /// Number of low bits that distinguish the elements below a node of this height.
    const BITS: u32;

    fn leaf(&self, index: usize) -> &Leaf<T>;

    fn leaf_mut(&mut self, index: usize) -> &mut Leaf<T>;

    /// Inserts a leaf below the node at `place`, which is created if it is missing.
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
pub(crate) struct VectorBranch<N>([Option<Arc<N>>; FAN]);

impl<N> VectorBranch<N> {
    fn with_first(first: Option<Arc<N>>) -> VectorBranch<N> {
        let mut children = [const { None }; FAN];
        children[0] = first;
        VectorBranch(children)
    }
}

impl<T, N: Node<T>> Node<T> for VectorBranch<N> {
    const BITS: u32 = N::BITS + FAN_BITS;

    #[inline(always)]
    fn leaf(&self, index: usize) -> &Leaf<T> {
        self.0[(index >> N::BITS) % FAN].as_deref().expect(FILLED).leaf(index)
    }

    #[inline(always)]
    fn leaf_mut(&mut self, index: usize) -> &mut Leaf<T> {
        Arc::make_mut(self.0[(index >> N::BITS) % FAN].as_mut().expect(FILLED)).leaf_mut(index)
    }

    fn put(place: &mut Option<Arc<VectorBranch<N>>>, index: usize, leaf: Arc<Leaf<T>>) {
        let node = place.get_or_insert_with(|| Arc::new(VectorBranch::with_first(None)));
        put_below(Arc::make_mut(node), index, leaf);
    }
}

fn put_below<T, N: Node<T>>(branch: &mut VectorBranch<N>, index: usize, leaf: Arc<Leaf<T>>) {
    N::put(&mut branch.0[(index >> N::BITS) % FAN], index, leaf);
}

type Branch1<T> = VectorBranch<Leaf<T>>;
type Branch2<T> = VectorBranch<Branch1<T>>;
type Branch3<T> = VectorBranch<Branch2<T>>;
type Branch4<T> = VectorBranch<Branch3<T>>;
type Branch5<T> = VectorBranch<Branch4<T>>;
type Branch6<T> = VectorBranch<Branch5<T>>;

/// The leaves of a vector in order. Room: 2 to the 35 elements, more than there are slots.
#[derive(Clone)]
pub(crate) enum Tree<T> {
    Empty,
    Height1(Arc<Branch1<T>>),
    Height2(Arc<Branch2<T>>),
    Height3(Arc<Branch3<T>>),
    Height4(Arc<Branch4<T>>),
    Height5(Arc<Branch5<T>>),
    Height6(Arc<Branch6<T>>),
}

macro_rules! at_its_height {
    ($tree:expr, $root:ident => $result:expr, empty => $of_empty:expr) => {
        match $tree {
            Tree::Empty => $of_empty,
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
    pub(crate) fn new() -> Tree<T> {
        Tree::Empty
    }

    /// The leaf of an existing element.
    #[inline(always)]
    pub(crate) fn leaf(&self, index: usize) -> &Leaf<T> {
        at_its_height!(self, root => root.leaf(index), empty => panic!("{FILLED}"))
    }

    /// The same, mutable. Copies what a clone still shares.
    pub(crate) fn leaf_mut(&mut self, index: usize) -> &mut Leaf<T> {
        at_its_height!(self, root => Arc::make_mut(root).leaf_mut(index), empty => panic!("{FILLED}"))
    }

    /// Adds a leaf after all others; its first element has this index.
    pub(crate) fn push(&mut self, index: usize, leaf: Arc<Leaf<T>>) {
        if self.bits().is_none_or(|bits| index >> bits != 0) {
            *self = self.higher();
        }
        at_its_height!(
            self, root => put_below(Arc::make_mut(root), index, leaf), empty => unreachable!("it was made higher")
        );
    }

    // Number of low bits that distinguish all its elements; `None` for an empty one.
    fn bits(&self) -> Option<u32> {
        fn bits<T, N: Node<T>>(_: &Arc<N>) -> u32 {
            N::BITS
        }
        at_its_height!(self, root => Some(bits(root)), empty => None)
    }

    fn higher(&self) -> Tree<T> {
        fn above<N>(root: &Arc<N>) -> Arc<VectorBranch<N>> {
            Arc::new(VectorBranch::with_first(Some(Arc::clone(root))))
        }
        match self {
            Tree::Empty => Tree::Height1(Arc::new(VectorBranch::with_first(None))),
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
