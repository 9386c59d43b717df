//! Arguments of staged commands, in memory of the session's own.

use driver::Value;

/// A value whose text lies in the arena.
#[derive(Clone, Copy)]
enum Held {
    Null,
    Int(i64),
    Float(f64),
    Text { start: usize, end: usize },
}

/// Values of a batch. Grows to the largest batch and stays.
pub(crate) struct Arena {
    values: Vec<Held>,
    text: String,
}

impl Arena {
    /// Room for `values` and for `bytes` of text, touched.
    pub(crate) fn new(values: usize, bytes: usize) -> Arena {
        let mut text = "\0".repeat(bytes);
        text.clear();
        let mut held = vec![Held::Null; values];
        held.clear();
        Arena { values: held, text }
    }

    /// Values held.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.text.clear();
    }

    /// Copies a value; text is copied once, here.
    #[inline]
    pub(crate) fn push(&mut self, value: Value<'_>) {
        let held = match value {
            Value::Null => Held::Null,
            Value::Int(number) | Value::Timestamp(number) => Held::Int(number),
            Value::Float(number) => Held::Float(number),
            Value::Decimal(number) => Held::Int(number.unscaled),
            Value::Text(text) => {
                let start = self.text.len();
                self.text.push_str(text);
                Held::Text { start, end: self.text.len() }
            }
        };
        self.values.push(held);
    }

    /// The value at `index`; text stays where it is until the next `push` or `clear`.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<Value<'_>> {
        Some(match *self.values.get(index)? {
            Held::Null => Value::Null,
            Held::Int(number) => Value::Int(number),
            Held::Float(number) => Value::Float(number),
            Held::Text { start, end } => Value::Text(&self.text[start..end]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_although_the_arena_grew() {
        let mut arena = Arena::new(1, 1);
        for round in 0..3 {
            arena.clear();
            arena.push(Value::Text("añb"));
            arena.push(Value::Int(round));
            arena.push(Value::Text(""));
            arena.push(Value::Float(0.5));
            arena.push(Value::Null);
            arena.push(Value::Timestamp(7));
            let expected = [
                Value::Text("añb"),
                Value::Int(round),
                Value::Text(""),
                Value::Float(0.5),
                Value::Null,
                Value::Int(7),
            ];
            for (index, value) in expected.into_iter().enumerate() {
                assert_eq!(arena.get(index), Some(value));
            }
            assert_eq!((arena.get(6), arena.len()), (None, 6));
        }
    }
}
