-- One request of a session: SELECT 1, without a prepared statement.

function thread_init()
   connection = sysbench.sql.driver():connect()
end

function thread_done()
   connection:disconnect()
end

function event()
   connection:query("SELECT 1")
end
