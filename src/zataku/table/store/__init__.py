"""The typed Store: reads, writes, transactions, paging, streams, permissions, metering and retries."""
