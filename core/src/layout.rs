//! Bit layouts: `time | node | sequence`, high to low, in one 64-bit word.
//!
//! The time is the number of whole milliseconds elapsed since an epoch. All 64 bits are read as
//! unsigned, so an id whose sign bit is set still decodes; only ids below 2^63 are composed for
//! users, because a negative bigint would sort before all the others.

/// Widths of the two low fields; the time takes all the bits above them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    node_bits: u32,
    sequence_bits: u32,
}

/// The fields of an id: milliseconds since the epoch, shard or worker, and sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    pub elapsed: u64,
    pub node: u32,
    pub sequence: u32,
}

/// Instagram, "Sharding & IDs at Instagram" (2012): 41 bits of time, 13 of logical shard, 10 of
/// sequence. 41 + 13 + 10 = 64, so the topmost bit of the time is the sign.
pub const INSTAGRAM: Layout = Layout { node_bits: 13, sequence_bits: 10 };

/// Twitter's Snowflake (2010): a zero sign bit, 41 bits of time, 5 of datacenter and 5 of worker
/// (here one node of 10 bits, see [`twitter_node`]), 12 of sequence.
pub const TWITTER: Layout = Layout { node_bits: 10, sequence_bits: 12 };

/// Twitter's datacenter and worker numbers run from 0 to this.
pub const TWITTER_PART_MAX: u32 = 31;
const TWITTER_PART_BITS: u32 = 5;

/// The node of the Twitter layout for a datacenter and a worker, each at most [`TWITTER_PART_MAX`].
#[inline]
pub const fn twitter_node(datacenter: u32, worker: u32) -> u32 {
    datacenter << TWITTER_PART_BITS | worker
}

/// The (datacenter, worker) of a node of the Twitter layout.
#[inline]
pub const fn twitter_parts(node: u32) -> (u32, u32) {
    (node >> TWITTER_PART_BITS, node & TWITTER_PART_MAX)
}

impl Layout {
    /// The greatest node: 8191 shards, 1023 workers.
    #[inline]
    pub const fn node_max(self) -> u32 {
        (1 << self.node_bits) - 1
    }

    /// The greatest sequence: 1023 or 4095.
    #[inline]
    pub const fn sequence_max(self) -> u32 {
        (1 << self.sequence_bits) - 1
    }

    /// The last millisecond after the epoch whose ids are positive: 2^40 - 1 for Instagram's layout
    /// (34.8 years), 2^41 - 1 for Twitter's (69.7 years).
    #[inline]
    pub const fn elapsed_max(self) -> u64 {
        i64::MAX as u64 >> self.time_shift()
    }

    /// Puts the fields together. Fields wider than the layout would spill into their neighbours:
    /// the caller has checked them.
    #[inline]
    pub const fn pack(self, fields: Fields) -> u64 {
        fields.elapsed << self.time_shift()
            | (fields.node as u64) << self.sequence_bits
            | fields.sequence as u64
    }

    /// Milliseconds since the epoch.
    #[inline]
    pub const fn elapsed(self, id: u64) -> u64 {
        id >> self.time_shift()
    }

    /// Shard, or datacenter and worker.
    #[inline]
    pub const fn node(self, id: u64) -> u32 {
        (id >> self.sequence_bits) as u32 & self.node_max()
    }

    /// Number within the millisecond and node.
    #[inline]
    pub const fn sequence(self, id: u64) -> u32 {
        id as u32 & self.sequence_max()
    }

    const fn time_shift(self) -> u32 {
        self.node_bits + self.sequence_bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unpack(layout: Layout, id: u64) -> Fields {
        Fields { elapsed: layout.elapsed(id), node: layout.node(id), sequence: layout.sequence(id) }
    }

    #[test]
    fn limits_are_those_of_the_published_layouts() {
        assert_eq!((INSTAGRAM.node_max(), INSTAGRAM.sequence_max()), (8191, 1023));
        assert_eq!((TWITTER.node_max(), TWITTER.sequence_max()), (1023, 4095));
        assert_eq!(INSTAGRAM.elapsed_max(), (1 << 40) - 1);
        assert_eq!(TWITTER.elapsed_max(), (1 << 41) - 1);
    }

    #[test]
    fn last_positive_millisecond_packs_to_the_greatest_bigint() {
        for layout in [INSTAGRAM, TWITTER] {
            let last = Fields {
                elapsed: layout.elapsed_max(),
                node: layout.node_max(),
                sequence: layout.sequence_max(),
            };
            assert_eq!(layout.pack(last), i64::MAX as u64);
            let next = Fields { elapsed: last.elapsed + 1, node: 0, sequence: 0 };
            assert_eq!(layout.pack(next), i64::MIN as u64);
        }
    }

    #[test]
    fn datacenter_and_worker_share_the_node() {
        assert_eq!(twitter_node(31, 31), TWITTER.node_max());
        for node in 0..=TWITTER.node_max() {
            let (datacenter, worker) = twitter_parts(node);
            assert_eq!(twitter_node(datacenter, worker), node);
        }
    }

    proptest! {
        #[test]
        fn unpack_undoes_pack_over_all_bits_of_the_time(
            elapsed in 0u64..1 << 41, node: u32, sequence: u32,
        ) {
            for layout in [INSTAGRAM, TWITTER] {
                let fields = Fields {
                    elapsed,
                    node: node & layout.node_max(),
                    sequence: sequence & layout.sequence_max(),
                };
                prop_assert_eq!(unpack(layout, layout.pack(fields)), fields);
            }
        }

        #[test]
        fn pack_undoes_unpack_for_every_bigint(id: i64) {
            for layout in [INSTAGRAM, TWITTER] {
                prop_assert_eq!(layout.pack(unpack(layout, id as u64)), id as u64);
            }
        }
    }
}
