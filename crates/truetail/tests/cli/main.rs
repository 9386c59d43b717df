//! The program as its users meet it: started as a process, judged by what it prints, writes and returns.

mod attributed;
mod bad_input;
mod benchbase;
mod booking;
mod clients;
mod compared;
mod configured;
#[cfg(feature = "cql")]
mod cql;
mod custom;
mod damaged;
mod data_set;
mod disk_full;
#[cfg(feature = "duckdb")]
mod duckdb;
mod exported;
mod floor;
mod helped;
mod imported;
mod imported_hdr;
mod imported_rates;
mod interrupted;
mod json;
mod jvm;
mod mariadb;
mod merged;
mod models;
#[cfg(feature = "mongodb")]
mod mongodb;
mod observed;
mod outage;
mod passwords;
mod pinned;
mod program;
mod quantiles;
mod redis;
mod repeatable;
mod run;
mod searched;
mod server_log;
mod staleness;
mod statements;
mod tell_tale;
mod tell_tale_database;
mod terminal;
mod tpcc;
mod truth;
mod ycsb;
mod ycsb_db;
