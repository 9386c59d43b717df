//! bpf(2), as far as it is needed: maps, programs, trace points, and the ring through which the kernel tells.

use super::btf;
use super::program::{self, CPU_SIZE, Environment, TaskMembers, Told, VECTORS};
use crate::Unavailable;
use crate::text::unavailable;
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

/// bpf(2)'s commands.
mod command {
    pub(super) const MAP_CREATE: u32 = 0;
    pub(super) const MAP_LOOKUP: u32 = 1;
    pub(super) const MAP_UPDATE: u32 = 2;
    pub(super) const PROGRAM_LOAD: u32 = 5;
    pub(super) const PROGRAM_TEST: u32 = 10;
    pub(super) const RAW_TRACEPOINT_OPEN: u32 = 17;
}

/// Kinds of maps.
mod map {
    pub(super) const HASH: u32 = 1;
    pub(super) const ARRAY: u32 = 2;
    pub(super) const RING: u32 = 27;
}

const RAW_TRACEPOINT: u32 = 17;
/// Helpers that read kernel memory ask for a licence that the kernel's own allows.
const LICENCE: &std::ffi::CStr = c"Dual MIT/GPL";
/// Threads of ours that may wait at once.
const WAITS_MAX: u32 = 1 << 14;
/// Of the ring, for each observed CPU: more than it can say in a tenth of a second, at 72 bytes each 50 µs.
const RING_EACH: usize = 1 << 18;

/// The 128 bytes that bpf(2) takes: as many as any of the commands above knows.
#[repr(C, align(8))]
struct Attributes([u32; 32]);

impl Attributes {
    fn new() -> Attributes {
        Attributes([0; 32])
    }

    /// Four bytes at an offset.
    fn four(mut self, offset: usize, value: u32) -> Attributes {
        self.0[offset / 4] = value;
        self
    }

    fn fd(self, offset: usize, fd: &OwnedFd) -> Attributes {
        self.four(offset, fd.as_raw_fd().cast_unsigned())
    }

    /// A pointer at an offset: eight bytes, the lower half first.
    fn pointer<T: ?Sized>(self, offset: usize, to: *const T) -> Attributes {
        let address = to.cast::<u8>().addr() as u64;
        self.four(offset, address as u32).four(offset + 4, (address >> 32) as u32)
    }
}

/// # Safety
/// Every address in `attributes` is that of something alive, as long as the command says.
unsafe fn bpf(command: u32, attributes: &mut Attributes) -> Result<i32, Error> {
    // SAFETY: the kernel reads and writes 128 bytes that are there; the rest is the caller's promise.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, &raw mut *attributes, std::mem::size_of::<Attributes>())
    };
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result as i32) }
}

fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the kernel has just made it for us, and nobody else knows it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

fn refused(what: &str, error: &Error) -> Unavailable {
    let next = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            ": it needs root, or CAP_BPF and CAP_PERFMON; before Linux 5.11 also `ulimit -l unlimited`"
        }
        Some(libc::ENOSYS) => ": this kernel has no bpf(2)",
        _ => "",
    };
    Unavailable(format!("bpf(2), {what}: {error}{next}"))
}

fn create_map(kind: u32, key: u32, value: u32, entries: u32) -> Result<OwnedFd, Unavailable> {
    let mut attributes = Attributes::new().four(0, kind).four(4, key).four(8, value).four(12, entries);
    // SAFETY: there is no address in it.
    let made = unsafe { bpf(command::MAP_CREATE, &mut attributes) };
    made.map(owned).map_err(|error| refused("a map", &error))
}

fn load(name: &str, code: Option<Vec<u64>>) -> Result<OwnedFd, Unavailable> {
    let code = code.ok_or_else(|| Unavailable(format!("the program of {name} has a jump to nowhere")))?;
    let mut attributes = Attributes::new().four(0, RAW_TRACEPOINT).four(4, code.len() as u32);
    attributes = attributes.pointer(8, code.as_ptr()).pointer(16, LICENCE.as_ptr());
    // SAFETY: instructions and licence outlive the call; the length is that of the instructions.
    match unsafe { bpf(command::PROGRAM_LOAD, &mut attributes) } {
        Ok(fd) => Ok(owned(fd)),
        Err(error) => {
            let (Unavailable(refused), why) = (refused(name, &error), why_not(&code));
            Err(Unavailable(if why.is_empty() { refused } else { format!("{refused} ({why})") }))
        }
    }
}

/// The last line of what the kernel's verifier says of a program; empty where it says nothing.
fn why_not(code: &[u64]) -> String {
    let mut log = vec![0u8; 1 << 18];
    let mut attributes = Attributes::new().four(0, RAW_TRACEPOINT).four(4, code.len() as u32);
    attributes = attributes.pointer(8, code.as_ptr()).pointer(16, LICENCE.as_ptr());
    attributes = attributes.four(24, 1).four(28, log.len() as u32).pointer(32, log.as_mut_ptr());
    // SAFETY: as in `load`; the log is as long as is said.
    if let Ok(fd) = unsafe { bpf(command::PROGRAM_LOAD, &mut attributes) } {
        drop(owned(fd));
        return String::new();
    }
    let text = String::from_utf8_lossy(&log);
    let mut lines =
        text.split('\0').next().unwrap_or("").lines().filter(|line| !line.starts_with("processed "));
    lines.next_back().unwrap_or("").trim().to_owned()
}

