//! What runs inside of the kernel: at each switch of a CPU from one task to the next, at each wake, and around interrupts.
//!
//! All of it is a filter. Of an observed CPU it tells who had it for [`LEAST`] or longer, shorter ones together where no
//! idle moment lies between them, and which thread of ours wanted to run for [`WAITED`] or longer before it could. What is
//! told goes through a ring; what finds it full is counted.
//!
//! A thread of ours waits from its wake on, or from when it was switched away from although it could go on. Whoever had the
//! CPU meanwhile kept it off. A timer that fires late is no such wait: then nobody here had kept it.

use super::assembler::{Assembler, If, Register, STACK, Width};
use units::Nanos;

/// Shorter than this, who had a CPU is told together with its neighbours.
pub(super) const LEAST: Nanos = Nanos::from_micros(50);
/// Waits for a CPU that are told: those that would be hiccups.
pub(super) const WAITED: Nanos = crate::hiccup::THRESHOLD;

/// Of each CPU, in `Maps::cpus`: eight bytes each.
mod cpu {
    pub(super) const IS_OBSERVED: i16 = 0;
    /// When it last switched; 0 before.
    pub(super) const SINCE: i16 = 8;
    /// When the first of several short ones began, and their sum.
    pub(super) const SHORT_BEGIN: i16 = 16;
    pub(super) const SHORT_SUM: i16 = 24;
    /// When an interrupt of each kind began; 0 outside.
    pub(super) const INTERRUPTED: [i16; 3] = [32, 40, 48];
}
/// Bytes of a CPU's entry.
pub(super) const CPU_SIZE: u32 = 56;

/// What an event tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// A task had the CPU.
    Task = 0,
    /// Several tasks had it, each for less than [`LEAST`].
    Short = 1,
    /// A thread of ours waited for it, and runs now.
    Wait = 2,
    /// A thread of ours was stopped by a signal, and runs now.
    Stop = 3,
    /// A device's interrupt.
    Irq = 4,
    /// What an interrupt had put off.
    Softirq = 5,
    /// An interrupt of the CPU itself; the number is that in [`VECTORS`].
    Vector = 6,
}

impl Told {
    pub(super) const ALL: [Told; 7] =
        [Told::Task, Told::Short, Told::Wait, Told::Stop, Told::Irq, Told::Softirq, Told::Vector];
}

/// Of an event: where it lies in its bytes.
pub(super) mod event {
    pub(in super::super) const BEGIN: usize = 0;
    pub(in super::super) const END: usize = 8;
    pub(in super::super) const RAN: usize = 16;
    pub(in super::super) const KIND: usize = 24;
    pub(in super::super) const CPU: usize = 28;
    /// Of a thread; of an interrupt its number.
    pub(in super::super) const ID: usize = 32;
    pub(in super::super) const PROCESS: usize = 36;
    pub(in super::super) const NAME: usize = 40;
    pub(in super::super) const FLAGS: usize = 56;
    pub(in super::super) const SIZE: usize = 64;
}

/// Interrupts of the CPU itself, as their trace points begin; on x86 alone.
pub(super) const VECTORS: [&str; 5] =
    ["local_timer", "call_function", "call_function_single", "reschedule", "irq_work"];

/// What programs work on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Environment {
    /// File descriptors of maps: each CPU's entry, threads of ours that wait, how many events were lost, and the ring.
    pub(super) cpus: i32,
    pub(super) waits: i32,
    pub(super) lost: i32,
    pub(super) ring: i32,
    /// Our process, as the kernel knows it.
    pub(super) own: i32,
    /// Of a task, bytes from its begin.
    pub(super) task: TaskMembers,
}

/// Where members of a task lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TaskMembers {
    pub(super) pid: i32,
    pub(super) tgid: i32,
    pub(super) flags: i32,
    pub(super) state: i32,
}

/// Helpers of the kernel, by number.
mod kernel_calls {
    pub(super) const MAP_LOOKUP: i32 = 1;
    pub(super) const MAP_UPDATE: i32 = 2;
    pub(super) const MAP_DELETE: i32 = 3;
    pub(super) const NOW: i32 = 5;
    pub(super) const CPU: i32 = 8;
    pub(super) const CURRENT_IDS: i32 = 14;
    pub(super) const CURRENT_NAME: i32 = 16;
    pub(super) const CURRENT_TASK: i32 = 35;
    pub(super) const READ_KERNEL: i32 = 113;
    pub(super) const RING_OUTPUT: i32 = 130;
}

