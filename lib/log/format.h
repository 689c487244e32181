/* SPDX-License-Identifier: MIT */
/*
 * The layout of a log.  A log is a sequence of volumes of equal size.  Each volume is a TXTB image and, after it, a
 * POSIX section.  The viewer can open the image without any conversion.
 *
 *	image		TXTB header, PX_LOG_OBJECTS object slots, an entry of 32 bytes for each slot
 *	section		header		identifies the log; the writer writes it once
 *			commit		the range of valid positions, and counts; first volume only
 *			names		event types in the order in which they were opened; first volume only
 *			modules		the modules of the target, as text (modules.h); first volume only
 *			wrappers	wrapper statistics (wrapper_stats.h); first volume only
 *			objects		the exact names and numbers of the objects in the object slots
 *			slots		48 bytes for each slot: the data that does not fit into TXTB
 *
 * Each area after the image begins at a page boundary, and entries are aligned to their size.  The file is sparse until
 * events fill it.  All areas of a volume have their full size from the beginning, so nothing ever moves.
 *
 * A *position* is the number of a slot, counted from the beginning of the log.  A LOOP log reuses its slots: there, the
 * slot is the position modulo the number of all slots.  In other logs, the slot is the position itself.  Each slot
 * holds the position for which it was last written.  So a reader detects a slot that was overwritten, or was not
 * written yet.  A record never extends into the next volume.  If it does not fit into the rest of a volume, a slot with
 * the word 0 marks the end of that volume.  Fillers are entries for the viewer only.  The writer inserts them into long
 * time gaps (PX_LOG_GAP_TICKS), and before the first event each time it begins a volume.  Entries of kind PX_LOG_SHOWN
 * are also for the viewer only.  They are the events that ThreadX would have recorded in addition to a call
 * (translate.h).
 *
 * A native event is a call that the image shows as an event of ThreadX.  So the information words of its entry differ
 * from the data of the call.  That data is in the slot, at the place where other events have pthread_t, pid and length.
 * The pthread_t and pid of a native event are in the object of the entry's context, and the length is in the upper half
 * of the flags.
 *
 * Times are nanoseconds on the scale of CLOCK_REALTIME.  The writer has converted them, so a reader needs no clock.
 *
 * The writer writes in this order: objects, slots, entries, names, and last the commit.  It writes the commit with one
 * system call, and the commit does not cross a page boundary.  So at every instant the section is whole, and the viewer
 * accepts the image and shows its events in order.  Before the writer of a LOOP log overwrites the oldest events, it
 * writes a commit without them.  Then it writes context 0 into the first entry to overwrite: the viewer stops at an
 * entry with context 0.  Then it sets `current` in the header of the image to the entry after the last one to
 * overwrite.  It writes the first entry last.
 *
 * All numbers have the byte order and sizes of the machine that wrote them.  On another kind of machine, the library
 * refuses the section (MODEL-9).
 */
#ifndef PX_LOG_FORMAT_H
#define PX_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/attr.h"
#include "event/eventset.h"
#include "event/names.h"
#include "event/threads.h"
#include "ring/record.h"
#include "ring/wrapper_stats.h"
#include "txtb/txtb.h"

#define PX_LOG_MAGIC UINT64_C(0x31474f4c58545850) /* "PXTXLOG1" in the memory of a little-endian machine */
#define PX_LOG_VERSION 2
#define PX_LOG_PAGE 4096
#define PX_LOG_TICK_NS 100
#define PX_LOG_MODULES_BYTES 65536

/*
 * Object slots of a volume: slot 0 for events of no thread, slot 1 for the idle thread, the next slots up to
 * PX_LOG_IN_USE for threads and objects of calls, the rest for event types.
 */
#define PX_LOG_OBJECTS 1020
#define PX_LOG_IN_USE 896 /* slots of threads, with the idle thread, and of the objects of calls */
#define PX_LOG_SLOT_IDLE 1

#define PX_LOG_VOLUME_ENTRIES_MAX 1048575
#define PX_LOG_VOLUMES_MAX 1024 /* most volumes of a log of bounded size: 80 GiB */
#define PX_LOG_START_FILLERS 3
#define PX_LOG_GAP_FILLERS 16
#define PX_LOG_GAP_TICKS (UINT64_C(1) << 30) /* ticks of one filler: a quarter of a stamp's range */

