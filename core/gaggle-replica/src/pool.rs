//! Storage of numbers in blocks of one size. Stores of values use it; freed blocks are used again,
//! so a steady number of blocks allocates nothing. Absent: what the numbers mean.

/// A block of a [`Pool`].
pub(crate) type Block = u32;

/// Blocks of numbers, all of one size.
#[derive(Debug, Clone)]
pub(crate) struct Pool<T = i32> {
    stride: usize,
    words: Vec<T>,
    free: Vec<Block>,
}

impl<T: Copy + Default> Pool<T> {
    pub(crate) fn new(stride: usize) -> Pool<T> {
        Pool { stride, words: Vec::new(), free: Vec::new() }
    }

    /// Allocates a block; its content is arbitrary.
    pub(crate) fn take(&mut self) -> Block {
        if let Some(block) = self.free.pop() {
            return block;
        }
        // Blocks of zero words need no numbers of their own.
        let block = self.words.len() / self.stride.max(1);
        self.words.resize(self.words.len() + self.stride, T::default());
        block as Block
    }

    /// Frees a block for later use.
    pub(crate) fn give(&mut self, block: Block) {
        if self.stride > 0 {
            self.free.push(block);
        }
    }

    /// Copies one block to another.
    pub(crate) fn copy(&mut self, from: Block, to: Block) {
        let from = from as usize * self.stride;
        self.words.copy_within(from..from + self.stride, to as usize * self.stride);
    }

    #[inline]
    pub(crate) fn get(&self, block: Block) -> &[T] {
        &self.words[block as usize * self.stride..][..self.stride]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, block: Block) -> &mut [T] {
        &mut self.words[block as usize * self.stride..][..self.stride]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_blocks_are_used_again() {
        let mut pool: Pool = Pool::new(3);
        let (a, b) = (pool.take(), pool.take());
        pool.get_mut(a).fill(1);
        pool.get_mut(b).fill(2);
        assert_eq!((pool.get(a), pool.get(b)), (&[1; 3][..], &[2; 3][..]));
        pool.give(a);
        assert_eq!(pool.take(), a);
        let mut empty: Pool = Pool::new(0);
        let none = empty.take();
        assert_eq!(empty.get(none), [0; 0]);
    }
}
