# SPDX-License-Identifier: MIT
"""The functions of <trace.h> and <trace_ext.h> that this package calls."""

import os
import struct
from typing import Any

import cffi

LIBRARY = "libposixtrace.so.0"

ffi: Any = cffi.FFI()
ffi.cdef("""
typedef unsigned int trace_event_id_t;
typedef unsigned long trace_id_t;
typedef int pid_t;

struct txtrace_event {
	unsigned long long time_ns, address, thread;
	size_t offset, length;
	trace_event_id_t type;
	pid_t pid;
	int truncation;
	unsigned int cpu, context;
	int priority;
	unsigned int interrupted;
	int phase;
	unsigned int native, state, object, waker;
	unsigned long long reserved[2];
};

struct txtrace_enum_name {
	const char *name;
	long long value;
};

struct txtrace_field {
	const char *name;
	int kind;
	unsigned int depth, bit, bits, size, nr_dims;
	unsigned int dim[4];
	unsigned int nr_names;
	int is_signed;
	const struct txtrace_enum_name *names;
	unsigned int nr_members;
	unsigned int reserved[3];
};

struct txtrace_layout {
	const struct txtrace_field *field;
	unsigned int nr_fields, size;
	int is_big, is_rest;
	unsigned int reserved[4];
};

struct txtrace_object {
	unsigned int handle;
	int type, priority, released;
	pid_t pid, tid;
	unsigned int parameter[2];
	char name[64];
	unsigned long long address, site;
	unsigned long long reserved[2];
};

struct txtrace_loss {
	unsigned long long overwritten, dropped, abandoned;
	unsigned long long reserved[5];
};

struct posix_trace_status_info {
	int posix_stream_status, posix_stream_full_status, posix_stream_overrun_status, posix_stream_flush_status;
	int posix_stream_flush_error, posix_log_overrun_status, posix_log_full_status;
	int reserved[9];
};

struct txtrace_file_info {
	int foreign, byte_swapped, complete, text;
	double tick_ns;
	unsigned int time_mask, name_size, nr_objects, nr_volumes;
	unsigned long long nr_slots, nr_entries, nr_shortened, shortened_ns;
	int recovered, running;
	unsigned long long size, whole_size, nr_events, nr_missing;
	int only_image;
	unsigned int format;
	int damaged, nr_log_lost;
	unsigned long long nr_unlisted;
};

struct txtrace_origin {
	unsigned int host;
	pid_t pid;
	int merged, reserved_int;
	long long shift_ns, drift, uncertainty_ns;
	char name[64], host_name[64], boot_id[40], uuid[40];
	unsigned long long reserved[4];
};

int txtrace_open(int fd, int flags, trace_id_t *trid);
int posix_trace_close(trace_id_t trid);
int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo);
int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *name);
int posix_trace_eventtypelist_getnext_id(trace_id_t trid, trace_event_id_t *event, int *unavailable);
int posix_trace_eventtypelist_rewind(trace_id_t trid);
int txtrace_getnext_events(trace_id_t trid, struct txtrace_event *events, size_t nr_events, void *data, size_t size,
			   size_t *nr_read);
int txtrace_get_layout(trace_id_t trid, trace_event_id_t event, struct txtrace_layout **layout);
void txtrace_free_layout(struct txtrace_layout *layout);
int txtrace_get_type_description(trace_id_t trid, trace_event_id_t event, char *buffer, size_t size, size_t *length);
int txtrace_getnext_object(trace_id_t trid, struct txtrace_object *object, int *unavailable);
int txtrace_rewind_objects(trace_id_t trid);
int txtrace_get_loss(trace_id_t trid, struct txtrace_loss *loss);
int txtrace_get_file_info(trace_id_t trid, struct txtrace_file_info *info);
int txtrace_set_tick(trace_id_t trid, double tick_ns);
int txtrace_get_origin(trace_id_t trid, unsigned int i, struct txtrace_origin *origin);
""")

#: The members of struct txtrace_event, for the module struct.
EVENT_FORMAT = "@QQQNNIiiIIiIiIIIIQQ"
EVENT_SIZE = struct.calcsize(EVENT_FORMAT)

OPEN_RUNNING = 1
OPEN_DAMAGED = 2
NO_OVERRUN = 0  # POSIX_TRACE_NO_OVERRUN
HOST_PIDS = 10000000  # TXTRACE_HOST_PIDS
NAME_BYTES = 64  # more than TRACE_EVENT_NAME_MAX


class TraceError(OSError):
    """A call of the library failed; errno is the error number that it returned.

    EINVAL: also if the tool refuses a command.
    EBADMSG: an iteration has returned all events that can be read, and others could not be read.
    """


def prefix() -> str:
    """Return the prefix under which this package is installed, such as /usr/local."""
    return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", ".."))


def _load() -> Any:
    beside = [os.path.join(prefix(), folder, LIBRARY) for folder in ("lib", "lib64")]
    try:
        library = ffi.dlopen(next(filter(os.path.exists, beside), LIBRARY))
    except OSError as error:
        raise ImportError(f"txtrace needs the library {LIBRARY} of posixtrace: {error}") from error
    if ffi.sizeof("struct txtrace_event") != EVENT_SIZE:
        raise ImportError("txtrace does not know the layout of structures on this machine")
    return library


lib: Any = _load()


def check(error: int, what: str, advice: str = "") -> None:
    """Raise TraceError if a call of the library has returned an error number."""
    if error:
        raise TraceError(error, f"{what}: {os.strerror(error)}" + (f": {advice}" if advice else ""))


def text(raw: bytes) -> str:
    """Return bytes as a text; bytes that are no UTF-8 become surrogates, so that none is lost."""
    return raw.decode("utf-8", "surrogateescape")
