//! Where the members of a kernel structure are, by the kernel's own description of its types
//! (Documentation/bpf/btf.rst).

use std::collections::BTreeMap;

const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;

/// What follows a type's first 12 bytes: so many bytes, and so many for each member.
fn tail_of(kind: u32) -> Option<(usize, usize)> {
    Some(match kind {
        1 | 14 | 17 => (4, 0),          // integer, variable, tag of a declaration
        2 | 7..=12 | 16 | 18 => (0, 0), // pointer, forward, names, qualifiers, function, float, tag of a type
        3 => (12, 0),                   // array
        4 | 5 | 15 | 19 => (0, 12),     // structure, union, section, 64-bit enumeration
        6 | 13 => (0, 8),               // enumeration, prototype of a function
        _ => return None,
    })
}

/// Byte offsets of all named members of the structure that lie on whole bytes; `None` where it is not described, or not in
/// a form that is known.
pub(super) fn members_of(btf: &[u8], structure: &str) -> Option<BTreeMap<String, u32>> {
    let header = Words(btf);
    if header.two(0)? != MAGIC {
        return None;
    }
    let start = header.four(4)? as usize;
    let section = |at: usize| -> Option<&[u8]> {
        let (offset, length) = (header.four(at)? as usize, header.four(at + 4)? as usize);
        let from = start.checked_add(offset)?;
        btf.get(from..from.checked_add(length)?)
    };
    let (types, strings) = (Words(section(8)?), section(16)?);
    let mut at = 0;
    while at < types.0.len() {
        let info = types.four(at + 4)?;
        let (count, kind) = ((info & 0xffff) as usize, info >> 24 & 0x1f);
        let (fixed, each) = tail_of(kind)?;
        if kind == STRUCT && name(strings, types.four(at)?)? == structure {
            return (0..count)
                .map(|member| of_member(&types, strings, at + 12 + 12 * member, info))
                .collect::<Option<Vec<_>>>()
                .map(|all| all.into_iter().flatten().collect());
        }
        at = at.checked_add(12 + fixed + each * count)?;
    }
    None
}

/// A member's name and place; nothing for one without a name or between bytes.
fn of_member(types: &Words<'_>, strings: &[u8], at: usize, info: u32) -> Option<Option<(String, u32)>> {
    let (name, offset) = (name(strings, types.four(at)?)?, types.four(at + 8)?);
    // With this bit set, the upper byte is the size of a bit field.
    let bits = if info >> 31 == 1 { offset & 0x00ff_ffff } else { offset };
    let is_plain = !name.is_empty() && bits.is_multiple_of(8);
    Some(is_plain.then(|| (name.to_owned(), bits / 8)))
}

fn name(strings: &[u8], at: u32) -> Option<&str> {
    let text = strings.get(at as usize..)?;
    let end = text.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&text[..end]).ok()
}

struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn two(&self, at: usize) -> Option<u16> {
        Some(u16::from_ne_bytes(self.0.get(at..at.checked_add(2)?)?.try_into().ok()?))
    }

    fn four(&self, at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(self.0.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two types: an integer, and a structure `task` with an unnamed member at 0, `pid` at byte 4 and a bit field.
    fn planted() -> Vec<u8> {
        let strings = b"\0int\0task\0pid\0bit\0";
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let types = words(&[
            1,
            1 << 24,
            4,
            32, //
            5,
            1 << 31 | 4 << 24 | 3,
            12,
            0,
            1,
            0,
            10,
            1,
            32,
            14,
            1,
            3 << 24 | 65,
        ]);
        let mut btf = MAGIC.to_ne_bytes().to_vec();
        btf.extend([1, 0]);
        btf.extend(words(&[24, 0, types.len() as u32, types.len() as u32, strings.len() as u32]));
        btf.extend(types);
        btf.extend(strings);
        btf
    }

    #[test]
    fn members_are_found_by_name() {
        let members = members_of(&planted(), "task").unwrap();
        assert_eq!(members, BTreeMap::from([("pid".to_owned(), 4)]));
        assert_eq!(members_of(&planted(), "int"), None);
        assert_eq!(members_of(b"nothing", "task"), None);
    }

    #[test]
    fn fuzz_btf() {
        testkit::fuzz::Fuzz::new("btf").from([planted()]).run(2_000, |input| {
            let _ = members_of(input, "task");
        });
    }
}
