"""Mail: messages as their senders wrote them, their segments, threads and inclusive messages."""
