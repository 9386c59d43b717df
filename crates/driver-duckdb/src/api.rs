//! DuckDB's C API, as far as it is used here: types and a table of functions.
//!
//! Bindings of our own for some fifty functions, found when the program runs. A crate that links against DuckDB would bring
//! its build (or its absence) to everyone who builds truetail, and `arrow` besides.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// 0 is success.
pub(crate) type State = c_uint;
/// What all objects are: pointers whose target is DuckDB's.
pub(crate) type Handle = *mut c_void;
pub(crate) type Text = *const c_char;

/// `duckdb_result`; only DuckDB looks into it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawResult {
    deprecated: [u64; 3],
    deprecated_pointers: [*mut c_void; 2],
    internal: *mut c_void,
}

impl RawResult {
    pub(crate) fn new() -> RawResult {
        RawResult {
            deprecated: [0; 3],
            deprecated_pointers: [std::ptr::null_mut(); 2],
            internal: std::ptr::null_mut(),
        }
    }
}

/// `duckdb_hugeint`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct HugeInt {
    pub(crate) lower: u64,
    pub(crate) upper: i64,
}

/// `duckdb_decimal`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawDecimal {
    pub(crate) width: u8,
    pub(crate) scale: u8,
    pub(crate) value: HugeInt,
}

/// Numbers of `duckdb_type`.
pub(crate) mod kind {
    use super::c_uint;
    pub(crate) const BOOLEAN: c_uint = 1;
    pub(crate) const TINYINT: c_uint = 2;
    pub(crate) const SMALLINT: c_uint = 3;
    pub(crate) const INTEGER: c_uint = 4;
    pub(crate) const BIGINT: c_uint = 5;
    pub(crate) const UTINYINT: c_uint = 6;
    pub(crate) const USMALLINT: c_uint = 7;
    pub(crate) const UINTEGER: c_uint = 8;
    pub(crate) const UBIGINT: c_uint = 9;
    pub(crate) const FLOAT: c_uint = 10;
    pub(crate) const DOUBLE: c_uint = 11;
    pub(crate) const TIMESTAMP: c_uint = 12;
    pub(crate) const DATE: c_uint = 13;
    pub(crate) const HUGEINT: c_uint = 16;
    pub(crate) const VARCHAR: c_uint = 17;
    pub(crate) const BLOB: c_uint = 18;
    pub(crate) const DECIMAL: c_uint = 19;
    pub(crate) const TIMESTAMP_TZ: c_uint = 31;
}

/// Numbers of `duckdb_error_type` that decide a class.
pub(crate) mod problem {
    use super::c_uint;
    pub(crate) const TRANSACTION: c_uint = 10;
    pub(crate) const CONSTRAINT: c_uint = 18;
    pub(crate) const INTERRUPT: c_uint = 29;
    pub(crate) const FATAL: c_uint = 30;
    pub(crate) const OUT_OF_MEMORY: c_uint = 33;
}

/// Numbers of `duckdb_result_type` and `duckdb_statement_type`.
pub(crate) mod returns {
    use super::c_uint;
    pub(crate) const CHANGED_ROWS: c_uint = 1;
    pub(crate) const QUERY_RESULT: c_uint = 3;
    pub(crate) const OF_INSERT: c_uint = 2;
    pub(crate) const OF_UPDATE: c_uint = 3;
    pub(crate) const OF_DELETE: c_uint = 5;
}

/// Makes the table of functions, and the way to it from a loaded library.
macro_rules! api {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// The functions, by their names without `duckdb_`.
        pub(crate) struct Api { $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?),+ }

        impl Api {
            /// Looks all functions up; the name of the first that is missing otherwise.
            ///
            /// # Safety
            /// `library` is open and stays so; where it has a function of DuckDB's name, it is DuckDB's.
            pub(crate) unsafe fn find(library: *mut c_void) -> Result<Api, &'static str> {
                Ok(Api { $($name: {
                    let name = concat!("duckdb_", stringify!($name), "\0");
                    // SAFETY: the library is open and the name ends with a zero.
                    let found = unsafe { libc::dlsym(library, name.as_ptr().cast()) };
                    if found.is_null() {
                        return Err(name.trim_end_matches('\0'));
                    }
                    // SAFETY: the signature is that of DuckDB's header, which only ever adds functions.
                    unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
                    }
                }),+ })
            }
        }
    };
}