/// The stack, from its end.
mod stack {
    pub(super) const CPU: i16 = -4;
    pub(super) const THREAD: i16 = -8;
    pub(super) const EVENT: i16 = -72;
    pub(super) const VALUE: i16 = -80;
    pub(super) const READ: i16 = -88;
}

/// What stays across calls.
const CONTEXT: Register = 6;
const ENTRY: Register = 7;
const NOW: Register = 8;
const SINCE: Register = 9;

/// `__TASK_STOPPED | __TASK_TRACED`.
const STOPPED: i32 = 4 | 8;
/// The top bit of a wait's begin: it is no wait, the thread is stopped.
const STOPPED_SHIFT: i32 = 63;

struct Writer<'a> {
    a: Assembler,
    on: &'a Environment,
}

/// At a switch: what had the CPU, and whether what has it now had to wait. The context is (preempted, previous, next).
pub(super) fn switch(on: &Environment) -> Option<Vec<u64>> {
    let mut w = Writer { a: Assembler::default(), on };
    w.begin();
    let (waits, accumulate, idle) = (w.a.label(), w.a.label(), w.a.label());
    w.a.load(Width::Eight, SINCE, ENTRY, cpu::SINCE);
    w.a.store(Width::Eight, ENTRY, cpu::SINCE, NOW);
    w.note_own_that_leaves();
    w.a.jump_if(SINCE, If::Equal, 0, waits);
    w.a.call(kernel_calls::CURRENT_IDS);
    w.a.shift_left(0, 32);
    w.a.jump_if(0, If::Equal, 0, idle);
    w.a.copy(1, NOW);
    w.a.subtract(1, SINCE);
    w.a.jump_if(1, If::Below, LEAST.0 as i32, accumulate);
    w.flush_short(LEAST.0 as i32, SINCE);
    w.tell_task();
    w.a.jump(waits);

    w.a.place(idle);
    w.flush_short(LEAST.0 as i32, SINCE);
    w.a.jump(waits);

    let add = w.a.label();
    w.a.place(accumulate);
    w.a.load(Width::Eight, 2, ENTRY, cpu::SHORT_SUM);
    w.a.jump_if(2, If::NotEqual, 0, add);
    w.a.store(Width::Eight, ENTRY, cpu::SHORT_BEGIN, SINCE);
    w.a.place(add);
    w.a.add_register(2, 1);
    w.a.store(Width::Eight, ENTRY, cpu::SHORT_SUM, 2);

    w.a.place(waits);
    w.tell_wait();
    w.a.set(0, 0);
    w.a.exit();
    w.a.finish()
}

/// At a wake: a thread of ours waits from here on. The context is (task).
pub(super) fn wakeup(on: &Environment) -> Option<Vec<u64>> {
    let mut w = Writer { a: Assembler::default(), on };
    let (end, update) = (w.a.label(), w.a.label());
    w.a.copy(CONTEXT, 1);
    w.read_of_task(0, on.task.tgid, stack::READ);
    w.a.load(Width::Four, 1, STACK, stack::READ);
    w.a.jump_if(1, If::NotEqual, on.own, end);
    w.read_of_task(0, on.task.pid, stack::THREAD);
    w.find_wait();
    w.a.jump_if(0, If::Equal, 0, update);
    w.a.load(Width::Eight, 1, 0, 0);
    // It goes on after a stop: that it was stopped is what is to be told.
    w.a.jump_if(1, If::Negative, 0, end);
    w.a.place(update);
    w.a.call(kernel_calls::NOW);
    w.a.store(Width::Eight, STACK, stack::VALUE, 0);
    w.update_wait();
    w.a.place(end);
    w.a.set(0, 0);
    w.a.exit();
    w.a.finish()
}

/// Where an interrupt begins.
pub(super) fn interrupt_entry(on: &Environment, kind: Told) -> Option<Vec<u64>> {
    let mut w = Writer { a: Assembler::default(), on };
    w.begin();
    w.a.store(Width::Eight, ENTRY, slot(kind), NOW);
    w.a.set(0, 0);
    w.a.exit();
    w.a.finish()
}

/// Where it ends. The number is that of the context's first word, or the one that is given.
pub(super) fn interrupt_exit(on: &Environment, kind: Told, number: Option<i32>) -> Option<Vec<u64>> {
    let mut w = Writer { a: Assembler::default(), on };
    let end = w.a.label();
    w.begin();
    w.a.load(Width::Eight, SINCE, ENTRY, slot(kind));
    w.a.store_number(Width::Eight, ENTRY, slot(kind), 0);
    w.a.jump_if(SINCE, If::Equal, 0, end);
    w.a.copy(1, NOW);
    w.a.subtract(1, SINCE);
    w.a.jump_if(1, If::Below, LEAST.0 as i32, end);
    w.start_event(kind, SINCE, NOW);
    match number {
        Some(number) => w.a.set(1, number),
        None => w.a.load(Width::Eight, 1, CONTEXT, 0),
    }
    w.a.store(Width::Four, STACK, field(event::ID), 1);
    w.send_event();
    w.a.place(end);
    w.a.set(0, 0);
    w.a.exit();
    w.a.finish()
}

