//! The program as its users meet it: started as a process, judged by what it prints, writes and returns.

mod bad_input;
mod clients;
mod compared;
mod configured;
mod damaged;
mod data_set;
mod disk_full;
mod exported;
mod floor;
mod helped;
mod interrupted;
mod json;
mod merged;
mod models;
mod outage;
mod passwords;
mod pinned;
mod program;
mod quantiles;
mod redis;
mod repeatable;
mod run;
mod searched;
mod staleness;
mod terminal;
mod truth;
