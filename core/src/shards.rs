//! A set of shards, as a setting lists it: `0-99, 200`.

use crate::layout::INSTAGRAM;

const BITS: usize = u64::BITS as usize;
/// How many words have a bit for each shard.
pub const WORDS: usize = (INSTAGRAM.node_max() as usize + 1) / BITS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shards([u64; WORDS]);

impl Shards {
    /// Shards and ranges of shards, separated by commas; the item that is neither where one isn't.
    pub fn parse(list: &str) -> Result<Self, &str> {
        let mut words = [0; WORDS];
        for item in list.split(',').map(str::trim) {
            let (first, last) = range(item).ok_or(item)?;
            for shard in first..=last {
                let (word, bit) = place(shard);
                words[word] |= bit;
            }
        }
        Ok(Self(words))
    }

    /// The set as bits; [`place`] says where each shard has its own.
    pub const fn words(&self) -> &[u64; WORDS] {
        &self.0
    }
}

/// The word that has a shard's bit, and the bit.
#[inline]
pub const fn place(shard: u32) -> (usize, u64) {
    (shard as usize / BITS % WORDS, 1 << (shard as usize % BITS))
}

fn range(item: &str) -> Option<(u32, u32)> {
    let (first, last) = item.split_once('-').unwrap_or((item, item));
    let (first, last) = (number(first.trim())?, number(last.trim())?);
    (first <= last && last <= INSTAGRAM.node_max()).then_some((first, last))
}

fn number(text: &str) -> Option<u32> {
    // A sign is no part of it.
    if text.starts_with('+') { None } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn has(shards: &Shards, shard: u32) -> bool {
        let (word, bit) = place(shard);
        shards.words()[word] & bit != 0
    }

    fn list(text: &str) -> Vec<u32> {
        let shards = Shards::parse(text).unwrap();
        (0..=INSTAGRAM.node_max()).filter(|shard| has(&shards, *shard)).collect()
    }

    #[test]
    fn shards_and_ranges() {
        assert_eq!(list("5"), [5]);
        assert_eq!(list("0-3,8191"), [0, 1, 2, 3, 8191]);
        assert_eq!(list(" 62 - 65 , 1,\t1 "), [1, 62, 63, 64, 65]);
        assert_eq!(list("0-8191").len(), 8192);
    }

    #[test]
    fn what_is_no_shard_is_named() {
        for (text, wrong) in [
            ("", ""),
            ("1,", ""),
            ("1,,2", ""),
            ("8192", "8192"),
            ("0-8192", "0-8192"),
            ("3-2", "3-2"),
            ("-1", "-1"),
            ("1-", "1-"),
            ("1-2-3", "1-2-3"),
            ("1, two ,3", "two"),
            ("+1", "+1"),
            ("1 2", "1 2"),
            ("0x1", "0x1"),
            ("99999999999999999999", "99999999999999999999"),
        ] {
            assert_eq!(Shards::parse(text), Err(wrong), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_list_has_what_it_names(ranges in prop::collection::vec((0u32..8192, 0u32..300), 1..20)) {
            let ranges: Vec<_> = ranges.iter().map(|(first, more)| (*first, (first + more).min(8191))).collect();
            let text: Vec<_> = ranges.iter().map(|(first, last)| format!("{first}-{last}")).collect();
            let shards = Shards::parse(&text.join(",")).unwrap();
            for shard in 0..=8191 {
                let named = ranges.iter().any(|(first, last)| (first..=last).contains(&&shard));
                prop_assert_eq!(has(&shards, shard), named, "{}", shard);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9, a+]{0,40}") {
            let _ = Shards::parse(&text);
        }
    }
}
