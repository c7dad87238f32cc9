//! Claiming a block of a native sequence's values in one step.
//!
//! Pure: the caller holds the lock of the sequence's page and stores what it is told to.

/// A sequence as its page and its row in the catalog have it. The increment is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub last_value: i64,
    /// Whether `last_value` was drawn; else it is the next one.
    pub is_called: bool,
    pub increment: i64,
    pub min: i64,
    pub max: i64,
}

/// What is left of a block: `left` values from `next` on, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    next: i64,
    step: i64,
    left: u32,
}

impl Block {
    pub const EMPTY: Self = Self { next: 0, step: 1, left: 0 };
}

impl Iterator for Block {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        let value = self.next;
        // What follows the last one may not exist, and is not used.
        self.next = value.wrapping_add(self.step);
        Some(value)
    }
}

impl Sequence {
    /// The next `count` values, at least one, and the last of them; or how many are left if that is
    /// fewer. A sequence ends at its limit, also one that would begin anew there.
    pub fn claim(&self, count: u32) -> Result<(Block, i64), u32> {
        let increment = i128::from(self.increment);
        let first = i128::from(self.last_value) + if self.is_called { increment } else { 0 };
        let room =
            if increment > 0 { i128::from(self.max) - first } else { first - i128::from(self.min) };
        let left = (room.div_euclid(increment.abs()) + 1).max(0);
        if left < i128::from(count) {
            return Err(left as u32);
        }
        let last = first + i128::from(count - 1) * increment;
        Ok((Block { next: first as i64, step: self.increment, left: count }, last as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NEW: Sequence =
        Sequence { last_value: 1, is_called: false, increment: 1, min: 1, max: i64::MAX };

    fn values(sequence: Sequence, count: u32) -> Result<Vec<i64>, u32> {
        sequence.claim(count).map(|(block, last)| {
            let values: Vec<i64> = block.collect();
            assert_eq!(values.last(), Some(&last), "the last value is the block's last");
            values
        })
    }

    #[test]
    fn a_new_sequence_begins_with_its_start() {
        assert_eq!(values(NEW, 3), Ok(vec![1, 2, 3]));
        assert_eq!(values(Sequence { last_value: 7, ..NEW }, 1), Ok(vec![7]));
    }

    #[test]
    fn a_used_sequence_goes_on_after_its_last_value() {
        assert_eq!(values(Sequence { is_called: true, ..NEW }, 3), Ok(vec![2, 3, 4]));
    }

    #[test]
    fn servers_take_turns() {
        let odd = Sequence { increment: 2, ..NEW };
        let even = Sequence { last_value: 2, min: 2, ..odd };
        assert_eq!(values(odd, 3), Ok(vec![1, 3, 5]));
        assert_eq!(values(even, 3), Ok(vec![2, 4, 6]));
    }

    #[test]
    fn the_last_value_of_a_range_is_given_and_none_after_it() {
        let full = Sequence { max: 3, is_called: true, last_value: 3, ..NEW };
        assert_eq!(values(Sequence { max: 3, ..NEW }, 3), Ok(vec![1, 2, 3]));
        assert_eq!(values(Sequence { max: 3, ..NEW }, 4), Err(3));
        assert_eq!(values(full, 1), Err(0));
    }

    #[test]
    fn a_last_step_that_would_pass_the_limit_is_not_taken() {
        let sequence = Sequence { last_value: 8, is_called: true, increment: 3, max: 10, ..NEW };
        assert_eq!(values(sequence, 1), Err(0));
        assert_eq!(values(Sequence { max: 11, ..sequence }, 1), Ok(vec![11]));
    }

    #[test]
    fn the_ends_of_bigint_do_not_wrap() {
        let top = Sequence { last_value: i64::MAX - 1, is_called: true, ..NEW };
        assert_eq!(values(top, 1), Ok(vec![i64::MAX]));
        assert_eq!(values(top, 2), Err(1));
        assert_eq!(values(Sequence { increment: i64::MAX, ..top }, 1), Err(0));
        let bottom = Sequence {
            last_value: i64::MIN + 1,
            is_called: true,
            increment: -1,
            min: i64::MIN,
            max: -1,
        };
        assert_eq!(values(bottom, 1), Ok(vec![i64::MIN]));
        assert_eq!(values(bottom, 2), Err(1));
        assert_eq!(values(Sequence { increment: i64::MIN, ..bottom }, 1), Err(0));
    }

    #[test]
    fn a_descending_sequence_descends() {
        let sequence =
            Sequence { last_value: -1, is_called: true, increment: -2, min: -7, max: -1 };
        assert_eq!(values(sequence, 3), Ok(vec![-3, -5, -7]));
        assert_eq!(values(sequence, 4), Err(3));
    }

    #[test]
    fn an_empty_block_has_nothing() {
        assert_eq!(Block::EMPTY.count(), 0);
    }

    proptest! {
        /// Blocks are what as many single draws would give, each following PostgreSQL's rule: the
        /// next value exists if it does not pass the limit.
        #[test]
        fn a_block_is_that_many_single_draws(
            last_value in any::<i64>(),
            is_called: bool,
            increment in prop_oneof![-5i64..=-1, 1i64..=5, any::<i64>().prop_filter("0", |n| *n != 0)],
            room in 0u64..40,
            count in 1u32..20,
        ) {
            let min = last_value.saturating_sub_unsigned(room);
            let max = last_value.saturating_add_unsigned(room);
            let mut one = Sequence { last_value, is_called, increment, min, max };
            let mut singly = Vec::new();
            while singly.len() < count as usize {
                let next = if one.is_called { one.last_value.checked_add(increment) } else { Some(last_value) };
                let Some(next) = next.filter(|next| (min..=max).contains(next)) else { break };
                singly.push(next);
                one = Sequence { last_value: next, is_called: true, ..one };
            }
            let whole = Sequence { last_value, is_called, increment, min, max };
            let expected = if singly.len() == count as usize { Ok(singly) } else { Err(singly.len() as u32) };
            prop_assert_eq!(values(whole, count), expected);
        }
    }
}