_Static_assert((sizeof(struct px_txtb_header) + PX_LOG_OBJECTS * sizeof(struct px_txtb_object)) %
			       sizeof(struct px_txtb_entry) ==
		       0,
	       "no entry is on two pages");

/* The properties that can differ on another kind of machine, or in another build of the library. */
struct px_log_machine {
	uint16_t byte_order; /* 0x0102 */
	uint8_t of_long;
	uint8_t of_pointer;
	uint8_t of_thread; /* size of pthread_t */
	uint8_t of_time;   /* size of time_t */
	uint16_t of_attr;
	char name[24]; /* name of the architecture */
};

struct px_log_header {
	uint64_t magic;
	uint32_t version;
	uint32_t volume; /* number of this volume */
	struct px_log_machine machine;
	uint8_t uuid[16];    /* the same in all volumes of a log */
	uint32_t nr_entries; /* slots of each volume */
	uint32_t nr_volumes; /* maximum number of volumes; 0: no bound */
	uint32_t policy;     /* enum px_full_policy */
	uint32_t target_pid;
	uint32_t writer_pid;
	uint32_t tick_ns;
	uint64_t writer_start;
	uint64_t registry_device; /* device of the registry that the writer uses */
	uint64_t registry_inode;
	char boot_id[40];
	char host[64];
	struct px_attr attr;
};

/* How a log ended. */
enum px_log_end {
	PX_LOG_OPEN = 0,     /* it has not ended */
	PX_LOG_COMPLETE = 1, /* its writer completed it */
	PX_LOG_RECOVERED = 2 /* another process completed it after its writer died */
};

struct px_log_commit {
	uint64_t serial; /* also the serial of the commit's checkpoint (checkpoint.h) */
	uint64_t first;	 /* position of the oldest record */
	uint64_t end;	 /* position after the newest record */
	uint64_t nr_events;
	uint64_t nr_shortened; /* time gaps that are too short in the image */
	uint64_t shortened_ns;
	uint64_t overwritten; /* losses of the stream, as in struct px_loss */
	uint64_t dropped;
	uint64_t abandoned;
	uint64_t nr_lost; /* losses of the log: events overwritten, discarded or not written */
	uint32_t nr_names;
	uint32_t is_complete; /* enum px_log_end */
	uint32_t stream_full; /* flags */
	uint32_t stream_overrun;
	uint32_t log_full;
	uint32_t log_overrun;
	int32_t flush_error; /* the first one since create or clear */
	uint32_t modules_bytes;
	uint32_t nr_wrappers;
	uint32_t reserved;
};

struct px_log_name {
	uint32_t id;
	char text[PX_NAME_MAX + 1];
};

struct px_log_object {
	struct px_object object; /* handle 0: the slot is free */
	uint64_t address;	 /* address or file descriptor of the object of a call */
	uint64_t site;		 /* address of its first call */
};

enum px_log_kind {
	PX_LOG_NOTHING = 0, /* the volume ends here */
	PX_LOG_EVENT = 1,
	PX_LOG_MORE = 2, /* more data of the event before it: 40 bytes here, 16 in the entry */
	PX_LOG_FILLER = 3,
	PX_LOG_SHOWN = 4 /* for the viewer only; belongs to the event before or after this slot */
};

/*
 * Flags of a slot: PX_LOG_IS_NATIVE, and the flags of enum px_record_flags in PX_LOG_RECORD_FLAGS.  For a native event,
 * bits 16 to 31 hold the length of its data.
 */
#define PX_LOG_IS_NATIVE 0x100u
#define PX_LOG_RECORD_FLAGS                                                                        \
	((uint32_t)(PX_RECORD_TRUNCATED | PX_RECORD_CALL | PX_RECORD_BEGINS | PX_RECORD_ENDS))
#define PX_LOG_NATIVE_BYTES_MAX 0xFFFFu

