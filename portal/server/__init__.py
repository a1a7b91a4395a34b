"""The web server: connections, bodies and threads, each bounded.

`python -m portal.server` starts it. uvicorn speaks HTTP; the modules here decide how
much one client may hold of a process, read each body to its end before a thread works
on it, and run Django's synchronous views in a few threads. What stalls therefore waits
in an event loop, where waiting costs a connection and never a thread.

Source: Ours: Django's views are synchronous (architecture.md, section 1), and a server
whose threads read bodies themselves is stopped by as many stalled bodies as it has
threads.
"""

# Seconds that requests at work have to finish once the server is told to stop.
STOP_S = 5
