//! RESP as clients see it: exact answers, the same as a real Redis's, however the bytes are cut, whatever they are.

mod commands;
mod differential;
mod store_of_one;
