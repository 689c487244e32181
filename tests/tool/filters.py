# SPDX-License-Identifier: MIT
"""Filters that truth.py gives to all commands, and html_page.py to the search box of the page."""
FILTERS = (  # of calls and of ThreadX's events
    "event:*MUTEX*", "event:*mutex*", "thread:mix*", "thread:sensor and not event:*SEND", "not (cpu=0)", "cpu>=0 pid>0",
    "object:samples and u32[12]<1", "object:busy_lock", "object:*holder*", "number=3 or time>=20ms time<40ms",
    "event:*QUEUE_SEND (cpu=0)", "i32<0", "i64<0 and size=16", "priority>=0 size>=16", "data:queue",
    "zzz or TX_*TIMER*",
    "data.mutex:queue_lock", "data.wait:begins", "data.wait:ends", "data.wait!=ends", "data.result:ENOENT",
    "data.result!=0 not data.result:E*", "data.count>=1", "data.path:/dev/*", "data:nonexist", "data.owner:*holder*",
    "u32[8]=0 event:pthread_mutex_lock", "pthread_cond_wait not data.wait=ends", "data.ns>=3000000",
    "type<100 context!=0",
    "address>0x1000", "data.fd=0x5", "thread:mixture", "thread!=mixture cpu=0", "thread~sensor", "event~*MUTEX*",
    "Sensor", "busy_LOCK", "holder not event:*MUTEX*", "queue", "mutex or nonexist", "'a b'", "TX_", "samples cpu=0",
    "_loc[k]", "pthread_mutex_lock", "enoent", "dev/n", "text",
)
