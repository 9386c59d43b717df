//! Programs of the kernel's virtual machine, as instructions (Documentation/bpf/standardization/instruction-set.rst).

/// A register. 0 is what a call returns, 1 to 5 are its arguments and are lost by it, 6 to 9 stay, 10 is the stack's end.
pub(super) type Register = u8;

/// The stack's end.
pub(super) const STACK: Register = 10;

/// How wide a load or a store is, as the kernel encodes it.
#[derive(Clone, Copy)]
pub(super) enum Width {
    Four = 0x00,
    Eight = 0x18,
}

/// Comparisons of a register with a number, all 64 bits.
#[derive(Clone, Copy)]
pub(super) enum If {
    Equal = 0x10,
    AnyBit = 0x40,
    NotEqual = 0x50,
    Below = 0xa0,
    Negative = 0xc0,
}

/// A place to jump to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(usize);

/// A program that is being written.
#[derive(Default)]
pub(super) struct Assembler {
    code: Vec<u64>,
    /// Where each label is, once that is known.
    labels: Vec<Option<usize>>,
    /// Jumps, and where they lead.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    fn push(&mut self, code: u8, to: Register, from: Register, offset: i16, number: i32) {
        let registers = u64::from(to) | u64::from(from) << 4;
        let offset = u64::from(offset.cast_unsigned());
        let number = u64::from(number.cast_unsigned());
        self.code.push(u64::from(code) | registers << 8 | offset << 16 | number << 32);
    }

    pub(super) fn copy(&mut self, to: Register, from: Register) {
        self.push(0xbf, to, from, 0, 0);
    }

    pub(super) fn set(&mut self, to: Register, number: i32) {
        self.push(0xb7, to, 0, 0, number);
    }

    pub(super) fn add(&mut self, to: Register, number: i32) {
        self.push(0x07, to, 0, 0, number);
    }

    pub(super) fn add_register(&mut self, to: Register, from: Register) {
        self.push(0x0f, to, from, 0, 0);
    }

    pub(super) fn subtract(&mut self, to: Register, from: Register) {
        self.push(0x1f, to, from, 0, 0);
    }

    pub(super) fn shift_left(&mut self, to: Register, bits: i32) {
        self.push(0x67, to, 0, 0, bits);
    }

    pub(super) fn shift_right(&mut self, to: Register, bits: i32) {
        self.push(0x77, to, 0, 0, bits);
    }

    pub(super) fn load(&mut self, width: Width, to: Register, base: Register, offset: i16) {
        self.push(0x61 | width as u8, to, base, offset, 0);
    }

    pub(super) fn store(&mut self, width: Width, base: Register, offset: i16, from: Register) {
        self.push(0x63 | width as u8, base, from, offset, 0);
    }

    pub(super) fn store_number(&mut self, width: Width, base: Register, offset: i16, number: i32) {
        self.push(0x62 | width as u8, base, 0, offset, number);
    }

    /// Adds to a number in memory that other CPUs add to as well.
    pub(super) fn add_atomically(&mut self, base: Register, offset: i16, from: Register) {
        self.push(0xdb, base, from, offset, 0);
    }

    /// The map behind a file descriptor.
    pub(super) fn load_map(&mut self, to: Register, map: i32) {
        const PSEUDO_MAP_FD: Register = 1;
        self.push(0x18, to, PSEUDO_MAP_FD, 0, map);
        self.push(0, 0, 0, 0, 0);
    }

    pub(super) fn call(&mut self, helper: i32) {
        self.push(0x85, 0, 0, 0, helper);
    }

    pub(super) fn exit(&mut self) {
        self.push(0x95, 0, 0, 0, 0);
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The label is here.
    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(0x05, 0, 0, 0, 0);
    }

    pub(super) fn jump_if(&mut self, register: Register, how: If, number: i32, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.push(0x05 | how as u8, register, 0, 0, number);
    }

    /// The instructions, with all jumps led to where their labels are. `None` for a label that is nowhere, or too far.
    pub(super) fn finish(mut self) -> Option<Vec<u64>> {
        for (at, label) in self.jumps {
            let to = self.labels[label.0]?;
            let distance = i64::try_from(to).ok()? - i64::try_from(at).ok()? - 1;
            let offset = i16::try_from(distance).ok()?.cast_unsigned();
            self.code[at] |= u64::from(offset) << 16;
        }
        Some(self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_encoded_as_the_kernel_documents() {
        let mut program = Assembler::default();
        let end = program.label();
        program.set(0, -1);
        program.jump_if(1, If::Equal, 7, end);
        program.load(Width::Eight, 2, 1, 16);
        program.store(Width::Four, STACK, -8, 2);
        program.load_map(1, 5);
        program.place(end);
        program.exit();
        let code = program.finish().unwrap();
        let expected = [
            0xffff_ffff_0000_00b7,
            0x0000_0007_0004_0115,
            0x0000_0000_0010_1279,
            0x0000_0000_fff8_2a63,
            0x0000_0005_0000_1118,
            0,
            0x95,
        ];
        assert_eq!(code, expected, "{code:#x?}");
    }

    #[test]
    fn a_label_that_is_nowhere_is_found() {
        let mut program = Assembler::default();
        let nowhere = program.label();
        program.jump(nowhere);
        assert_eq!(program.finish(), None);
    }
}
