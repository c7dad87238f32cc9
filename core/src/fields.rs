//! Layouts given as data: a time in any unit, then named fields, high to low, in one 64-bit word.
//!
//! The time is always the highest field and each field follows the one before, so that fields can
//! neither overlap nor leave a gap. Bits above the time are 0 in every id of the layout. As in
//! [`crate::layout`], all 64 bits are read as unsigned, and only ids below 2^63 are composed.

use crate::instant::{BadEpoch, Epoch, PgMicros, UnixMs, finite, unix_ms};

/// The name of the time in what is decoded: no field can have it.
pub const TIME: &str = "created_at";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    bits: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    epoch: PgMicros,
    /// The unit of time in microseconds.
    unit: i64,
    time_bits: u32,
    fields: Vec<Field>,
}

/// Why something is no layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadLayout {
    Epoch(BadEpoch),
    /// A unit of time of no or negative length.
    Unit,
    TimeBits(i32),
    Lengths {
        names: usize,
        widths: usize,
    },
    NullField,
    EmptyName,
    /// A field that is named as the time is.
    TimeName,
    RepeatedName(String),
    Width {
        name: String,
        bits: i32,
    },
    TooWide {
        bits: u64,
    },
}

impl Field {
    /// The greatest value.
    pub fn max(&self) -> u64 {
        ones(self.bits)
    }
}

impl FieldLayout {
    /// A layout of a time of `time_bits` bits, counted in units of `unit` microseconds from
    /// `epoch`, and of fields from high to low. What comes from arrays may be NULL there.
    pub fn new(
        epoch: PgMicros,
        unit: i64,
        time_bits: i32,
        names: Vec<Option<String>>,
        widths: Vec<Option<i32>>,
    ) -> Result<Self, BadLayout> {
        Epoch::new(epoch).map_err(BadLayout::Epoch)?;
        if unit < 1 {
            return Err(BadLayout::Unit);
        }
        if time_bits < 1 {
            return Err(BadLayout::TimeBits(time_bits));
        }
        if names.len() != widths.len() {
            return Err(BadLayout::Lengths { names: names.len(), widths: widths.len() });
        }
        let mut fields: Vec<Field> = Vec::with_capacity(names.len());
        let mut total = time_bits as u64;
        for (name, bits) in names.into_iter().zip(widths) {
            let (Some(name), Some(bits)) = (name, bits) else { return Err(BadLayout::NullField) };
            if name.is_empty() {
                return Err(BadLayout::EmptyName);
            } else if name == TIME {
                return Err(BadLayout::TimeName);
            } else if bits < 1 {
                return Err(BadLayout::Width { name, bits });
            }
            total += bits as u64;
            fields.push(Field { name, bits: bits as u32 });
        }
        if total > 64 {
            return Err(BadLayout::TooWide { bits: total });
        }
        // Only now, since there may have been any number of them.
        for (n, field) in fields.iter().enumerate() {
            if fields[..n].iter().any(|before| before.name == field.name) {
                return Err(BadLayout::RepeatedName(field.name.clone()));
            }
        }
        Ok(Self { epoch, unit, time_bits: time_bits as u32, fields })
    }

    pub fn epoch(&self) -> UnixMs {
        unix_ms(self.epoch)
    }

    /// From high to low.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Bits that the layout uses: 1 to 64.
    pub fn bits(&self) -> u32 {
        self.time_bits + self.time_shift()
    }

    /// Whether a word can be an id of this layout: it has no bit above the time.
    pub fn holds(&self, id: u64) -> bool {
        id & !ones(self.bits()) == 0
    }

    /// The instant that an id carries, the first of its unit; None where timestamptz ends.
    pub fn instant(&self, id: u64) -> Option<PgMicros> {
        self.start((id >> self.time_shift()) & ones(self.time_bits))
    }

    /// The values of the fields, from high to low.
    pub fn values(&self, id: u64) -> impl Iterator<Item = (&Field, u64)> {
        let mut shift = self.time_shift();
        self.fields.iter().map(move |field| {
            shift -= field.bits;
            (field, (id >> shift) & field.max())
        })
    }

    /// Whole units from the epoch to a finite instant, negative before it.
    pub fn elapsed(&self, instant: PgMicros) -> i128 {
        (i128::from(instant) - i128::from(self.epoch)).div_euclid(i128::from(self.unit))
    }

    /// The last unit after the epoch whose ids are positive.
    pub fn elapsed_max(&self) -> u64 {
        ones(self.time_bits).min(i64::MAX as u64 >> self.time_shift())
    }

    /// The first instant of the unit so many after the epoch; None where timestamptz ends.
    pub fn start(&self, elapsed: u64) -> Option<PgMicros> {
        // Below 2^64 * 2^63, which i128 holds.
        let micros = i128::from(self.epoch) + i128::from(elapsed) * i128::from(self.unit);
        i64::try_from(micros).ok().and_then(finite)
    }

