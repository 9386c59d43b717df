//! Messages to a client.

use crate::sql::{Format, Notice, OutputColumn, SqlError, Tag, Type};

/// How bad an error is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Severity {
    /// The statement is lost.
    Error,
    /// The connection is.
    Fatal,
}

/// Appends a message.
pub(super) fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = u32::try_from(out.len() - at).unwrap_or(u32::MAX); // replies have limits far below
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    // A zero would end the text early; no message of ours needs one.
    out.extend(text.bytes().filter(|byte| *byte != 0));
    out.push(0);
}

fn push_count(out: &mut Vec<u8>, count: usize) {
    let count = u16::try_from(count).unwrap_or(u16::MAX); // 1664 columns, 65535 parameters at most
    out.extend_from_slice(&count.to_be_bytes());
}

/// AuthenticationOk and its relatives: a number, and what belongs to it.
pub(super) fn authentication(out: &mut Vec<u8>, kind: u32, content: &[u8]) {
    message(out, b'R', |out| {
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(content);
    });
}

/// NegotiateProtocolVersion: 3.0 is spoken, and none of these options.
pub(super) fn negotiate_version(out: &mut Vec<u8>, options: &[String]) {
    message(out, b'v', |out| {
        out.extend_from_slice(&0_u32.to_be_bytes());
        let count = u32::try_from(options.len()).unwrap_or(u32::MAX); // of one start-up packet
        out.extend_from_slice(&count.to_be_bytes());
        for option in options {
            push_text(out, option);
        }
    });
}

pub(super) fn parameter_status(out: &mut Vec<u8>, name: &str, value: &str) {
    message(out, b'S', |out| {
        push_text(out, name);
        push_text(out, value);
    });
}

pub(super) fn backend_key(out: &mut Vec<u8>, backend: u32, secret: u32) {
    message(out, b'K', |out| {
        out.extend_from_slice(&backend.to_be_bytes());
        out.extend_from_slice(&secret.to_be_bytes());
    });
}

pub(super) fn ready(out: &mut Vec<u8>, status: u8) {
    message(out, b'Z', |out| out.push(status));
}

pub(super) fn error(out: &mut Vec<u8>, severity: Severity, error: &SqlError) {
    let severity = match severity {
        Severity::Error => "ERROR",
        Severity::Fatal => "FATAL",
    };
    let position = error.position.map(|position| position.to_string());
    fields(out, b'E', severity, error.state, &error.message, error.detail.as_deref(), position.as_deref());
}

pub(super) fn notice(out: &mut Vec<u8>, notice: &Notice) {
    fields(out, b'N', notice.severity, notice.state, &notice.message, None, None);
}

fn fields(
    out: &mut Vec<u8>,
    tag: u8,
    severity: &str,
    state: &str,
    text: &str,
    detail: Option<&str>,
    position: Option<&str>,
) {
    let fields = [
        (b'S', Some(severity)),
        (b'V', Some(severity)),
        (b'C', Some(state)),
        (b'M', Some(text)),
        (b'D', detail),
        (b'P', position),
    ];
    message(out, tag, |out| {
        for (kind, value) in fields {
            if let Some(value) = value {
                out.push(kind);
                push_text(out, value);
            }
        }
        out.push(0);
    });
}

/// RowDescription; without codes all is text.
pub(super) fn row_description(out: &mut Vec<u8>, columns: &[OutputColumn], formats: &[Format]) {
    message(out, b'T', |out| {
        push_count(out, columns.len());
        for (n, column) in columns.iter().enumerate() {
            push_text(out, &column.name);
            out.extend_from_slice(&[0; 6]); // of no table and no column of one
            out.extend_from_slice(&column.kind.kind.oid().to_be_bytes());
            out.extend_from_slice(&column.kind.kind.size().to_be_bytes());
            out.extend_from_slice(&column.kind.modifier().to_be_bytes());
            let code = u16::from(Format::of(formats, n) == Format::Binary);
            out.extend_from_slice(&code.to_be_bytes());
        }
    });
}

pub(super) fn parameter_description(out: &mut Vec<u8>, parameters: &[Type]) {
    message(out, b't', |out| {
        push_count(out, parameters.len());
        for kind in parameters {
            out.extend_from_slice(&kind.oid().to_be_bytes());
        }
    });
}

/// CopyInResponse: text, so many columns.
pub(super) fn copy_in(out: &mut Vec<u8>, columns: usize) {
    message(out, b'G', |out| {
        out.push(0);
        push_count(out, columns);
        out.extend(std::iter::repeat_n(0, 2 * columns));
    });
}

pub(super) fn complete(out: &mut Vec<u8>, tag: Tag) {
    message(out, b'C', |out| {
        tag.write(out);
        out.push(0);
    });
}

/// ParseComplete, BindComplete, CloseComplete, NoData, EmptyQueryResponse, PortalSuspended: their tags are all they say.
pub(super) fn bare(out: &mut Vec<u8>, tag: u8) {
    message(out, tag, |_| {});
}
