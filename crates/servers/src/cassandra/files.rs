//! A node's configuration, and the arguments of its JVM.

use super::{Node, fetch};
use std::path::Path;

/// Packages of the JDK that Cassandra reaches into: `--add-exports`.
const EXPORTS: [&str; 6] = [
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport.tcp",
    "java.sql/java.sql",
];

/// And deeper: `--add-opens`.
const OPENS: [&str; 15] = [
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/java.lang",
];

/// Writes what the node reads when it starts.
pub(super) fn write(node: &Node) -> Result<(), String> {
    let write = |name: &str, text: &str| {
        let path = node.directory.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    write("cassandra.yaml", &configuration(node))?;
    write("logback.xml", &logging(&node.log()))
}

fn configuration(node: &Node) -> String {
    let data = node.directory.join("data");
    let data = data.display();
    let own: Vec<(&str, String)> = vec![
        ("cluster_name", "truetail".to_owned()),
        ("num_tokens", "16".to_owned()),
        ("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner".to_owned()),
        ("endpoint_snitch", "SimpleSnitch".to_owned()),
        ("listen_address", node.address()),
        ("rpc_address", node.address()),
        ("storage_port", node.ports.storage.to_string()),
        ("native_transport_port", node.ports.native.to_string()),
        ("commitlog_sync", "periodic".to_owned()),
        ("commitlog_sync_period", "10000ms".to_owned()),
        ("commitlog_segment_size", "32MiB".to_owned()),
        ("memtable_heap_space", format!("{}MiB", node.options.heap_mib / 4)),
        ("memtable_offheap_space", format!("{}MiB", node.options.heap_mib / 4)),
        ("key_cache_size", "16MiB".to_owned()),
        ("file_cache_size", "64MiB".to_owned()),
        ("networking_cache_size", "16MiB".to_owned()),
        ("concurrent_reads", "16".to_owned()),
        ("concurrent_writes", "16".to_owned()),
        ("concurrent_counter_writes", "4".to_owned()),
        ("auto_snapshot", "false".to_owned()),
        (
            "authenticator",
            if node.options.authenticates { "PasswordAuthenticator" } else { "AllowAllAuthenticator" }
                .to_owned(),
        ),
        ("hints_directory", format!("{data}/hints")),
        ("commitlog_directory", format!("{data}/commitlog")),
        ("cdc_raw_directory", format!("{data}/cdc")),
        ("saved_caches_directory", format!("{data}/saved")),
    ];
    let is_replaced = |name: &str| node.options.settings.iter().any(|(other, _)| other == name);
    let mut text = String::new();
    for (name, value) in own.iter().filter(|(name, _)| !is_replaced(name)) {
        text += &format!("{name}: {value}\n");
    }
    for (name, value) in &node.options.settings {
        text += &format!("{name}: {value}\n");
    }
    text += &format!("data_file_directories:\n  - {data}/data\n");
    // The first node is where the others ask for the cluster.
    text += &format!(
        "seed_provider:\n  - class_name: org.apache.cassandra.locator.SimpleSeedProvider\n    parameters:\n      \
         - seeds: \"127.0.0.1:{}\"\n",
        node.ports.storage
    );
    text
}

fn logging(log: &Path) -> String {
    format!(
        "<configuration><appender name=\"log\" class=\"ch.qos.logback.core.FileAppender\"><file>{}</file><encoder>\
         <pattern>%d{{yyyy-MM-dd'T'HH:mm:ss.SSS,UTC}}Z %-5level [%thread] %logger{{0}} - %msg%n</pattern></encoder>\
         </appender><root level=\"INFO\"><appender-ref ref=\"log\"/></root></configuration>\n",
        log.display()
    )
}

/// What `java` is started with.
pub(super) fn arguments(node: &Node) -> Vec<String> {
    let lib = fetch::place().unwrap_or_default();
    let heap = node.options.heap_mib;
    let mut arguments = vec![format!("-Xms{heap}m"), format!("-Xmx{heap}m")];
    arguments.extend(["-XX:+UseG1GC", "-Xss256k", "-Djdk.attach.allowAttachSelf=true"].map(str::to_owned));
    if let Ok(agent) = fetch::agent(&lib) {
        arguments.push(format!("-javaagent:{}", agent.display()));
    }
    for (flag, packages) in [("--add-exports", &EXPORTS[..]), ("--add-opens", &OPENS[..])] {
        arguments.extend(packages.iter().map(|package| format!("{flag}={package}=ALL-UNNAMED")));
    }
    let directory = node.directory.display();
    let properties = [
        ("cassandra.config", format!("file://{directory}/cassandra.yaml")),
        ("logback.configurationFile", format!("file://{directory}/logback.xml")),
        ("cassandra.storagedir", format!("{directory}/data")),
        ("cassandra-foreground", "yes".to_owned()),
        ("cassandra.ring_delay_ms", node.options.ring_delay_ms.to_string()),
        ("cassandra.superuser_setup_delay_ms", "0".to_owned()),
        // Nobody else can be there: a first node has nobody to wait for.
        ("cassandra.skip_wait_for_gossip_to_settle", if node.number == 1 { "0" } else { "-1" }.to_owned()),
        ("java.io.tmpdir", format!("{directory}")),
    ];
    arguments.extend(properties.iter().map(|(name, value)| format!("-D{name}={value}")));
    arguments.extend(["-cp".to_owned(), format!("{}/*", lib.display())]);
    arguments.push("org.apache.cassandra.service.CassandraDaemon".to_owned());
    arguments
}