    /// Puts an id together. The caller has checked that the time is at most
    /// [`Self::elapsed_max`] and each value, from high to low, at most its field's.
    pub fn pack(&self, elapsed: u64, values: impl IntoIterator<Item = u64>) -> u64 {
        let mut shift = self.time_shift();
        let time = elapsed << shift;
        self.fields.iter().zip(values).fold(time, |id, (field, value)| {
            shift -= field.bits;
            id | value << shift
        })
    }

    /// The bits below the time: at most 63, since the time has one or more.
    fn time_shift(&self) -> u32 {
        self.fields.iter().map(|field| field.bits).sum()
    }
}

/// A word of so many ones, 1 to 64, from the lowest bit on.
const fn ones(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instant::{INFINITY, MINUS_INFINITY};
    use crate::layout::{Fields, INSTAGRAM};
    use proptest::prelude::*;

    fn layout(unit: i64, time_bits: i32, widths: &[i32]) -> Result<FieldLayout, BadLayout> {
        let names = (0..widths.len()).map(|n| Some(format!("f{n}"))).collect();
        FieldLayout::new(0, unit, time_bits, names, widths.iter().copied().map(Some).collect())
    }

    fn named(names: &[Option<&str>], widths: &[Option<i32>]) -> Result<FieldLayout, BadLayout> {
        let names = names.iter().map(|name| name.map(str::to_string)).collect();
        FieldLayout::new(0, 1000, 41, names, widths.to_vec())
    }

    #[test]
    fn fields_that_are_too_wide_or_too_narrow_are_refused() {
        assert!(layout(1000, 41, &[13, 10]).is_ok());
        assert_eq!(layout(1000, 41, &[13, 11]), Err(BadLayout::TooWide { bits: 65 }));
        assert_eq!(layout(1000, 65, &[]), Err(BadLayout::TooWide { bits: 65 }));
        assert_eq!(
            layout(1000, i32::MAX, &[i32::MAX, i32::MAX]),
            Err(BadLayout::TooWide { bits: 3 * (i32::MAX as u64) })
        );
        let narrow = |name: &str, bits| Err(BadLayout::Width { name: name.into(), bits });
        assert_eq!(layout(1000, 41, &[13, 0]), narrow("f1", 0));
        assert_eq!(layout(1000, 41, &[i32::MIN]), narrow("f0", i32::MIN));
        assert_eq!(layout(1000, 0, &[]), Err(BadLayout::TimeBits(0)));
        assert_eq!(layout(1000, -1, &[]), Err(BadLayout::TimeBits(-1)));
    }

    #[test]
    fn a_layout_has_what_it_was_made_of() {
        let epoch = 1_000_000; // a second after 2000-01-01
        let names = vec![Some("node".into()), Some("count".into())];
        let layout = FieldLayout::new(epoch, 1000, 41, names, vec![Some(10), Some(12)]).unwrap();
        assert_eq!(layout.epoch(), 946_684_801_000);
        let fields: Vec<_> = layout.fields().iter().map(|f| (f.name.as_str(), f.max())).collect();
        assert_eq!(fields, [("node", 1023), ("count", 4095)]);
    }

    #[test]
    fn a_unit_of_time_has_a_length() {
        assert!(layout(1, 41, &[]).is_ok());
        assert_eq!(layout(0, 41, &[]), Err(BadLayout::Unit));
        assert_eq!(layout(-1000, 41, &[]), Err(BadLayout::Unit));
    }

    #[test]
    fn an_epoch_is_finite_and_a_whole_millisecond() {
        for (epoch, why) in [
            (INFINITY, BadEpoch::Infinite),
            (MINUS_INFINITY, BadEpoch::Infinite),
            (1, BadEpoch::Fraction),
        ] {
            let bad = FieldLayout::new(epoch, 1000, 41, vec![], vec![]);
            assert_eq!(bad, Err(BadLayout::Epoch(why)));
        }
    }

    #[test]
    fn each_field_has_a_name_of_its_own_and_a_width() {
        assert!(named(&[Some("a"), Some("A")], &[Some(1), Some(1)]).is_ok());
        assert_eq!(
            named(&[Some("a"), Some("b")], &[Some(1)]),
            Err(BadLayout::Lengths { names: 2, widths: 1 })
        );
        assert_eq!(named(&[None], &[Some(1)]), Err(BadLayout::NullField));
        assert_eq!(named(&[Some("a")], &[None]), Err(BadLayout::NullField));
        assert_eq!(named(&[Some("")], &[Some(1)]), Err(BadLayout::EmptyName));
        assert_eq!(named(&[Some("created_at")], &[Some(1)]), Err(BadLayout::TimeName));
        assert_eq!(
            named(&[Some("a"), Some("b"), Some("a")], &[Some(1), Some(1), Some(1)]),
            Err(BadLayout::RepeatedName("a".into()))
        );
    }

    #[test]
    fn any_number_of_fields_is_refused_at_once() {
        let count = 200_000;
        let names = (0..count).map(|n| Some(n.to_string())).collect();
        let layout = FieldLayout::new(0, 1000, 41, names, vec![Some(1); count]);
        assert_eq!(layout, Err(BadLayout::TooWide { bits: 200_041 }));
        let same = FieldLayout::new(0, 1000, 41, vec![Some("a".into()); 24], vec![Some(1); 24]);
        assert_eq!(same, Err(BadLayout::TooWide { bits: 65 }));
    }

    #[test]
    fn the_last_id_that_is_composed_is_the_last_positive_one() {
        // 64 bits: half of the time has the sign bit.
        let full = layout(1000, 41, &[13, 10]).unwrap();
        assert_eq!(full.elapsed_max(), (1 << 40) - 1);
        assert_eq!(full.pack(full.elapsed_max(), [8191, 1023]), i64::MAX as u64);
        // 63 bits: all of it.
        let signed = layout(1000, 41, &[10, 12]).unwrap();
        assert_eq!(signed.elapsed_max(), (1 << 41) - 1);
        assert_eq!(signed.pack(signed.elapsed_max(), [1023, 4095]), i64::MAX as u64);
        // The extremes of a time.
        assert_eq!(layout(1000, 64, &[]).unwrap().elapsed_max(), i64::MAX as u64);
        assert_eq!(layout(1000, 1, &[63]).unwrap().elapsed_max(), 0);
        assert_eq!(layout(1000, 1, &[]).unwrap().elapsed_max(), 1);
    }

    #[test]
    fn bits_above_the_time_are_not_of_the_layout() {
        let signed = layout(1000, 41, &[10, 12]).unwrap();
        assert!(signed.holds(i64::MAX as u64) && !signed.holds(1 << 63));
        let full = layout(1000, 42, &[10, 12]).unwrap();
        assert!(full.holds(u64::MAX));
        let narrow = layout(1000, 1, &[]).unwrap();
        assert!(narrow.holds(1) && !narrow.holds(2));
    }

    #[test]
    fn an_instant_within_a_unit_is_of_that_unit() {
        let ten_ms = layout(10_000, 39, &[8, 16]).unwrap();
        assert_eq!(ten_ms.elapsed(0), 0);
        assert_eq!(ten_ms.elapsed(9_999), 0);
        assert_eq!(ten_ms.elapsed(10_000), 1);
        assert_eq!(ten_ms.elapsed(-1), -1);
        assert_eq!(ten_ms.start(1), Some(10_000));
    }

    #[test]
    fn timestamptz_ends_before_the_ids_do() {
        let coarse = layout(i64::MAX, 64, &[]).unwrap();
        assert_eq!(coarse.instant(0), Some(0));
        assert_eq!(coarse.instant(1), None);
        assert_eq!(coarse.instant(u64::MAX), None);
        let first = -211_813_488_000_000_000; // 4714-11-24 BC
        let fine = FieldLayout::new(first, 1, 64, vec![], vec![]).unwrap();
        assert_eq!(fine.elapsed(9_223_371_331_199_999_999), 9_435_184_819_199_999_999);
        assert_eq!(fine.start(9_435_184_819_199_999_999), Some(9_223_371_331_199_999_999));
        assert_eq!(fine.start(9_435_184_819_200_000_000), None);
    }

    /// A layout of up to 64 bits.
    fn any_layout() -> impl Strategy<Value = FieldLayout> {
        let widths = proptest::collection::vec(1i32..=21, 0..=3);
        (1i64..=10_000_000, 1i32..=64, widths).prop_map(|(unit, time_bits, widths)| {
            let time_bits = time_bits.min(64 - widths.iter().sum::<i32>());
            layout(unit, time_bits, &widths).unwrap()
        })
    }

    proptest! {
        #[test]
        fn pack_undoes_decoding_for_every_id(layout in any_layout(), id: u64) {
            let id = id & ones(layout.bits());
            let elapsed = id >> layout.time_shift();
            let values: Vec<u64> = layout.values(id).map(|(_, value)| value).collect();
            prop_assert_eq!(layout.pack(elapsed, values), id);
            if let Some(instant) = layout.instant(id) {
                prop_assert_eq!(layout.elapsed(instant), i128::from(elapsed));
            }
        }

        #[test]
        fn the_same_bits_as_in_the_fixed_layout(elapsed in 0u64..1 << 40, node in 0u32..8192, sequence in 0u32..1024) {
            let same = layout(1000, 41, &[13, 10]).unwrap();
            let id = INSTAGRAM.pack(Fields { elapsed, node, sequence });
            prop_assert_eq!(same.pack(elapsed, [node.into(), sequence.into()]), id);
        }
    }
}
