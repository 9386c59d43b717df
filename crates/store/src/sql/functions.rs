//! Functions of one row.

use super::datum::Datum;
use super::error::{SqlError, state};
use super::expression::{Context, Row, Typed};
use super::types::{Family, Type};
use std::borrow::Cow;

/// What `version()` says; clients look for the number behind the first word.
pub(crate) const VERSION: &str = "PostgreSQL 15.0 (truetail's simulated store)";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Now,
    Version,
    CurrentSetting,
    CurrentDatabase,
    CurrentUser,
    CurrentSchema,
    BackendPid,
    InRecovery,
    Length,
    OctetLength,
    Lower,
    Upper,
    Coalesce,
    Abs,
    ToRegclass,
}

/// What a call needs to be one of them.
enum Arguments {
    None,
    Text,
    TextAndFlag,
    TextOrBytes,
    Number,
    Any,
}

/// Name, function, arguments; the type of the result is in [`Function::result`].
const FUNCTIONS: [(&str, Function, Arguments); 24] = [
    ("now", Function::Now, Arguments::None),
    ("current_timestamp", Function::Now, Arguments::None),
    ("transaction_timestamp", Function::Now, Arguments::None),
    ("statement_timestamp", Function::Now, Arguments::None),
    ("clock_timestamp", Function::Now, Arguments::None),
    ("version", Function::Version, Arguments::None),
    ("current_setting", Function::CurrentSetting, Arguments::TextAndFlag),
    ("current_database", Function::CurrentDatabase, Arguments::None),
    ("current_catalog", Function::CurrentDatabase, Arguments::None),
    ("current_user", Function::CurrentUser, Arguments::None),
    ("session_user", Function::CurrentUser, Arguments::None),
    ("user", Function::CurrentUser, Arguments::None),
    ("current_schema", Function::CurrentSchema, Arguments::None),
    ("pg_backend_pid", Function::BackendPid, Arguments::None),
    ("pg_is_in_recovery", Function::InRecovery, Arguments::None),
    ("length", Function::Length, Arguments::TextOrBytes),
    ("char_length", Function::Length, Arguments::Text),
    ("character_length", Function::Length, Arguments::Text),
    ("octet_length", Function::OctetLength, Arguments::TextOrBytes),
    ("lower", Function::Lower, Arguments::Text),
    ("upper", Function::Upper, Arguments::Text),
    ("coalesce", Function::Coalesce, Arguments::Any),
    ("abs", Function::Abs, Arguments::Number),
    ("to_regclass", Function::ToRegclass, Arguments::Text),
];

impl Function {
    /// The function of this name.
    pub(crate) fn named(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|(known, ..)| *known == name).map(|(_, function, _)| *function)
    }

    /// Whether it says what the server or the session is, which clients ask before they measure.
    pub(crate) fn is_about_server(self) -> bool {
        match self {
            Function::Version
            | Function::CurrentSetting
            | Function::CurrentDatabase
            | Function::CurrentUser
            | Function::CurrentSchema
            | Function::BackendPid
            | Function::InRecovery
            | Function::ToRegclass => true,
            Function::Now
            | Function::Length
            | Function::OctetLength
            | Function::Lower
            | Function::Upper
            | Function::Coalesce
            | Function::Abs => false,
        }
    }

    /// The type that the n-th argument is to have where it has none of its own.
    pub(crate) fn expected(self, name: &str, n: usize) -> Option<Type> {
        let (_, _, arguments) = FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
        match (arguments, n) {
            (Arguments::Text | Arguments::TextOrBytes, _) | (Arguments::TextAndFlag, 0) => Some(Type::Text),
            (Arguments::TextAndFlag, _) => Some(Type::Bool),
            (Arguments::Number, _) => Some(Type::Float8),
            (Arguments::None | Arguments::Any, _) => None,
        }
    }

    /// The type of the result, if there is a function of this name for such arguments.
    pub(crate) fn result(self, name: &str, arguments: &[Type]) -> Option<Type> {
        let (_, _, needed) = FUNCTIONS.iter().find(|(known, ..)| *known == name)?;
        let families: Vec<Family> = arguments.iter().map(|kind| kind.family()).collect();
        let fits = match (needed, families.as_slice()) {
            (Arguments::None, []) => true,
            (Arguments::Text | Arguments::TextAndFlag | Arguments::TextOrBytes, [Family::Text]) => true,
            (Arguments::TextAndFlag, [Family::Text, Family::Bool]) => true,
            (Arguments::TextOrBytes, [Family::Bytes]) => true,
            (Arguments::Number, [Family::Number]) => true,
            (Arguments::Any, [first, rest @ ..]) => rest.iter().all(|family| family == first),
            _ => false,
        };
        fits.then(|| self.type_of(arguments))
    }

    fn type_of(self, arguments: &[Type]) -> Type {
        match self {
            Function::Now => Type::Timestamptz,
            Function::Version | Function::CurrentSetting | Function::Lower | Function::Upper => Type::Text,
            Function::CurrentDatabase | Function::CurrentUser | Function::CurrentSchema => Type::Name,
            Function::BackendPid | Function::Length | Function::OctetLength => Type::Int4,
            Function::InRecovery => Type::Bool,
            Function::ToRegclass => Type::Oid,
            Function::Coalesce => arguments.iter().copied().reduce(wider).unwrap_or(Type::Text),
            Function::Abs => arguments.first().copied().unwrap_or(Type::Float8),
        }
    }
}

