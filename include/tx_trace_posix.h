/* SPDX-License-Identifier: MIT */
/*
 * The trace services of ThreadX for POSIX threads: tx_trace_enable() and the others, and the macros with which
 * components record events and register objects.  They write a trace buffer of ThreadX (TXTB) into memory of the
 * caller.  See tx_trace_enable(3).
 *
 * Define before you include this header:
 *
 *	TX_TRACE_TIME_SOURCE	an expression: the time stamp of an event.  The default counts 100 ns
 *	TX_TRACE_TIME_MASK	the bits of TX_TRACE_TIME_SOURCE that count
 *	TX_TRACE_PORT_EXTENSION	statements before each use of TX_TRACE_TIME_SOURCE
 *	TX_TRACE_SMP		trace as the SMP kernel does: the event id has the number of the CPU in bits 24 to 31
 *	TX_DISABLE_EVENT_TRACE	the services return TX_FEATURE_NOT_ENABLED, and the macros do nothing
 *
 * The file that calls tx_trace_enable() decides about the first four.
 */
#ifndef TX_TRACE_POSIX_H
#define TX_TRACE_POSIX_H

#ifdef TX_API_H
#error "tx_trace_posix.h defines names of ThreadX's tx_api.h: include only one of them"
#endif

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ThreadX's types. */
typedef void VOID;
typedef char CHAR;
typedef unsigned char UCHAR;
typedef int INT;
typedef unsigned int UINT;
typedef int LONG;
typedef unsigned int ULONG; /* 32 bits: a word of the buffer */
typedef short SHORT;
typedef unsigned short USHORT;
typedef uint64_t ULONG64;

#ifndef TX_NULL
#define TX_NULL ((void *)0)
#endif
#define TX_TRUE ((UINT)1)
#define TX_FALSE ((UINT)0)

/* Return values. */
#define TX_SUCCESS ((UINT)0x00)
#define TX_PTR_ERROR ((UINT)0x03)
#define TX_SIZE_ERROR ((UINT)0x05)
#define TX_NOT_DONE ((UINT)0x20)
#define TX_FEATURE_NOT_ENABLED ((UINT)0xFF)

/* Groups of events, for tx_trace_event_filter() and tx_trace_event_unfilter(). */
#define TX_TRACE_ALL_EVENTS 0x000007FFu /* all events of ThreadX; no user events, no FileX, NetX Duo and USBX */
#define TX_TRACE_INTERNAL_EVENTS 0x00000001u
#define TX_TRACE_BLOCK_POOL_EVENTS 0x00000002u
#define TX_TRACE_BYTE_POOL_EVENTS 0x00000004u
#define TX_TRACE_EVENT_FLAGS_EVENTS 0x00000008u
#define TX_TRACE_INTERRUPT_CONTROL_EVENT 0x00000010u
#define TX_TRACE_MUTEX_EVENTS 0x00000020u
#define TX_TRACE_QUEUE_EVENTS 0x00000040u
#define TX_TRACE_SEMAPHORE_EVENTS 0x00000080u
#define TX_TRACE_THREAD_EVENTS 0x00000100u
#define TX_TRACE_TIME_EVENTS 0x00000200u
#define TX_TRACE_TIMER_EVENTS 0x00000400u
#define TX_TRACE_USER_EVENTS 0x80000000u

/* Ids of user events. */
#define TX_TRACE_USER_EVENT_START 4096
#define TX_TRACE_USER_EVENT_END 65535

/* Types of objects. */
#define TX_TRACE_OBJECT_TYPE_NOT_VALID ((UCHAR)0)
#define TX_TRACE_OBJECT_TYPE_THREAD ((UCHAR)1)	    /* parameters: start and size of the stack */
#define TX_TRACE_OBJECT_TYPE_TIMER ((UCHAR)2)	    /* initial ticks, reschedule ticks */
#define TX_TRACE_OBJECT_TYPE_QUEUE ((UCHAR)3)	    /* size, size of a message */
#define TX_TRACE_OBJECT_TYPE_SEMAPHORE ((UCHAR)4)   /* initial count */
#define TX_TRACE_OBJECT_TYPE_MUTEX ((UCHAR)5)	    /* priority inheritance */
#define TX_TRACE_OBJECT_TYPE_EVENT_FLAGS ((UCHAR)6)
#define TX_TRACE_OBJECT_TYPE_BLOCK_POOL ((UCHAR)7) /* size, size of a block */
#define TX_TRACE_OBJECT_TYPE_BYTE_POOL ((UCHAR)8)  /* size */

