//! Drawing a block of ids.

use super::generator::Generator;
use crate::error::Error;
use snowid_core::step::Claim;

/// A block of ids on its way out. Each atomic step claims as much of a millisecond as is free and wanted;
/// no further millisecond is claimed before the caller has come to it, so that the ids carry the
/// time at which they were made, and a query that stops early leaves little unused.
#[derive(Clone, Copy)]
pub struct Series {
    generator: Generator,
    /// Ids not yet claimed.
    unclaimed: u32,
    /// What is left of the last claim.
    claim: Claim,
}

impl Series {
    pub fn new(generator: Generator, count: u32) -> Self {
        let claim = Claim { ms: 0, first: 0, count: 0, clock_regressed: false };
        Self { generator, unclaimed: count, claim }
    }

    /// The next id of the block.
    #[inline]
    pub fn next(&mut self) -> Result<Option<i64>, Error> {
        if self.claim.count == 0 {
            if self.unclaimed == 0 {
                return Ok(None);
            }
            self.claim = self.generator.claim(self.unclaimed)?;
            self.unclaimed -= self.claim.count;
        }
        let id = self.generator.compose(self.claim.ms, self.claim.first);
        self.claim.first += 1;
        self.claim.count -= 1;
        Ok(Some(id))
    }
}