fn attach(program: &OwnedFd, tracepoint: &str) -> Result<OwnedFd, Error> {
    let name = std::ffi::CString::new(tracepoint)?;
    let mut attributes = Attributes::new().pointer(0, name.as_ptr()).fd(8, program);
    // SAFETY: the name outlives the call.
    unsafe { bpf(command::RAW_TRACEPOINT_OPEN, &mut attributes) }.map(owned)
}

/// Our process, as the kernel knows it.
fn own_process() -> Result<u32, Unavailable> {
    let program = load("own process", program::own_process())?;
    let context = [0u64; 12];
    let mut attributes = Attributes::new().fd(0, &program);
    attributes = attributes.four(40, std::mem::size_of_val(&context) as u32).pointer(48, context.as_ptr());
    // SAFETY: the context is as long as is said, and outlives the call.
    unsafe { bpf(command::PROGRAM_TEST, &mut attributes) }.map_err(|error| refused("a test run", &error))?;
    Ok(attributes.0[1])
}

/// Members of a task, by the kernel's own description.
fn task_members(sys: &Path) -> Result<TaskMembers, Unavailable> {
    let path = sys.join("kernel/btf/vmlinux");
    let no_btf = |error| unavailable(&path, format!("{error}; it needs a kernel with CONFIG_DEBUG_INFO_BTF"));
    let bytes = std::fs::read(&path).map_err(no_btf)?;
    let members = btf::members_of(&bytes, "task_struct")
        .ok_or_else(|| unavailable(&path, "not in a form that is known"))?;
    let member = |names: &[&str]| {
        let found = names.iter().find_map(|name| members.get(*name)).copied();
        let found = found.and_then(|offset| i32::try_from(offset).ok());
        found.ok_or_else(|| unavailable(&path, format!("no `{}` in a task", names[0])))
    };
    Ok(TaskMembers {
        pid: member(&["pid"])?,
        tgid: member(&["tgid"])?,
        flags: member(&["flags"])?,
        // Until Linux 5.13 it had the other name.
        state: member(&["__state", "state"])?,
    })
}

/// Programs at their trace points; they go when it does.
pub(super) struct Attached {
    /// Our process, as the kernel knows it.
    pub(super) own: u32,
    lost: OwnedFd,
    ring: Ring,
    /// Maps, programs and their links: the kernel keeps what is open.
    _open: Vec<OwnedFd>,
}

impl Attached {
    /// Watches these CPUs.
    pub(super) fn new(cpus: &[usize], sys: &Path) -> Result<Attached, Unavailable> {
        let task = task_members(sys)?;
        let own = own_process()?;
        let most = cpus.iter().max().ok_or_else(|| Unavailable("no CPU is observed".to_owned()))?;
        let by_cpu = create_map(map::ARRAY, 4, CPU_SIZE, *most as u32 + 1)?;
        let waits = create_map(map::HASH, 4, 8, WAITS_MAX)?;
        let lost = create_map(map::ARRAY, 4, 8, 1)?;
        let size = (RING_EACH * cpus.len()).next_power_of_two();
        let ring = create_map(map::RING, 0, 0, size as u32)?;
        observe(&by_cpu, cpus)?;
        let on = Environment {
            cpus: by_cpu.as_raw_fd(),
            waits: waits.as_raw_fd(),
            lost: lost.as_raw_fd(),
            ring: ring.as_raw_fd(),
            own: own.cast_signed(),
            task,
        };
        let mut open = attach_all(&on)?;
        open.extend([by_cpu, waits]);
        Ok(Attached { own, lost, ring: Ring::map(ring, size)?, _open: open })
    }

    /// Hands over what was told since the last call.
    pub(super) fn drain(&mut self, tell: impl FnMut(&[u8])) {
        self.ring.drain(tell);
    }

    /// Events that were lost since the beginning.
    pub(super) fn lost(&self) -> Option<u64> {
        let (key, mut value) = (0u32, 0u64);
        let mut attributes = Attributes::new().fd(0, &self.lost);
        attributes = attributes.pointer(8, &raw const key).pointer(16, &raw mut value);
        // SAFETY: key and value are as long as the map's, and outlive the call.
        let found = unsafe { bpf(command::MAP_LOOKUP, &mut attributes) };
        found.is_ok().then_some(value)
    }
}

fn observe(by_cpu: &OwnedFd, cpus: &[usize]) -> Result<(), Unavailable> {
    for cpu in cpus {
        let (key, mut value) = (*cpu as u32, [0u64; CPU_SIZE as usize / 8]);
        value[0] = 1;
        let mut attributes = Attributes::new().fd(0, by_cpu);
        attributes = attributes.pointer(8, &raw const key).pointer(16, value.as_ptr());
        // SAFETY: key and value are as long as the map's, and outlive the call.
        unsafe { bpf(command::MAP_UPDATE, &mut attributes) }.map_err(|error| refused("a map", &error))?;
    }
    Ok(())
}

