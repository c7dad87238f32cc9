//! Ids of any layout that a row of snowid.layouts describes. Pure: the row is an argument.

use super::args::{GuardedArgs, Row, ServerText};
use super::checks;
use super::compose;
use crate::error::{Error, LayoutError, shown};
use pgrx::datum::{
    Array, FromDatum, Interval, IntoDatum, JsonB, TimestampWithTimeZone, UnboxDatum,
};
use pgrx::pg_sys::Datum;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use snowid_core::fields::{Field, FieldLayout};
use snowid_core::instant::{PgMicros, unix_ms};
use std::collections::BTreeMap;

/// snowid_internal.check_layout(layout): true, or an error that says why it is none.
pub fn check_layout(args: GuardedArgs) -> Result<bool, LayoutError> {
    NamedLayout::read(args).map(|_| true)
}

/// decode_as(layout, id): created_at, fields
pub fn decode_as(args: GuardedArgs) -> Result<[Datum; 2], LayoutError> {
    let NamedLayout { name, layout } = NamedLayout::read(args)?;
    let id = args.bigint(1);
    if !layout.holds(id as u64) {
        return Err(LayoutError::Foreign { layout: name, id, bits: layout.bits() });
    }
    let created_at = layout.instant(id as u64).ok_or(Error::Undecodable { id })?;
    let values = layout.values(id as u64).map(|(field, value)| (field.name.clone(), value.into()));
    let fields = JsonB(Value::Object(Map::from_iter(values))).into_datum();
    Ok([created_at.into(), fields.expect("an object is not NULL")])
}

/// make_as(layout, created_at, fields)
pub fn make_as(args: GuardedArgs) -> Result<i64, LayoutError> {
    let layout = NamedLayout::read(args)?;
    let values = layout.values(&utf8("fields", args.jsonb(2))?)?;
    let elapsed = elapsed(args.bigint(1), &layout.layout)?;
    Ok(layout.layout.pack(elapsed, values) as i64)
}

/// floor_as(layout, created_at)
pub fn floor_as(args: GuardedArgs) -> Result<i64, LayoutError> {
    let NamedLayout { layout, .. } = NamedLayout::read(args)?;
    let instant = args.bigint(1);
    let least = elapsed(instant, &layout).map(|elapsed| layout.pack(elapsed, []) as i64);
    Ok(compose::zero_before_epoch(instant, least)?)
}

/// Units from the epoch to an instant that has ids.
fn elapsed(instant: PgMicros, layout: &FieldLayout) -> Result<u64, Error> {
    let max = layout.elapsed_max();
    // Where timestamptz ends first, no instant is past the last id.
    let last = layout.start(max).map_or(i64::MAX, unix_ms);
    checks::in_epoch(instant, layout.elapsed(instant), max, layout.epoch(), last)
}

struct NamedLayout {
    name: String,
    layout: FieldLayout,
}

impl NamedLayout {
    /// The row in the first argument, which needn't come from the table.
    fn read(args: GuardedArgs) -> Result<Self, LayoutError> {
        let row = args.row(0);
        let unit: Interval = column(&row, "time_unit")?;
        if unit.months() != 0 || unit.days() != 0 {
            return Err(LayoutError::UnitNotFixed);
        }
        let epoch: TimestampWithTimeZone = column(&row, "epoch")?;
        let names = column::<Array<ServerText>>(&row, "field_names")?;
        let layout = FieldLayout::new(
            epoch.into(),
            unit.micros(),
            column(&row, "time_bits")?,
            names
                .iter()
                .map(|name| name.map(|name| utf8("field_names", name)).transpose())
                .collect::<Result<_, _>>()?,
            column::<Array<i32>>(&row, "field_bits")?.iter().collect(),
        );
        let name = utf8("name", column(&row, "name")?)?;
        Ok(Self { name, layout: layout.map_err(LayoutError::Bad)? })
    }

    /// The value of each field in a JSON object, 0 where it has none. The numbers are taken as they
    /// are written: neither rounded nor out of range on the way.
    fn values(&self, json: &str) -> Result<Vec<u64>, LayoutError> {
        let given: BTreeMap<String, &RawValue> =
            serde_json::from_str(json).map_err(|_| LayoutError::NoObject)?;
        let fields = self.layout.fields();
        if let Some(field) = given.keys().find(|key| fields.iter().all(|f| f.name != **key)) {
            return Err(LayoutError::UnknownField {
                layout: self.name.clone(),
                field: shown(field.as_bytes()),
                fields: fields.iter().map(|field| field.name.clone()).collect(),
            });
        }
        fields
            .iter()
            .map(|field| given.get(&field.name).map_or(Ok(0), |v| value(field, v)))
            .collect()
    }
}

fn column<'row, T>(row: &'row Row, name: &'static str) -> Result<T, LayoutError>
where
    T: FromDatum + IntoDatum + UnboxDatum<As<'row> = T> + 'row,
{
    let value = row.get_by_name(name).expect("the table has this column");
    value.ok_or(LayoutError::NullColumn { column: name })
}

fn utf8(what: &'static str, text: ServerText) -> Result<String, LayoutError> {
    String::from_utf8(text.0).map_err(|_| LayoutError::NotUtf8 { what })
}

fn value(field: &Field, json: &RawValue) -> Result<u64, LayoutError> {
    let name = field.name.clone();
    let written = json.get();
    let shown = || shown(written.as_bytes());
    if !written.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(LayoutError::NoInteger { field: name, value: shown() });
    }
    match written.parse() {
        Ok(value) if value <= field.max() => Ok(value),
        _ => Err(LayoutError::OutOfRange { field: name, value: shown(), max: field.max() }),
    }
}