/* The layout of the buffer. */
#define TX_TRACE_VALID 0x54585442u
#define TX_TRACE_INVALID_EVENT 0xFFFFFFFFu
#ifndef TX_TRACE_OBJECT_REGISTRY_NAME
#define TX_TRACE_OBJECT_REGISTRY_NAME 32
#elif TX_TRACE_OBJECT_REGISTRY_NAME != 32
#error "the library has names of 32 bytes"
#endif

typedef struct TX_TRACE_HEADER_STRUCT {
	ULONG tx_trace_header_id;
	ULONG tx_trace_header_timer_valid_mask;
	ULONG tx_trace_header_trace_base_address;
	ULONG tx_trace_header_registry_start_pointer;
	USHORT tx_trace_header_reserved1;
	USHORT tx_trace_header_object_name_size;
	ULONG tx_trace_header_registry_end_pointer;
	ULONG tx_trace_header_buffer_start_pointer;
	ULONG tx_trace_header_buffer_end_pointer;
	ULONG tx_trace_header_buffer_current_pointer; /* of the oldest entry, which is the next to be written */
	ULONG tx_trace_header_reserved2;
	ULONG tx_trace_header_reserved3;
	ULONG tx_trace_header_reserved4;
} TX_TRACE_HEADER;

typedef struct TX_TRACE_OBJECT_ENTRY_STRUCT {
	UCHAR tx_trace_object_entry_available;
	UCHAR tx_trace_object_entry_type;
	UCHAR tx_trace_object_entry_reserved1; /* of a thread: 0x80 | priority >> 8 */
	UCHAR tx_trace_object_entry_reserved2; /* of a thread: priority & 0xFF */
	ULONG tx_trace_object_entry_thread_pointer; /* the handle of the object */
	ULONG tx_trace_object_entry_param_1;
	ULONG tx_trace_object_entry_param_2;
	UCHAR tx_trace_object_entry_name[TX_TRACE_OBJECT_REGISTRY_NAME];
} TX_TRACE_OBJECT_ENTRY;

typedef struct TX_TRACE_BUFFER_ENTRY_STRUCT {
	ULONG tx_trace_buffer_entry_thread_pointer;
	ULONG tx_trace_buffer_entry_thread_priority;
	ULONG tx_trace_buffer_entry_event_id;
	ULONG tx_trace_buffer_entry_time_stamp;
	ULONG tx_trace_buffer_entry_information_field_1;
	ULONG tx_trace_buffer_entry_information_field_2;
	ULONG tx_trace_buffer_entry_information_field_3;
	ULONG tx_trace_buffer_entry_information_field_4;
} TX_TRACE_BUFFER_ENTRY;

/*
 * The ids of ThreadX's own events.  Their information words are in txtrace-calls(7).
 */