struct px_log_slot {
	uint64_t word; /* position << 8 | enum px_log_kind */
	uint64_t time_ns;
	uint64_t address;
	uint64_t thread; /* pthread_t; in a native event, 16 bytes of data begin here */
	uint32_t pid;
	uint32_t length; /* bytes of data */
	uint32_t id;
	uint32_t flags;
};

_Static_assert(sizeof(struct px_log_header) <= PX_LOG_PAGE, "one page");
_Static_assert(sizeof(struct px_log_commit) <= 512, "one write within a page");
_Static_assert(sizeof(struct px_log_name) == 64, "name");
_Static_assert(sizeof(struct px_log_object) == 112, "object");
_Static_assert(sizeof(struct px_wrapper_sum) == 96, "wrapper");
_Static_assert(offsetof(struct px_log_slot, id) - offsetof(struct px_log_slot, thread) ==
		       PX_RECORD_FIRST_BYTES,
	       "data of a call");
_Static_assert(sizeof(struct px_log_slot) == sizeof(struct px_slot), "slot");

PX_INLINE uint64_t px_log_word(uint64_t position, enum px_log_kind kind)
{
	return position << 8 | kind;
}

/* Offsets of the areas in a volume. */
struct px_log_layout {
	uint64_t entries;
	uint64_t header;
	uint64_t commit;
	uint64_t names;
	uint64_t modules;
	uint64_t wrappers;
	uint64_t objects;
	uint64_t slots;
	uint64_t size; /* bytes from one volume to the next */
};

struct px_log_layout px_log_layout(uint32_t nr_entries);

/* Return the number of the volume that has this position. */
PX_INLINE uint64_t px_log_volume_number(const struct px_log_header *header, uint64_t position)
{
	uint64_t number = position / header->nr_entries;

	return header->policy == PX_POLICY_LOOP ? number % header->nr_volumes : number;
}

/* Return the offset in the file of the volume that has this position. */
PX_INLINE uint64_t px_log_volume_offset(const struct px_log_header *header,
					const struct px_log_layout *layout, uint64_t position)
{
	return px_log_volume_number(header, position) * layout->size;
}

/* Return the number of this position's slot within its volume. */
PX_INLINE uint32_t px_log_slot_in_volume(const struct px_log_header *header, uint64_t position)
{
	return (uint32_t)(position % header->nr_entries);
}

/* Return the first position of the volume after the one that has this position. */
PX_INLINE uint64_t px_log_next_volume_at(const struct px_log_header *header, uint64_t position)
{
	return position + header->nr_entries - px_log_slot_in_volume(header, position);
}

/*
 * Return the greatest number of slots that one event with at most max_data bytes of user data can need, for all its
 * entries.
 */
uint32_t px_log_event_slots(uint64_t max_data);

/*
 * Choose how many entries a volume has, and how many volumes the log may have.  An APPEND log has no bound: *nr_volumes
 * becomes 0.  In other logs, all slots together take at most log_size bytes (PX_SLOT_BYTES for each slot).  If log_size
 * is too small for a log, choose the least size with which a log works.
 */
void px_log_geometry(uint64_t log_size, uint64_t max_data, bool append, uint32_t *nr_entries,
		     uint32_t *nr_volumes);

/*
 * Return the number of entries of a volume of an APPEND log, if a file has at most file_limit bytes.  All areas of a
 * volume have their full size from the beginning.  So choose volumes that are small enough for several of them to fit
 * into the file.
 */
uint32_t px_log_append_entries(uint64_t file_limit, uint64_t max_data);

/* Find and read the header of the log of fd.  Return false if the file has no POSIX section. */
bool px_log_find(int fd, struct px_log_header *header, struct px_log_layout *layout);

/*
 * Return true if this is the header of a log from this kind of machine and of this version, and if its sizes are valid.
 */
bool px_log_header_is_ours(const struct px_log_header *header);

/* Read the commit.  Return false if it cannot be read, or if its positions or counts are impossible. */
bool px_log_read_commit(int fd, const struct px_log_header *header,
			const struct px_log_layout *layout, struct px_log_commit *commit);

/* Return the properties of this machine. */
struct px_log_machine px_log_machine(void);

/* Get the id of this boot of the machine, or "" if the kernel provides none. */
void px_log_boot_id(char boot_id[40]);

#endif