api! {
    library_version() -> Text;
    free(*mut c_void);
    create_instance_cache() -> Handle;
    get_or_create_from_cache(Handle, Text, *mut Handle, Handle, *mut *mut c_char) -> State;
    create_config(*mut Handle) -> State;
    set_config(Handle, Text, Text) -> State;
    destroy_config(*mut Handle);
    close(*mut Handle);
    connect(Handle, *mut Handle) -> State;
    disconnect(*mut Handle);
    interrupt(Handle);
    query(Handle, Text, *mut RawResult) -> State;
    prepare(Handle, Text, *mut Handle) -> State;
    prepare_error(Handle) -> Text;
    destroy_prepare(*mut Handle);
    prepared_statement_type(Handle) -> c_uint;
    prepared_statement_column_count(Handle) -> u64;
    nparams(Handle) -> u64;
    param_type(Handle, u64) -> c_uint;
    param_logical_type(Handle, u64) -> Handle;
    bind_null(Handle, u64) -> State;
    bind_int8(Handle, u64, i8) -> State;
    bind_int16(Handle, u64, i16) -> State;
    bind_int32(Handle, u64, i32) -> State;
    bind_int64(Handle, u64, i64) -> State;
    bind_double(Handle, u64, f64) -> State;
    bind_varchar_length(Handle, u64, Text, u64) -> State;
    bind_timestamp(Handle, u64, i64) -> State;
    bind_timestamp_tz(Handle, u64, i64) -> State;
    bind_decimal(Handle, u64, RawDecimal) -> State;
    execute_prepared(Handle, *mut RawResult) -> State;
    destroy_result(*mut RawResult);
    result_error(*mut RawResult) -> Text;
    result_error_type(*mut RawResult) -> c_uint;
    result_return_type(RawResult) -> c_uint;
    rows_changed(*mut RawResult) -> u64;
    column_count(*mut RawResult) -> u64;
    column_logical_type(*mut RawResult, u64) -> Handle;
    fetch_chunk(RawResult) -> Handle;
    destroy_data_chunk(*mut Handle);
    data_chunk_get_size(Handle) -> u64;
    data_chunk_get_vector(Handle, u64) -> Handle;
    vector_get_data(Handle) -> *mut c_void;
    vector_get_validity(Handle) -> *mut u64;
    get_type_id(Handle) -> c_uint;
    decimal_width(Handle) -> u8;
    decimal_scale(Handle) -> u8;
    decimal_internal_type(Handle) -> c_uint;
    destroy_logical_type(*mut Handle);
    appender_create(Handle, Text, Text, *mut Handle) -> State;
    appender_add_column(Handle, Text) -> State;
    appender_error(Handle) -> Text;
    appender_end_row(Handle) -> State;
    appender_close(Handle) -> State;
    appender_destroy(*mut Handle) -> State;
    append_null(Handle) -> State;
    append_int64(Handle, i64) -> State;
    append_double(Handle, f64) -> State;
    append_timestamp(Handle, i64) -> State;
    append_varchar_length(Handle, Text, u64) -> State;
}

/// The type of a column or of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    /// One of [`kind`]; 0 where DuckDB does not know it yet.
    pub(crate) id: c_uint,
    /// Of decimals: digits, digits after the point, and the integer that holds them.
    pub(crate) width: u8,
    pub(crate) scale: u8,
    pub(crate) held_as: c_uint,
}

impl Kind {
    /// Takes a logical type apart and gives it back.
    ///
    /// # Safety
    /// `logical` is null or a logical type that nobody else destroys.
    pub(crate) unsafe fn take(api: &Api, mut logical: Handle) -> Kind {
        let mut kind = Kind { id: 0, width: 0, scale: 0, held_as: 0 };
        if logical.is_null() {
            return kind;
        }
        // SAFETY: the type is alive until its end here.
        unsafe {
            kind.id = (api.get_type_id)(logical);
            kind.held_as = kind.id;
            if kind.id == self::kind::DECIMAL {
                kind.width = (api.decimal_width)(logical);
                kind.scale = (api.decimal_scale)(logical);
                kind.held_as = (api.decimal_internal_type)(logical);
            }
            (api.destroy_logical_type)(&mut logical);
        }
        kind
    }
}

/// Bytes of a text that DuckDB owns; none for null.
///
/// # Safety
/// The text ends with a zero and stays as long as the result is used.
pub(crate) unsafe fn bytes<'a>(text: Text) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: as the caller promises.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_bytes()
}

/// The first line of what DuckDB says; what follows it draws the statement.
pub(crate) fn first_line(words: &[u8]) -> &[u8] {
    words.split(|byte| *byte == b'\n').next().unwrap_or(words)
}

/// `RTLD_*` for a library that stays: its symbols are its own, and all of them must be there.
pub(crate) const STAYS: c_int = libc::RTLD_NOW | libc::RTLD_LOCAL;