#define TX_TRACE_THREAD_RESUME 1
#define TX_TRACE_THREAD_SUSPEND 2
#define TX_TRACE_ISR_ENTER 3
#define TX_TRACE_ISR_EXIT 4
#define TX_TRACE_TIME_SLICE 5
#define TX_TRACE_RUNNING 6
#define TX_TRACE_BLOCK_ALLOCATE 10
#define TX_TRACE_BLOCK_POOL_CREATE 11
#define TX_TRACE_BLOCK_POOL_DELETE 12
#define TX_TRACE_BLOCK_POOL_INFO_GET 13
#define TX_TRACE_BLOCK_POOL_PERFORMANCE_INFO_GET 14
#define TX_TRACE_BLOCK_POOL_PERFORMANCE_SYSTEM_INFO_GET 15
#define TX_TRACE_BLOCK_POOL_PRIORITIZE 16
#define TX_TRACE_BLOCK_RELEASE 17
#define TX_TRACE_BYTE_ALLOCATE 20
#define TX_TRACE_BYTE_POOL_CREATE 21
#define TX_TRACE_BYTE_POOL_DELETE 22
#define TX_TRACE_BYTE_POOL_INFO_GET 23
#define TX_TRACE_BYTE_POOL_PERFORMANCE_INFO_GET 24
#define TX_TRACE_BYTE_POOL_PERFORMANCE_SYSTEM_INFO_GET 25
#define TX_TRACE_BYTE_POOL_PRIORITIZE 26
#define TX_TRACE_BYTE_RELEASE 27
#define TX_TRACE_EVENT_FLAGS_CREATE 30
#define TX_TRACE_EVENT_FLAGS_DELETE 31
#define TX_TRACE_EVENT_FLAGS_GET 32
#define TX_TRACE_EVENT_FLAGS_INFO_GET 33
#define TX_TRACE_EVENT_FLAGS_PERFORMANCE_INFO_GET 34
#define TX_TRACE_EVENT_FLAGS_PERFORMANCE_SYSTEM_INFO_GET 35
#define TX_TRACE_EVENT_FLAGS_SET 36
#define TX_TRACE_EVENT_FLAGS_SET_NOTIFY 37
#define TX_TRACE_INTERRUPT_CONTROL 40
#define TX_TRACE_MUTEX_CREATE 50
#define TX_TRACE_MUTEX_DELETE 51
#define TX_TRACE_MUTEX_GET 52
#define TX_TRACE_MUTEX_INFO_GET 53
#define TX_TRACE_MUTEX_PERFORMANCE_INFO_GET 54
#define TX_TRACE_MUTEX_PERFORMANCE_SYSTEM_INFO_GET 55
#define TX_TRACE_MUTEX_PRIORITIZE 56
#define TX_TRACE_MUTEX_PUT 57
#define TX_TRACE_QUEUE_CREATE 60
#define TX_TRACE_QUEUE_DELETE 61
#define TX_TRACE_QUEUE_FLUSH 62
#define TX_TRACE_QUEUE_FRONT_SEND 63
#define TX_TRACE_QUEUE_INFO_GET 64
#define TX_TRACE_QUEUE_PERFORMANCE_INFO_GET 65
#define TX_TRACE_QUEUE_PERFORMANCE_SYSTEM_INFO_GET 66
#define TX_TRACE_QUEUE_PRIORITIZE 67
#define TX_TRACE_QUEUE_RECEIVE 68
#define TX_TRACE_QUEUE_SEND 69
#define TX_TRACE_QUEUE_SEND_NOTIFY 70
#define TX_TRACE_SEMAPHORE_CEILING_PUT 80
#define TX_TRACE_SEMAPHORE_CREATE 81
#define TX_TRACE_SEMAPHORE_DELETE 82
#define TX_TRACE_SEMAPHORE_GET 83
#define TX_TRACE_SEMAPHORE_INFO_GET 84
#define TX_TRACE_SEMAPHORE_PERFORMANCE_INFO_GET 85
#define TX_TRACE_SEMAPHORE_PERFORMANCE_SYSTEM_INFO_GET 86
#define TX_TRACE_SEMAPHORE_PRIORITIZE 87
#define TX_TRACE_SEMAPHORE_PUT 88
#define TX_TRACE_SEMAPHORE_PUT_NOTIFY 89
#define TX_TRACE_THREAD_CREATE 100
#define TX_TRACE_THREAD_DELETE 101
#define TX_TRACE_THREAD_ENTRY_EXIT_NOTIFY 102
#define TX_TRACE_THREAD_IDENTIFY 103
#define TX_TRACE_THREAD_INFO_GET 104
#define TX_TRACE_THREAD_PERFORMANCE_INFO_GET 105
#define TX_TRACE_THREAD_PERFORMANCE_SYSTEM_INFO_GET 106
#define TX_TRACE_THREAD_PREEMPTION_CHANGE 107
#define TX_TRACE_THREAD_PRIORITY_CHANGE 108
#define TX_TRACE_THREAD_RELINQUISH 109
#define TX_TRACE_THREAD_RESET 110
#define TX_TRACE_THREAD_RESUME_API 111
#define TX_TRACE_THREAD_SLEEP 112
#define TX_TRACE_THREAD_STACK_ERROR_NOTIFY 113
#define TX_TRACE_THREAD_SUSPEND_API 114
#define TX_TRACE_THREAD_TERMINATE 115
#define TX_TRACE_THREAD_TIME_SLICE_CHANGE 116
#define TX_TRACE_THREAD_WAIT_ABORT 117
#define TX_TRACE_TIME_GET 120
#define TX_TRACE_TIME_SET 121
#define TX_TRACE_TIMER_ACTIVATE 122
#define TX_TRACE_TIMER_CHANGE 123
#define TX_TRACE_TIMER_CREATE 124
#define TX_TRACE_TIMER_DEACTIVATE 125
#define TX_TRACE_TIMER_DELETE 126
#define TX_TRACE_TIMER_INFO_GET 127
#define TX_TRACE_TIMER_PERFORMANCE_INFO_GET 128
#define TX_TRACE_TIMER_PERFORMANCE_SYSTEM_INFO_GET 129
#define TX_TRACE_SEMAPHORE__PERFORMANCE_SYSTEM_INFO_GET TX_TRACE_SEMAPHORE_PERFORMANCE_SYSTEM_INFO_GET