/// Gives the process that runs it, as the kernel knows it: in a container we know ourselves by another number.
pub(super) fn own_process() -> Option<Vec<u64>> {
    let mut a = Assembler::default();
    a.call(kernel_calls::CURRENT_IDS);
    a.shift_right(0, 32);
    a.exit();
    a.finish()
}

/// Where an interrupt of the kind notes its begin.
fn slot(kind: Told) -> i16 {
    match kind {
        Told::Irq => cpu::INTERRUPTED[0],
        Told::Softirq => cpu::INTERRUPTED[1],
        _ => cpu::INTERRUPTED[2],
    }
}

fn field(offset: usize) -> i16 {
    stack::EVENT + offset as i16
}

impl Writer<'_> {
    /// Ends on CPUs that nobody observes; then the registers are set, but for [`SINCE`].
    fn begin(&mut self) {
        let a = &mut self.a;
        let (known, observed) = (a.label(), a.label());
        a.copy(CONTEXT, 1);
        a.call(kernel_calls::CPU);
        a.store(Width::Four, STACK, stack::CPU, 0);
        a.load_map(1, self.on.cpus);
        a.copy(2, STACK);
        a.add(2, i32::from(stack::CPU));
        a.call(kernel_calls::MAP_LOOKUP);
        a.jump_if(0, If::NotEqual, 0, known);
        a.exit();
        a.place(known);
        a.copy(ENTRY, 0);
        a.load(Width::Eight, 0, ENTRY, cpu::IS_OBSERVED);
        a.jump_if(0, If::NotEqual, 0, observed);
        a.exit();
        a.place(observed);
        a.call(kernel_calls::NOW);
        a.copy(NOW, 0);
    }

    /// Of a thread of ours that leaves the CPU: it waits if it could go on, is stopped, or sleeps.
    fn note_own_that_leaves(&mut self) {
        let (other, waits, stops) = (self.a.label(), self.a.label(), self.a.label());
        self.a.call(kernel_calls::CURRENT_IDS);
        self.a.copy(1, 0);
        self.a.shift_right(1, 32);
        self.a.jump_if(1, If::NotEqual, self.on.own, other);
        self.a.store(Width::Four, STACK, stack::THREAD, 0);
        self.read_of_current(self.on.task.state, stack::READ);
        self.a.load(Width::Four, 1, STACK, stack::READ);
        self.a.copy(2, NOW);
        self.a.jump_if(1, If::Equal, 0, waits);
        self.a.jump_if(1, If::AnyBit, STOPPED, stops);
        self.a.load_map(1, self.on.waits);
        self.point_at(2, stack::THREAD);
        self.a.call(kernel_calls::MAP_DELETE);
        self.a.jump(other);
        self.a.place(stops);
        self.a.set(1, 1);
        self.a.shift_left(1, STOPPED_SHIFT);
        self.a.add_register(2, 1);
        self.a.place(waits);
        self.a.store(Width::Eight, STACK, stack::VALUE, 2);
        self.update_wait();
        self.a.place(other);
    }

    /// Whoever has the CPU from now on: whether it is ours and had to wait.
    fn tell_wait(&mut self) {
        let (none, stopped) = (self.a.label(), self.a.label());
        self.read_of_task(16, self.on.task.pid, stack::THREAD);
        self.find_wait();
        self.a.jump_if(0, If::Equal, 0, none);
        self.a.load(Width::Eight, SINCE, 0, 0);
        self.a.jump_if(SINCE, If::Negative, 0, stopped);
        self.a.copy(1, NOW);
        self.a.subtract(1, SINCE);
        self.a.jump_if(1, If::Below, WAITED.0 as i32, none);
        self.flush_short(1, NOW);
        self.start_event(Told::Wait, SINCE, NOW);
        self.send_event();
        self.a.jump(none);
        self.a.place(stopped);
        self.a.shift_left(SINCE, 1);
        self.a.shift_right(SINCE, 1);
        self.start_event(Told::Stop, SINCE, NOW);
        self.send_event();
        self.a.place(none);
    }

    /// The task that leaves the CPU had it since [`SINCE`].
    fn tell_task(&mut self) {
        self.start_event(Told::Task, SINCE, NOW);
        self.a.call(kernel_calls::CURRENT_IDS);
        self.a.store(Width::Eight, STACK, field(event::ID), 0);
        self.point_at(1, field(event::NAME));
        self.a.set(2, 16);
        self.a.call(kernel_calls::CURRENT_NAME);
        self.read_of_current(self.on.task.flags, field(event::FLAGS));
        self.send_event();
    }

    /// Tells of the short ones until `end`, if they sum to `least`; in any case there are none any more.
    fn flush_short(&mut self, least: i32, end: Register) {
        let none = self.a.label();
        self.a.load(Width::Eight, 1, ENTRY, cpu::SHORT_SUM);
        self.a.store_number(Width::Eight, ENTRY, cpu::SHORT_SUM, 0);
        self.a.jump_if(1, If::Below, least, none);
        self.a.store(Width::Eight, STACK, stack::VALUE, 1);
        self.a.load(Width::Eight, 2, ENTRY, cpu::SHORT_BEGIN);
        self.start_event(Told::Short, 2, end);
        self.a.load(Width::Eight, 1, STACK, stack::VALUE);
        self.a.store(Width::Eight, STACK, field(event::RAN), 1);
        self.send_event();
        self.a.place(none);
    }

    /// An event with its times and its CPU, and zeros in all else. Uses register 1.
    fn start_event(&mut self, kind: Told, begin: Register, end: Register) {
        for offset in (0..event::SIZE).step_by(8) {
            self.a.store_number(Width::Eight, STACK, field(offset), 0);
        }
        self.a.store(Width::Eight, STACK, field(event::BEGIN), begin);
        self.a.store(Width::Eight, STACK, field(event::END), end);
        self.a.copy(1, end);
        self.a.subtract(1, begin);
        self.a.store(Width::Eight, STACK, field(event::RAN), 1);
        self.a.store_number(Width::Four, STACK, field(event::KIND), kind as i32);
        self.a.load(Width::Four, 1, STACK, stack::CPU);
        self.a.store(Width::Four, STACK, field(event::CPU), 1);
    }

    fn send_event(&mut self) {
        /// Whoever reads the ring looks each round: waking it would cost more than what is told.
        const NO_WAKEUP: i32 = 1;
        let sent = self.a.label();
        self.a.load_map(1, self.on.ring);
        self.point_at(2, stack::EVENT);
        self.a.set(3, event::SIZE as i32);
        self.a.set(4, NO_WAKEUP);
        self.a.call(kernel_calls::RING_OUTPUT);
        self.a.jump_if(0, If::Equal, 0, sent);
        self.count_lost();
        self.a.place(sent);
    }

    fn count_lost(&mut self) {
        let end = self.a.label();
        self.a.store_number(Width::Four, STACK, stack::READ, 0);
        self.a.load_map(1, self.on.lost);
        self.point_at(2, stack::READ);
        self.a.call(kernel_calls::MAP_LOOKUP);
        self.a.jump_if(0, If::Equal, 0, end);
        self.a.set(1, 1);
        self.a.add_atomically(0, 0, 1);
        self.a.place(end);
    }

    /// The wait of the thread that the stack names.
    fn find_wait(&mut self) {
        self.a.load_map(1, self.on.waits);
        self.point_at(2, stack::THREAD);
        self.a.call(kernel_calls::MAP_LOOKUP);
    }

    fn update_wait(&mut self) {
        let known = self.a.label();
        self.a.load_map(1, self.on.waits);
        self.point_at(2, stack::THREAD);
        self.point_at(3, stack::VALUE);
        self.a.set(4, 0);
        self.a.call(kernel_calls::MAP_UPDATE);
        self.a.jump_if(0, If::Equal, 0, known);
        self.count_lost();
        self.a.place(known);
    }

    /// Four bytes of the task that the context names at `argument`.
    fn read_of_task(&mut self, argument: i16, member: i32, to: i16) {
        self.a.load(Width::Eight, 3, CONTEXT, argument);
        self.read_kernel(member, to);
    }

    /// Four bytes of the task that has the CPU.
    fn read_of_current(&mut self, member: i32, to: i16) {
        self.a.call(kernel_calls::CURRENT_TASK);
        self.a.copy(3, 0);
        self.read_kernel(member, to);
    }

    fn read_kernel(&mut self, member: i32, to: i16) {
        self.a.add(3, member);
        self.point_at(1, to);
        self.a.set(2, 4);
        self.a.call(kernel_calls::READ_KERNEL);
    }

    fn point_at(&mut self, register: Register, offset: i16) {
        self.a.copy(register, STACK);
        self.a.add(register, i32::from(offset));
    }
}