/// Loads and attaches all programs. Interrupts of the CPU itself have trace points on some architectures alone.
fn attach_all(on: &Environment) -> Result<Vec<OwnedFd>, Unavailable> {
    let mut open = Vec::new();
    let mut at = |tracepoint: &str, code| -> Result<(), Unavailable> {
        let program = load(tracepoint, code)?;
        let link = attach(&program, tracepoint).map_err(|error| refused(tracepoint, &error))?;
        open.extend([program, link]);
        Ok(())
    };
    at("sched_wakeup", program::wakeup(on))?;
    at("sched_switch", program::switch(on))?;
    let kinds = [("irq_handler", Told::Irq), ("softirq", Told::Softirq)];
    for (name, kind) in kinds {
        at(&format!("{name}_exit"), program::interrupt_exit(on, kind, None))?;
        at(&format!("{name}_entry"), program::interrupt_entry(on, kind))?;
    }
    for (number, name) in VECTORS.iter().enumerate() {
        let exit = program::interrupt_exit(on, Told::Vector, Some(number as i32));
        if at(&format!("{name}_exit"), exit).is_ok() {
            at(&format!("{name}_entry"), program::interrupt_entry(on, Told::Vector))?;
        }
    }
    Ok(open)
}

/// The kernel's ring (Documentation/bpf/ringbuf.rst): it writes, we read.
struct Ring {
    _fd: OwnedFd,
    /// How far we have read: a page that both sides see.
    consumer: Mapping,
    /// How far it has written: a page; then the data, twice, so that what wraps is in one piece.
    producer: Mapping,
    page: usize,
    size: usize,
}

/// Set in a record's length while it is being written.
const BUSY: u32 = 1 << 31;
/// Set where the writer gave up.
const DISCARDED: u32 = 1 << 30;
/// Of a record: its length, and where it is.
const HEAD: usize = 8;

impl Ring {
    fn map(fd: OwnedFd, size: usize) -> Result<Ring, Unavailable> {
        // SAFETY: it takes a plain number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).map_err(|_| Unavailable("the page size is not known".to_owned()))?;
        let raw = fd.as_raw_fd();
        let consumer = Mapping::new(raw, 0, page, libc::PROT_READ | libc::PROT_WRITE)?;
        let producer = Mapping::new(raw, page, page + 2 * size, libc::PROT_READ)?;
        Ok(Ring { _fd: fd, consumer, producer, page, size })
    }

    fn drain(&mut self, mut tell: impl FnMut(&[u8])) {
        use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
        // SAFETY: both are 8 bytes at the begin of a mapped page, which nobody else maps in this process.
        let (read, written) =
            unsafe { (&*self.consumer.at(0).cast::<AtomicU64>(), &*self.producer.at(0).cast::<AtomicU64>()) };
        let mut at = read.load(Ordering::Relaxed);
        // Acquire pairs with the kernel's release: what lies before is written, but for what is marked busy.
        let end = written.load(Ordering::Acquire);
        while at < end {
            let place = self.page + at as usize % self.size;
            // SAFETY: a record's head lies within the data, on 8 bytes.
            let length = unsafe { &*self.producer.at(place).cast::<AtomicU32>() }.load(Ordering::Acquire);
            if length & BUSY != 0 {
                break;
            }
            let bytes = (length & !(BUSY | DISCARDED)) as usize;
            if bytes > self.size {
                break;
            }
            if length & DISCARDED == 0 {
                // SAFETY: a record is no longer than the data, which is mapped twice; the kernel writes no part of it
                // again before `read` has passed it.
                tell(unsafe { std::slice::from_raw_parts(self.producer.at(place + HEAD), bytes) });
            }
            at += (HEAD + bytes).next_multiple_of(8) as u64;
            read.store(at, Ordering::Release);
        }
    }
}

struct Mapping {
    address: *mut u8,
    length: usize,
}

// SAFETY: memory of the process, which any of its threads may read and write.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(fd: RawFd, offset: usize, length: usize, protection: i32) -> Result<Mapping, Unavailable> {
        let offset =
            libc::off_t::try_from(offset).map_err(|_| Unavailable("an offset too far".to_owned()))?;
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let address =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, fd, offset) };
        if address == libc::MAP_FAILED {
            return Err(refused("the ring's memory", &Error::last_os_error()));
        }
        Ok(Mapping { address: address.cast(), length })
    }

    /// The address of a byte in it.
    fn at(&self, offset: usize) -> *const u8 {
        debug_assert!(offset < self.length);
        // SAFETY: it is within the mapping.
        unsafe { self.address.add(offset) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody has it any more.
        unsafe { libc::munmap(self.address.cast(), self.length) };
    }
}

/// The kernel's name of an interrupt line, by `/proc/interrupts`.
pub(super) fn interrupt_name(proc: &Path, number: u32) -> Option<String> {
    let text = std::fs::read_to_string(proc.join("interrupts")).ok()?;
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{number}:")))?;
    line.split_whitespace().next_back().map(str::to_owned)
}
