//! Values in memory of the session's own: arguments that are staged, and rows that are kept.

use driver::Value;

/// A value whose text lies in the arena.
#[derive(Clone, Copy)]
enum Held {
    Plain(Value<'static>),
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
        let mut held = vec![Held::Plain(Value::Null); values];
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
            Value::Null => Held::Plain(Value::Null),
            Value::Int(number) => Held::Plain(Value::Int(number)),
            Value::Float(number) => Held::Plain(Value::Float(number)),
            Value::Timestamp(moment) => Held::Plain(Value::Timestamp(moment)),
            Value::Decimal(number) => Held::Plain(Value::Decimal(number)),
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
            Held::Plain(value) => value,
            Held::Text { start, end } => Value::Text(&self.text[start..end]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::Decimal;

    #[test]
    fn values_come_back_although_the_arena_grew() {
        let mut arena = Arena::new(1, 1);
        for round in 0..3 {
            arena.clear();
            let values = [
                Value::Text("añb"),
                Value::Int(round),
                Value::Text(""),
                Value::Float(0.5),
                Value::Null,
                Value::Timestamp(7),
                Value::Decimal(Decimal { unscaled: -5, scale: 2 }),
            ];
            values.iter().for_each(|value| arena.push(*value));
            for (index, value) in values.into_iter().enumerate() {
                assert_eq!(arena.get(index), Some(value));
            }
            assert_eq!((arena.get(7), arena.len()), (None, 7));
        }
    }
}