/// The type of one family that has room for both; of texts that differ it is text.
pub(crate) fn wider(a: Type, b: Type) -> Type {
    match (a.family(), a == b) {
        (_, true) => a,
        (Family::Text, _) => Type::Text,
        (Family::Moment, _) => Type::Timestamptz,
        _ if a == Type::Float8 || b == Type::Float8 => Type::Float8,
        _ if a.size() == b.size() => Type::Int8, // oid and int4
        _ if a.size() > b.size() => a,
        _ => b,
    }
}

/// The function's value. All but `coalesce` are null where an argument is.
pub(crate) fn call<'a>(
    function: Function,
    arguments: &'a [Typed],
    row: Row<'a>,
    context: &Context<'a>,
) -> Result<Datum<'a>, SqlError> {
    if function == Function::Coalesce {
        for argument in arguments {
            let value = argument.value(row, context)?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        return Ok(Datum::Null);
    }
    let Some(first) = arguments.first() else { return Ok(of_session(function, context)) };
    let value = first.value(row, context)?;
    match value {
        Datum::Null => Ok(Datum::Null),
        Datum::Text(text) => {
            // Blanks at the end of a char(n) do not count.
            let text = match (first.kind.kind, text) {
                (Type::Bpchar, text) if function != Function::OctetLength => {
                    Cow::Owned(text.trim_end_matches(' ').to_owned())
                }
                (_, text) => text,
            };
            of_text(function, text, arguments.get(1), row, context)
        }
        Datum::Bytes(bytes) => Ok(size(bytes.len())),
        Datum::Int(number) => {
            let kind = first.kind.kind;
            let absolute = number.checked_abs().ok_or_else(|| kind.out_of_range())?;
            kind.checked(absolute).map(Datum::Int)
        }
        Datum::Float(number) => Ok(Datum::Float(number.abs())),
        other => Ok(other),
    }
}

fn of_session<'a>(function: Function, context: &Context<'a>) -> Datum<'a> {
    match function {
        Function::Now => Datum::Moment(context.now),
        Function::Version => Datum::Text(Cow::Borrowed(VERSION)),
        Function::CurrentDatabase => Datum::Text(Cow::Borrowed(context.database)),
        Function::CurrentUser => Datum::Text(Cow::Borrowed(context.user)),
        Function::CurrentSchema => Datum::Text(Cow::Borrowed("public")),
        Function::BackendPid => Datum::Int(i64::from(context.backend)),
        Function::InRecovery => Datum::Bool(false),
        _ => Datum::Null, // needs an argument
    }
}

fn of_text<'a>(
    function: Function,
    text: Cow<'a, str>,
    flag: Option<&'a Typed>,
    row: Row<'a>,
    context: &Context<'a>,
) -> Result<Datum<'a>, SqlError> {
    Ok(match function {
        Function::Length => size(text.chars().count()),
        Function::OctetLength => size(text.len()),
        Function::Lower => Datum::Text(Cow::Owned(text.to_ascii_lowercase())),
        Function::Upper => Datum::Text(Cow::Owned(text.to_ascii_uppercase())),
        Function::CurrentSetting => {
            let missing_ok = match flag {
                Some(flag) => flag.holds(row, context)?,
                None => false,
            };
            match context.settings.get(&text) {
                Some(value) => Datum::Text(Cow::Owned(value.to_owned())),
                None if missing_ok => Datum::Null,
                None => return Err(super::settings::unrecognized(&text)),
            }
        }
        Function::ToRegclass => {
            let (schema, name) = match text.split_once('.') {
                Some((schema, name)) => (Some(schema.to_lowercase()), name.to_lowercase()),
                None => (None, text.to_lowercase()),
            };
            match context.catalog.table(&super::syntax::TableName { schema, name }) {
                Ok(table) => Datum::Int(i64::from(table.oid)),
                Err(_) => Datum::Null,
            }
        }
        _ => {
            let message = format!("no such function of a text: {function:?}");
            return Err(SqlError::new(state::INTERNAL, message));
        }
    })
}

fn size(count: usize) -> Datum<'static> {
    Datum::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
