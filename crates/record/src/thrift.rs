//! What Parquet's page headers claim, before the Parquet library believes it.
//!
//! A page header is a struct in Thrift's compact protocol. The library allocates as much as it says that the page takes
//! in memory, or a text in it, and an allocation that fails ends the program, which no guard can keep. So each header is
//! walked once, without making anything of it. Footers need no such walk: the library checks the lengths in them.
//! (`doc/specs/thrift-compact-protocol.md` of Thrift, `parquet.thrift` of parquet-format.)

/// Structs within structs; a page header's go two deep.
const DEPTH_MAX: u32 = 16;
/// Bytes of one page in memory; ours have a megabyte, and more only where events are told at length.
const PAGE_MAX: i64 = 256 << 20;

/// Checks the headers of a column's pages, one after the other. ≈ 0.2 µs a page.
pub(crate) fn check_pages(name: &str, mut column: &[u8]) -> Result<(), String> {
    while !column.is_empty() {
        let mut walk = Walk { rest: column };
        let (mut unpacked, mut packed) = (-1, -1);
        let header = walk.structure(0, &mut |field, value| match field {
            2 => unpacked = value,
            3 => packed = value,
            _ => {}
        });
        let end = usize::try_from(packed).ok().and_then(|packed| walk.rest.get(packed..));
        let (Some(()), 0..=PAGE_MAX, Some(rest)) = (header, unpacked, end) else {
            return Err(format!("damaged: a page of column `{name}` claims what it does not have"));
        };
        column = rest;
    }
    Ok(())
}

/// The bytes that have not been walked yet.
struct Walk<'a> {
    rest: &'a [u8],
}

impl Walk<'_> {
    /// A struct to its end; `see` gets the whole numbers among its own fields. `None` if it is not one.
    fn structure(&mut self, depth: u32, see: &mut dyn FnMut(i64, i64)) -> Option<()> {
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0F;
            if kind == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.signed()?,
                step => field.checked_add(i64::from(step))?,
            };
            match kind {
                1 | 2 => {} // the kind is the value
                4..=6 => see(field, self.signed()?),
                _ => self.value(kind, depth)?,
            }
        }
    }

    /// A value that is not a field's boolean.
    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(usize::try_from(length).ok()?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let elements = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.elements(elements, &[head & 0x0F], depth)
            }
            11 => match self.varint()? {
                0 => Some(()),
                pairs => {
                    let kinds = self.byte()?;
                    self.elements(pairs, &[kinds >> 4, kinds & 0x0F], depth)
                }
            },
            12 if depth < DEPTH_MAX => self.structure(depth + 1, &mut |_, _| ()),
            _ => None,
        }
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: u32) -> Option<()> {
        if depth >= DEPTH_MAX {
            return None;
        }
        (0..count).try_for_each(|_| kinds.iter().try_for_each(|&kind| self.value(kind, depth + 1)))
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    /// Seven bits a byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Zigzag: 0, −1, 1, −2, …
    fn signed(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page header as parquet-rs writes it: type 0, sizes, and a data page's struct with a nested list.
    fn page(unpacked: &[u8], packed: &[u8], body: usize) -> Vec<u8> {
        let header = [
            &[0x15, 0x00, 0x15],
            unpacked,
            &[0x15],
            packed,
            &[0x2C, 0x15, 0x08, 0x29, 0x25, 0x02, 0x04, 0x00, 0x00],
        ];
        [header.concat(), vec![0xAA; body]].concat()
    }

    #[test]
    fn pages_are_walked_and_what_they_claim_is_checked() {
        let sound = page(&[0x14], &[0x08], 4);
        assert_eq!(check_pages("x", &sound), Ok(()));
        assert_eq!(check_pages("x", &[sound.clone(), sound.clone()].concat()), Ok(()));
        let two_gib = [0xFE, 0xFF, 0xFF, 0xFF, 0x0F];
        for (what, bytes) in [
            ("more than it has", page(&[0x14], &[0x0A], 4)),
            ("2 GiB unpacked", page(&two_gib, &[0x08], 4)),
            ("a negative size", page(&[0x13], &[0x08], 4)),
            ("no end", sound[..6].to_vec()),
            ("a rest", [&sound[..], &[0x15]].concat()),
        ] {
            assert!(check_pages("x", &bytes).unwrap_err().contains("page of column `x`"), "{what}");
        }
    }

    #[test]
    fn what_a_header_holds_must_be_there() {
        // Field 4 is made up; fields 2 and 3 are sizes of 1.
        let checked = |kind: u8, value: &[u8]| {
            let fields =
                [&[0x40 | kind][..], value, &[0x05, 0x04, 0x02, 0x15, 0x02, 0x00, 0xAA][..]].concat();
            check_pages("x", &fields)
        };
        for (kind, value) in [
            (1, &[][..]),
            (8, &[0x02, 1, 2]),
            (9, &[0x38, 0x00, 0x00, 0x00]),
            (9, &[0xF3, 0x02, 1, 2]),
            (11, &[0x01, 0x53, 0x02, 0x07]),
            (12, &[0x11, 0x00]),
        ] {
            assert_eq!(checked(kind, value), Ok(()), "{kind}: {value:?}");
        }
        let long = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
        for (kind, value) in [(8, &long[..]), (9, &[&[0xF3][..], &long].concat()), (11, &long), (13, &[0])] {
            assert!(checked(kind, value).is_err(), "{kind}: {value:?}");
        }
        // Structs in structs without an end to them, and lists in lists.
        assert!(check_pages("x", &[0x1C; 1_000]).is_err());
        assert!(check_pages("x", &[0x19; 1_000]).is_err());
    }
}