/* The buffer that was enabled last, or NULL: for debuggers that know ThreadX. */
extern TX_TRACE_HEADER *_tx_trace_header_ptr;

/* How tx_trace_enable() traces.  time_source NULL: ticks of 100 ns. */
struct tx_trace_posix_port {
	ULONG (*time_source)(VOID);
	ULONG time_mask;
	ULONG is_smp;
};

/* The services.  tx_trace_enable() and TX_NULL: TX_PTR_ERROR, as for memory that is not aligned to 4 bytes. */
UINT tx_trace_enable(VOID *__trace_buffer_start, ULONG __trace_buffer_size, ULONG __registry_entries);
UINT tx_trace_disable(VOID);
UINT tx_trace_event_filter(ULONG __event_filter_bits);
UINT tx_trace_event_unfilter(ULONG __event_unfilter_bits);
UINT tx_trace_buffer_full_notify(VOID (*__full_buffer_callback)(VOID *__buffer));
VOID tx_trace_isr_enter_insert(ULONG __isr_id);
VOID tx_trace_isr_exit_insert(ULONG __isr_id);
UINT tx_trace_user_event_insert(ULONG __event_id, ULONG __info_field_1, ULONG __info_field_2,
				ULONG __info_field_3, ULONG __info_field_4);

/*
 * Additions.  The first is tx_trace_enable() with a port; port may be NULL.
 *
 * tx_trace_posix_thread_set(): the calling thread is this object from now on.  If the object is not registered, it
 * becomes a thread with the name of the calling thread.  Without this call a thread is the object pthread_self(), and
 * has the priority that the scheduler has given it.
 *
 * tx_trace_posix_handle(): the word that stands for this object in the buffer.  If it is not registered, return the
 * lower half of its address, or a word near it that is not a handle.  0 for NULL.  Async-signal-safe.
 *
 * tx_trace_posix_lost(): the number of events that were lost since the process began, because more than 16 signal
 * handlers recorded events while the same thread recorded one.
 */
UINT tx_trace_posix_enable(VOID *__trace_buffer_start, ULONG __trace_buffer_size, ULONG __registry_entries,
			   const struct tx_trace_posix_port *__port);
UINT tx_trace_posix_thread_set(VOID *__thread_ptr, UINT __priority, UINT __preempt_threshold);
ULONG tx_trace_posix_handle(const VOID *__object_ptr);
ULONG tx_trace_posix_lost(VOID);

/* What the macros call. */
VOID _tx_trace_event_insert(ULONG __event_id, ULONG __info_field_1, ULONG __info_field_2, ULONG __info_field_3,
			    ULONG __info_field_4, ULONG __group);
VOID _tx_trace_event_insert_get(ULONG __event_id, ULONG __info_field_1, ULONG __info_field_2, ULONG __info_field_3,
				ULONG __info_field_4, ULONG __group, TX_TRACE_BUFFER_ENTRY **__entry,
				ULONG *__time_stamp);
VOID _tx_trace_event_update(TX_TRACE_BUFFER_ENTRY *__entry, ULONG __time_stamp, ULONG __event_id,
			    ULONG __info_field_1, ULONG __info_field_2, ULONG __info_field_3, ULONG __info_field_4);
VOID _tx_trace_object_register(UCHAR __object_type, VOID *__object_ptr, CHAR *__object_name, ULONG __parameter_1,
			       ULONG __parameter_2);
VOID _tx_trace_object_unregister(VOID *__object_ptr);

/*
 * The macros are statements with their semicolon, as in ThreadX, which uses them without one.
 *
 *	TX_TRACE_IN_LINE_INSERT(id, info1, info2, info3, info4, group)
 *	TX_TRACE_IN_LINE_INSERT(id, info1, info2, info3, info4, group, entry, time_stamp)
 *				record an event, and in the second form store the address of its entry (NULL: not
 *				recorded) and its stamp, for TX_TRACE_EVENT_UPDATE().  A pointer becomes the handle of
 *				its object
 *	TX_TRACE_EVENT_UPDATE(entry, time_stamp, id, info1, info2, info3, info4)
 *				replace the information words that are not 0, if the entry still holds this event
 *	TX_TRACE_OBJECT_REGISTER(type, object, name, parameter1, parameter2)
 *	TX_TRACE_OBJECT_UNREGISTER(object)
 */
