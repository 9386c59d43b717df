//! The suite that every driver must pass.
