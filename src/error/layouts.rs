//! Errors about layouts that are given as data, and about values for their fields.

use super::Error;
use pgrx::PgSqlErrorCode::*;
use pgrx::pg_sys::panic::ErrorReport;
use snowid_base::report::report;
use snowid_core::fields::{BadLayout, TIME};

pub enum LayoutError {
    /// Those that all layouts share.
    Shared(Error),
    /// A row that isn't from the table may lack something.
    NullColumn {
        column: &'static str,
    },
    /// The unit of time has months or days, or is infinite, which has both.
    UnitNotFixed,
    Bad(BadLayout),
    /// An id with bits above those of the layout.
    Foreign {
        layout: String,
        id: i64,
        bits: u32,
    },
    /// A String holds UTF-8 only.
    NotUtf8 {
        what: &'static str,
    },
    NoObject,
    UnknownField {
        layout: String,
        field: String,
        fields: Vec<String>,
    },
    NoInteger {
        field: String,
        value: String,
    },
    OutOfRange {
        field: String,
        value: String,
        max: u64,
    },
}

impl From<Error> for LayoutError {
    fn from(error: Error) -> Self {
        Self::Shared(error)
    }
}

impl From<LayoutError> for ErrorReport {
    fn from(error: LayoutError) -> Self {
        let (message, detail, hint) = match error {
            LayoutError::Shared(error) => return error.report(),
            LayoutError::NullColumn { column } => {
                let message = format!("{column} of a layout must not be null");
                return report(ERRCODE_NULL_VALUE_NOT_ALLOWED, message, "", "");
            }
            LayoutError::Bad(bad) => return bad_layout(bad),
            LayoutError::UnitNotFixed => (
                "time_unit must be of a fixed length".into(),
                "Months and days are of different lengths.".into(),
                "Use hours, minutes, seconds or fractions of them.",
            ),
            LayoutError::Foreign { layout, id, bits } => (
                format!("ID {id} is not of layout \"{layout}\""),
                format!("It has bits above the {bits} that the layout uses."),
                "",
            ),
            LayoutError::NotUtf8 { what } => {
                return report(
                    ERRCODE_FEATURE_NOT_SUPPORTED,
                    "names beyond ASCII need a database in UTF-8",
                    format!("{what} has a character that is not in UTF-8 here."),
                    "Use ASCII letters.",
                );
            }
            LayoutError::NoObject => {
                ("fields must be a JSON object".into(), String::new(), "Pass {} for all zeros.")
            }
            LayoutError::UnknownField { layout, field, fields } => (
                format!("layout \"{layout}\" has no field \"{field}\""),
                if fields.is_empty() {
                    "It has a time only.".into()
                } else {
                    format!("Its fields are {}.", fields.join(", "))
                },
                "",
            ),
            LayoutError::NoInteger { field, value } => {
                (format!("{field} must be an integer"), format!("The value is {value}."), "")
            }
            LayoutError::OutOfRange { field, value, max } => (
                format!("{field} {value} is out of range"),
                format!("It must be between 0 and {max}."),
                "",
            ),
        };
        report(ERRCODE_INVALID_PARAMETER_VALUE, message, detail, hint)
    }
}

fn bad_layout(bad: BadLayout) -> ErrorReport {
    let mut code = ERRCODE_INVALID_PARAMETER_VALUE;
    let (message, detail) = match bad {
        BadLayout::Epoch(bad) => return Error::from(bad).report(),
        BadLayout::Unit => (
            "time_unit must be positive".into(),
            "IDs count units of time from their epoch.".into(),
        ),
        BadLayout::TimeBits(bits) => (
            "time_bits must be positive".into(),
            format!("It is {bits}; every ID has a time of one or more bits."),
        ),
        BadLayout::Lengths { names, widths } => (
            "field_names and field_bits must be of the same length".into(),
            format!("There are {names} names and {widths} widths."),
        ),
        BadLayout::NullField => {
            code = ERRCODE_NULL_VALUE_NOT_ALLOWED;
            ("field_names and field_bits must not contain nulls".into(), String::new())
        }
        BadLayout::EmptyName => ("a field must have a name".into(), String::new()),
        BadLayout::TimeName => (
            format!("a field cannot be named {TIME}"),
            "That is the time, which every layout has.".into(),
        ),
        BadLayout::RepeatedName(name) => (
            format!("field \"{name}\" is named more than once"),
            "Each field has a name of its own.".into(),
        ),
        BadLayout::Width { name, bits } => {
            (format!("field \"{name}\" must have one or more bits"), format!("It has {bits}."))
        }
        BadLayout::TooWide { bits } => (
            "layout is too wide".into(),
            format!("Time and fields have {bits} bits together, an ID has 64."),
        ),
    };
    report(code, message, detail, "")
}