#define TX_TRACE_INITIALIZE
#ifdef TX_DISABLE_EVENT_TRACE
#define TX_POINTER_TO_ULONG_CONVERT(a) ((ULONG)(uintptr_t)(a))
#define TX_TRACE_OBJECT_REGISTER(t, p, n, a, b)
#define TX_TRACE_OBJECT_UNREGISTER(o)
#define TX_TRACE_IN_LINE_INSERT(i, a, b, c, d, ...)
#define TX_TRACE_EVENT_UPDATE(e, t, i, a, b, c, d)
#define tx_trace_enable(s, z, n) ((void)(s), (void)(z), (void)(n), TX_FEATURE_NOT_ENABLED)
#define tx_trace_disable() TX_FEATURE_NOT_ENABLED
#define tx_trace_event_filter(b) ((void)(b), TX_FEATURE_NOT_ENABLED)
#define tx_trace_event_unfilter(b) ((void)(b), TX_FEATURE_NOT_ENABLED)
#define tx_trace_buffer_full_notify(f) ((void)(f), TX_FEATURE_NOT_ENABLED)
#define tx_trace_isr_enter_insert(i) ((void)(i))
#define tx_trace_isr_exit_insert(i) ((void)(i))
#define tx_trace_user_event_insert(i, a, b, c, d)                                                                      \
	((void)(i), (void)(a), (void)(b), (void)(c), (void)(d), TX_FEATURE_NOT_ENABLED)
#else
#define TX_POINTER_TO_ULONG_CONVERT(a) tx_trace_posix_handle((const VOID *)(a))

/* 5 is the class of pointers (GCC, clang). */
#define _TX_TRACE_WORD(a)                                                                                              \
	(__builtin_classify_type(a) == 5 ? tx_trace_posix_handle((const VOID *)(uintptr_t)(a)) : (ULONG)(uintptr_t)(a))
#define _TX_TRACE_FOURTH(a, b, c, d, ...) d
#define _TX_TRACE_INSERT(...)                                                                                          \
	_TX_TRACE_FOURTH(__VA_ARGS__, _tx_trace_event_insert_get, 0, _tx_trace_event_insert, 0)
#define TX_TRACE_IN_LINE_INSERT(i, a, b, c, d, ...)                                                                    \
	{                                                                                                              \
		_TX_TRACE_INSERT(__VA_ARGS__)                                                                          \
		((ULONG)(i), _TX_TRACE_WORD(a), _TX_TRACE_WORD(b), _TX_TRACE_WORD(c), _TX_TRACE_WORD(d), __VA_ARGS__); \
	}
#define TX_TRACE_EVENT_UPDATE(e, t, i, a, b, c, d)                                                                     \
	_tx_trace_event_update((e), (ULONG)(t), (ULONG)(i), _TX_TRACE_WORD(a), _TX_TRACE_WORD(b), _TX_TRACE_WORD(c),   \
			       _TX_TRACE_WORD(d));
#define TX_TRACE_OBJECT_REGISTER(t, p, n, a, b)                                                                        \
	_tx_trace_object_register((UCHAR)(t), (VOID *)(p), (CHAR *)(n), _TX_TRACE_WORD(a), _TX_TRACE_WORD(b));
#define TX_TRACE_OBJECT_UNREGISTER(o) _tx_trace_object_unregister((VOID *)(o));

/* The port of the file that calls tx_trace_enable(). */
#if defined TX_TRACE_TIME_SOURCE || defined TX_TRACE_TIME_MASK || defined TX_TRACE_SMP
#ifndef TX_TRACE_TIME_MASK
#define TX_TRACE_TIME_MASK 0xFFFFFFFFu
#endif
#ifdef TX_TRACE_TIME_SOURCE
#ifndef TX_TRACE_PORT_EXTENSION
#define TX_TRACE_PORT_EXTENSION
#endif
static __inline__ __attribute__((__unused__)) ULONG _tx_trace_time_source(VOID)
{
	TX_TRACE_PORT_EXTENSION
	/* A port may have a semicolon at the end of the expression. */
	ULONG time = (ULONG)TX_TRACE_TIME_SOURCE;

	return time;
}
#endif
static __inline__ __attribute__((__unused__)) UINT _tx_trace_port_enable(VOID *start, ULONG size, ULONG entries)
{
	struct tx_trace_posix_port port;

#ifdef TX_TRACE_TIME_SOURCE
	port.time_source = _tx_trace_time_source;
#else
	port.time_source = 0;
#endif
	port.time_mask = TX_TRACE_TIME_MASK;
#ifdef TX_TRACE_SMP
	port.is_smp = 1;
#else
	port.is_smp = 0;
#endif
	return tx_trace_posix_enable(start, size, entries, &port);
}
#define tx_trace_enable(s, z, n) _tx_trace_port_enable((s), (z), (n))
#else
#define TX_TRACE_TIME_MASK 0xFFFFFFFFu
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
