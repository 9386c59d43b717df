//! Parameters: their values, set by the file or by a run, and what is made with them.

use crate::Choice;
use crate::definition::*;
use crate::document::{Place, shown};
use crate::draw::Compiler;
use crate::expression::{Expression, Number, Scope};
use crate::program::{self, Program};
use driver::Dialect;
use workload::names;

/// Sets parameters otherwise. A number stays a number.
pub(crate) fn set(parameters: &mut [(String, Scalar)], otherwise: &[(String, String)]) -> Result<(), String> {
    let valid: Vec<String> = parameters.iter().map(|(name, _)| name.clone()).collect();
    for (name, text) in otherwise {
        let Some((_, value)) = parameters.iter_mut().find(|(known, _)| known == name) else {
            let valid: Vec<&str> = valid.iter().map(String::as_str).collect();
            return Err(match valid.is_empty() {
                true => format!("no parameter `{}`; the file has none", shown(name)),
                false => format!("no parameter `{}`{}", shown(name), names::suggestion(name, &valid)),
            });
        };
        let wrong = |what: &str| format!("{name}={}: expected {what}", shown(text));
        *value = match value {
            Scalar::Int(_) => {
                Scalar::Int(text.replace('_', "").parse().map_err(|_| wrong("a whole number"))?)
            }
            Scalar::Float(_) => {
                let number = text.parse().ok().filter(|x: &f64| x.is_finite());
                Scalar::Float(number.ok_or_else(|| wrong("a number"))?)
            }
            Scalar::Text(_) => Scalar::Text(text.clone()),
            Scalar::Timestamp(_) => return Err(wrong("nothing: a date stays as the file says")),
        };
    }
    Ok(())
}

/// What expressions may name.
pub(crate) fn scope(parameters: &[(String, Scalar)], scale: f64) -> Scope {
    let mut scope = Scope::default();
    for (name, value) in parameters {
        let number = match value {
            Scalar::Int(n) => Number::Int(*n),
            Scalar::Float(x) => Number::Float(*x),
            Scalar::Text(_) | Scalar::Timestamp(_) => continue,
        };
        scope.names.insert(name.clone(), number);
    }
    scope.names.insert("scale".to_owned(), Number::Float(scale));
    scope
}

/// As facts of the recording.
pub(crate) fn facts(parameters: &[(String, Scalar)]) -> Vec<(String, String)> {
    let shown = |value: &Scalar| match value {
        Scalar::Int(n) => n.to_string(),
        Scalar::Float(x) => x.to_string(),
        Scalar::Text(text) => shown(text),
        Scalar::Timestamp(micros) => format!("{micros} µs since 1970"),
    };
    parameters.iter().map(|(name, value)| (name.clone(), shown(value))).collect()
}

/// The transactions with these parameters.
pub(crate) fn program(definition: &Definition, scope: &Scope, choice: &Choice) -> Result<Program, String> {
    let constant = |(name, value): &(String, Scalar)| ValueDefinition {
        name: name.clone(),
        kind: Kind::Constant(value.clone()),
        stated: None,
        form: None,
        hash: false,
        unlike: None,
        place: Place::of_parameter(name),
    };
    let constants: Vec<ValueDefinition> = definition.parameters.iter().map(constant).collect();
    let (number, clients) = choice.client;
    let seed = choice.seed.derive("file/requests");
    // Clients that make one load together must not ask the same in step.
    let seed = if number == 0 { seed } else { seed.derive(&format!("client {number}")) };
    let compiler = Compiler { scope, seed, client: (number.into(), clients.max(1).into()) };
    let brace = |words: &str, dialect| brace(words, dialect, &definition.parameters, scope);
    program::program(definition, &constants, &compiler, &brace)
}

/// What stands for `{…}`: a column type, a parameter, or a number that is computed.
pub(crate) fn brace(
    words: &str,
    dialect: Dialect,
    parameters: &[(String, Scalar)],
    scope: &Scope,
) -> Result<String, String> {
    if let Some((_, Scalar::Text(text))) = parameters.iter().find(|(name, _)| name == words) {
        return Ok(text.clone());
    }
    match words {
        "timestamp" => return Ok(dialect.timestamp().to_owned()),
        "text" => return Ok(dialect.text().to_owned()),
        _ => {}
    }
    if let Some(digits) = words.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')')) {
        let mut parts = digits.split(',').map(|part| part.trim().parse::<u8>());
        return match (parts.next(), parts.next(), parts.next()) {
            (Some(Ok(digits)), Some(Ok(scale)), None) if scale <= digits && scale <= 18 => {
                Ok(dialect.decimal(digits, scale))
            }
            _ => Err(format!("`{{{}}}`: expected such as `{{decimal(12,2)}}`", shown(words))),
        };
    }
    let number = Expression::parse(words).and_then(|expression| expression.value(scope));
    number.map(|number| number.to_string()).map_err(|why| format!("`{{{}}}`: {why}", shown(words)))
}

/// Names of parameters that SQL has between braces.
pub(crate) fn names_in_braces(sql: &str, dialect: Dialect, see: &mut dyn FnMut(&str)) {
    let Ok(pieces) = crate::sql::pieces(sql, dialect) else { return };
    for piece in pieces {
        let crate::sql::Piece::Brace(words) = piece else { continue };
        see(words);
        if let Ok(expression) = Expression::parse(words) {
            expression.names(see);
        }
    }
}
