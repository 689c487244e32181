/* SPDX-License-Identifier: MIT */
/*
 * The layout of a log.  A log is a sequence of volumes.  Each volume is a TXTB image and, after it, a POSIX section.
 * The viewer can open the image without any conversion.  Behind the last volume is the tail.
 *
 *	image		TXTB header, object slots, an entry of 32 bytes for each event
 *	section		header		identifies the log, and says where the next volume is
 *			commit		valid positions, counts, offset of the tail; only in the first volume
 *			frames		what TXTB has no room for, packed (frame.h)
 *	tail		modules		the modules of the target, as text (modules.h)
 *			wrappers	wrapper statistics: rows (wrapper_stats.h), or packed (wrappers.h)
 *			names		event types in the order in which they were opened, and their
 *					descriptions
 *			origins		only in a merged log: the logs that it was made of (origins.h)
 *
 * The header takes one page, and the commit takes one page.  The entries are aligned to their size.  While the log is
 * written, each area has its full size in a sparse file.  When a volume is complete, it ends behind its last frame.  If
 * its image has room for more entries, the writer cuts the image, and moves the section to the end of the cut image.
 * When the log is complete, the tail is directly behind the last volume.
 *
 * A log that was written once more when it was complete (compact.h) has *tight* volumes: their header and commit take
 * no pages, and names in their object slots take no more bytes than the longest one.
 *
 * A *position* is the number of an entry, counted from the beginning of the log.  A LOOP log reuses its entries: the
 * entry at a position has the number `position modulo the number of all entries`.  In other logs, the entry has the
 * position as its number.  The first position of a volume is its number times nr_entries, even if the volumes before it
 * are cut.  If an event or its frame does not fit into the rest of a volume, that rest stays empty: it is a *hole*.
 * Fillers are entries for the viewer only.  The writer inserts them into long time gaps (PX_LOG_GAP_TICKS), and before
 * the first event each time it begins a volume.  For one call, ThreadX may record several entries.  The additional
 * entries are also for the viewer only (translate.h).
 *
 * The frames of a volume follow each other without gaps.  In a LOOP log, each round through a volume begins again with
 * the first byte, and overwrites the frames of the round before.  A LOOP log discards its oldest events in whole
 * chapters (frame.h).  So the first event of a log is the first event of a chapter.
 *
 * A native event is a call that the image shows as an event of ThreadX.  The information words of its entry differ from
 * the data of the call, so the frame holds the data.
 *
 * Times are nanoseconds on the scale of CLOCK_REALTIME.  The writer has converted them, so a reader needs no clock.
 *
 * The writer writes in this order: objects, frame, entries, names, and last the commit.  It writes the commit with one
 * write, within one page.  So at every instant the section is whole.  The viewer accepts the image at every instant,
 * and shows its events in order.  Before the writer of a LOOP log overwrites the oldest events, it writes a commit
 * without them.  Then it writes context 0 into the first entry to overwrite: the viewer stops at an entry with context
 * 0.  Then it sets `current` in the header of the image to the entry with which the viewer begins.  This is the first
 * entry after those to overwrite that is not RUNNING, RESUME or SUSPEND: such an entry may be of an event that is
 * overwritten.  If there is one before it, the writer overwrites it with a *cover*, an entry RUNNING of no thread,
 * which has the stamp of the newest event.  The writer overwrites the first of all these entries last.
 *
 * All numbers have the byte order of the machine that wrote them (order.h).  The structures have the same members at
 * the same offsets on all machines (MODEL-9).
 */
#ifndef PX_LOG_FORMAT_H
#define PX_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/attr.h"
#include "event/eventset.h"
#include "event/names.h"
#include "fields/fields.h"
#include "log/clocks.h"
#include "log/frame.h"
#include "ring/record.h"
#include "ring/wrapper_stats.h"
#include "txtb/txtb.h"

/* The bytes "PXTXLOG1" on a little-endian machine. */
#define PX_LOG_MAGIC UINT64_C(0x31474f4c58545850)
#define PX_LOG_VERSION 3
#define PX_LOG_PAGE 4096
#define PX_LOG_TICK_NS 100
#define PX_LOG_MODULES_BYTES 65536
/* Room for the header and for the commit in a tight volume. */
#define PX_LOG_TIGHT_HEADER 1024
#define PX_LOG_TIGHT_COMMIT 512

/*
 * Object slots of a volume: slot 0 is for events of no thread, slot 1 is for the idle thread.  Then follow the slots of
 * threads, the slots of the objects of calls, and the slots of event types.
 */
#define PX_LOG_SLOT_IDLE 1
/* Number of object slots of a volume of version 2; later versions have other numbers. */
#define PX_LOG_OBJECTS_2 1020
#define PX_LOG_SLOT_FIRST 2

#define PX_LOG_VOLUME_ENTRIES_MAX 1048575
#define PX_LOG_VOLUMES_MAX 1024 /* maximum number of volumes of a log of bounded size: 80 GiB */
#define PX_LOG_EVENT_BYTES 34 /* the smallest event takes this many bytes, with its entry */
/* Least bytes of a volume, without its entries and without four long events. */
#define PX_LOG_LEAST 24576
/* Maximum bytes of the entries and frames of a volume of an APPEND log. */
#define PX_LOG_VOLUME_MAX (UINT64_C(1) << 28)
#define PX_LOG_START_FILLERS 3
#define PX_LOG_GAP_FILLERS 16
/* A filler accounts for this many ticks: a quarter of the range of a stamp. */
#define PX_LOG_GAP_TICKS (UINT64_C(1) << 30)

/*
 * The properties of the machine and of the library that wrote the log.  A writer that continues a log compares them
 * with its own.  A reader needs them for the data of user events.
 */
struct px_log_machine {
	uint16_t byte_order; /* 0x0102, in the byte order of the machine, also in memory */
	uint8_t of_long;
	uint8_t of_pointer;
	uint8_t of_thread; /* size of pthread_t */
	uint8_t of_time;   /* size of a time in this header; older logs of 32-bit machines: of time_t */
	uint16_t of_attr;
	char name[24]; /* name of the architecture */
};

/* What a description in the C form depends on, besides (struct px_fields_model).  Older logs have zeros. */
struct px_log_layouts {
	uint8_t of_long_double;
	uint8_t long_double_digits;
	uint8_t align_max;
	uint8_t has_origins; /* 1: the log was made of others, and has its origins behind the tail (origins.h) */
};

struct px_log_header {
	uint64_t magic;
	uint32_t version;
	uint32_t volume; /* number of this volume; the first has number 0 */
	struct px_log_machine machine;
	uint8_t uuid[16];    /* the same in all volumes of a log */
	uint32_t nr_entries; /* entry slots of each volume */
	uint32_t nr_volumes; /* maximum number of volumes; 0: the log has no limit */
	uint32_t policy;     /* enum px_full_policy */
	uint32_t target_pid;
	uint32_t writer_pid;
	uint32_t tick_ns;
	uint64_t writer_start;
	uint64_t registry_device; /* device and inode of the registry that the writer uses */
	uint64_t registry_inode;
	char boot_id[40]; /* 36 characters, a null byte, and px_log_pid_space() */
	char host[64];
	struct px_attr attr;
	/* Version 2 does not have the following members. */
	/* Numbers of object slots: of threads, of objects of calls, and of event types. */
	uint32_t nr_thread_slots;
	uint32_t nr_call_slots;
	uint32_t nr_type_slots;
	uint32_t wrappers_bytes; /* size of the packed wrapper statistics (wrappers.h); 0: they are rows */
	uint64_t volume_max;  /* maximum bytes of the entries and frames of each volume */
	/*
	 * Offset in the log of the next volume.  0: there is no next volume; or, in a LOOP log whose volumes have their
	 * full size, the next volume is directly behind this one.
	 */
	uint64_t next_volume;
	uint32_t is_tight; /* 1: this volume has the layout px_log_layout_tight() */
	struct px_log_layouts layouts;
};

/* The way in which a log ended. */
enum px_log_end {
	PX_LOG_OPEN = 0,     /* the log has not ended */
	PX_LOG_COMPLETE = 1, /* its writer completed it */
	PX_LOG_RECOVERED = 2 /* another process completed it after its writer died */
};

struct px_log_commit {
	uint64_t serial; /* also the serial of the commit's checkpoint (checkpoint.h) */
	uint64_t first;	 /* position of the oldest record */
	uint64_t end;	 /* position after the newest record */
	uint64_t nr_events;
	/* Number of time gaps that are shorter in the image than in reality. */
	uint64_t nr_shortened;
	uint64_t shortened_ns;
	uint64_t overwritten; /* events that the stream lost, as in struct px_loss */
	uint64_t dropped;
	uint64_t abandoned;
	/* Number of events that the log lost: overwritten, discarded, or their write failed. */
	uint64_t nr_lost;
	uint32_t nr_names;
	uint32_t is_complete; /* enum px_log_end */
	uint32_t stream_full; /* this member and the three after it are 0 or 1 */
	uint32_t stream_overrun;
	uint32_t log_full;
	uint32_t log_overrun;
	int32_t flush_error; /* first error of a flush since create or clear */
	uint32_t modules_bytes;
	uint32_t nr_wrappers;
	uint32_t nr_unlisted; /* number of entries that name an object without an object slot */
	uint64_t first_frame; /* offset of the frame of the oldest record in its volume's frames */
	uint64_t end_frame;   /* end of the newest frame, as an offset in its volume's frames */
	uint64_t modules_at;  /* offsets of the modules, wrappers and names in the file */
	uint64_t wrappers_at;
	uint64_t names_at;
	uint64_t nr_given_up; /* events before `first`, which a LOOP log has overwritten; nr_events includes them */
	uint32_t nr_clears;
	uint32_t sum; /* px_log_seal_commit(); 0: an older writer, which did not set it and the two before it */
	/* Older writers do not have this, and older readers ignore it: the sum is that of the members before it. */
	struct px_log_clocks clocks;
};

/*
 * A row of the names: a type and its name.  If the id has PX_LOG_DESCRIPTION, the row is a piece of the description of
 * the type instead: of all 60 bytes, or, if it is the last piece, with a null byte after it.  The pieces of a
 * description follow each other.  A reader of an earlier library passes over them, because it knows no type with such
 * an id.
 */
struct px_log_name {
	uint32_t id;
	char text[PX_NAME_MAX + 1];
};

#define PX_LOG_DESCRIPTION UINT32_C(0x10000)
#define PX_LOG_NAMES_MAX (PX_EVENT_IDS - PX_EVENT_USER_FIRST) /* rows */
#define PX_LOG_DESCRIPTION_ROWS_MAX 2048

PX_INLINE bool px_log_is_description(const struct px_log_name *name)
{
	return name->id >= PX_LOG_DESCRIPTION && name->id < PX_LOG_DESCRIPTION + PX_EVENT_IDS;
}

_Static_assert(sizeof(struct px_log_header) <= PX_LOG_TIGHT_HEADER, "room in each layout");
_Static_assert(sizeof(struct px_log_commit) <= 512, "one write within a page");
_Static_assert(sizeof(struct px_log_name) == 64, "name");
_Static_assert(sizeof(struct px_wrapper_sum) == 96, "wrapper");

/* The flags of a record that a log keeps. */
#define PX_LOG_RECORD_FLAGS                                                                        \
	((uint32_t)(PX_RECORD_TRUNCATED | PX_RECORD_CALL | PX_RECORD_BEGINS | PX_RECORD_ENDS))

/* Offsets of the areas of a volume. */
struct px_log_layout {
	/* Offset of the log in the file; greater than 0 only while a completed log moves (finish.c). */
	uint64_t base;
	uint32_t nr_objects; /* object slots of the image */
	uint32_t name_size;  /* bytes of a name in an object slot */
	uint32_t nr_entries; /* entries of the image */
	bool is_tight;
	uint64_t entries;
	uint64_t header;
	uint64_t commit;
	uint64_t frames;
	uint64_t size; /* full size of the volume */
};

/*
 * The last bytes of a file while a completed log moves to its beginning.  The valid log is at offset base, until the
 * log at offset 0 is whole.
 */
struct px_log_footer {
	uint64_t magic;
	uint64_t base;
	uint64_t size;
	uint8_t uuid[16];
};

/* The bytes "PXTXMOVE" on a little-endian machine. */
#define PX_LOG_FOOTER_MAGIC UINT64_C(0x45564f4d58545850)

struct px_log_tail {
	uint64_t modules;
	uint64_t wrappers;
	uint64_t names;
	uint64_t size;
};

struct px_log_layout px_log_layout(uint32_t nr_objects, uint32_t nr_entries, uint64_t volume_max);

/*
 * The layout of a volume that nobody changes any more: names in object slots are only as long as they have to be, and
 * header and commit take no pages.  name_size: a multiple of 4, at most PX_TXTB_NAME_SIZE.
 */
struct px_log_layout px_log_layout_tight(uint32_t nr_objects, uint32_t name_size,
					 uint32_t nr_entries, uint64_t volume_max);

/*
 * Read object slots of the image at this offset, from number `first` on.  Unused bytes of names become 0.  is_swapped:
 * the log has the other byte order.  Return how many could be read.
 */
uint32_t px_log_read_objects(int fd, uint64_t at, uint32_t name_size, bool is_swapped, uint32_t first, uint32_t count,
			     struct px_txtb_object *objects);

/* Return the offsets of the areas in a tail that has its full size. */
struct px_log_tail px_log_tail(void);

/* Return the size of the wrapper statistics in the file. */
uint64_t px_log_wrappers_size(const struct px_log_header *header, const struct px_log_commit *commit);

/* Return the offsets of the areas in a tail that begins at this offset, and has no unused room. */
struct px_log_tail px_log_tail_at(const struct px_log_header *header, const struct px_log_commit *commit,
				  uint64_t at);

/* Store the offsets of the areas of a tail in a commit. */
void px_log_set_tail(struct px_log_commit *commit, const struct px_log_tail *tail);

/* Return the number of object slots of each volume. */
PX_INLINE uint32_t px_log_nr_objects(const struct px_log_header *header)
{
	return PX_LOG_SLOT_FIRST + header->nr_thread_slots + header->nr_call_slots +
	       header->nr_type_slots;
}

PX_INLINE uint64_t px_log_page_up(uint64_t offset)
{
	return (offset + PX_LOG_PAGE - 1) & ~(uint64_t)(PX_LOG_PAGE - 1);
}

/* Return the length of the file of a complete log.  The file ends with the tail. */
uint64_t px_log_length(const struct px_log_header *header, const struct px_log_commit *commit);

/* Return the number of the volume that has this position. */
PX_INLINE uint64_t px_log_volume_number(const struct px_log_header *header, uint64_t position)
{
	uint64_t number = position / header->nr_entries;

	return header->policy == PX_POLICY_LOOP ? number % header->nr_volumes : number;
}

/* Return the number of this position's entry within its volume. */
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
 * Return the least number of entries with which a log works.  These entries have room for four events, each with the
 * fillers of a time gap.  The log needs this room because the writer stages one event while it overwrites another.
 */
uint32_t px_log_least_entries(void);

/*
 * Choose the sizes of a log, and store them in the header: the sizes of entries and frames of a volume, the maximum
 * number of volumes, and the numbers of object slots.  An APPEND log has no bound: nr_volumes becomes 0.  Otherwise
 * entries and frames together take at most log_size bytes, or less if a file may not be so large.  If there is not
 * enough room for a log, choose the least sizes with which a log works. file_limit: the maximum size of a file.  From
 * its beginning, each volume has its full size in the file, so choose small volumes for an APPEND log: several of them
 * must fit below file_limit.
 */
void px_log_geometry(struct px_log_header *header, uint64_t log_size, uint64_t max_data,
		     uint64_t file_limit);

/* Change the header of a log of version 2 to a header of the current version. */
void px_log_renew_header(struct px_log_header *header);

/*
 * Find and read the header of the volume at this offset of the file.  Return false if there is no image, or no POSIX
 * section of this version behind it.
 */
bool px_log_find_volume(int fd, uint64_t at, struct px_log_header *header,
			struct px_log_layout *layout);

/* Find and read the footer of the file.  Return false if the file has none. */
bool px_log_find_footer(int fd, struct px_log_footer *footer);

/* Find and read the header of the log of fd.  Return false if the file has no POSIX section of this version. */
bool px_log_find(int fd, struct px_log_header *header, struct px_log_layout *layout);

/* Return true if this is the header of a log of this version that a reader can read, and if its sizes are valid. */
bool px_log_header_is_readable(const struct px_log_header *header);

/* Return true if the log is also from this kind of machine, so that a writer can continue it. */
bool px_log_header_is_ours(const struct px_log_header *header);

/* Read the commit.  Return false if it cannot be read, or if its positions or counts are impossible. */
bool px_log_read_commit(int fd, const struct px_log_header *header,
			const struct px_log_layout *layout, struct px_log_commit *commit);

/* Set the check sum of a commit.  Call this after all other members are set. */
void px_log_seal_commit(struct px_log_commit *commit);

/*
 * Do the same as px_log_read_commit() for a log that is being written: the commit is whole, and no mixture of two.
 * Return false also if it is damaged.
 */
bool px_log_read_whole_commit(int fd, const struct px_log_header *header,
			      const struct px_log_layout *layout, struct px_log_commit *commit);

/* Return true if the log with this header was written by a newer version of this library. */
bool px_log_header_is_newer(const struct px_log_header *header);

/* Return the properties of this machine. */
struct px_log_machine px_log_machine(void);
struct px_log_layouts px_log_layouts(void);

/* Return what the descriptions of the log's data depend on.  What a log does not say is 0. */
struct px_fields_model px_log_model(const struct px_log_header *header);

/*
 * The pid namespace whose pids the log has: that of its writer.  24 bits of the number of the namespace, which are
 * never 0; 0: not known, as in logs of earlier versions.
 */
uint32_t px_log_pid_space(const struct px_log_header *header);
void px_log_set_pid_space(struct px_log_header *header);

/* Get the id of this boot of the machine, or "" if the kernel provides none. */
void px_log_boot_id(char boot_id[40]);

/* Fill in the header of the image of a volume.  It also has the tick, for readers of an image without its section. */
void px_log_image_header(struct px_txtb_header *header, uint32_t nr_objects, uint32_t name_size, uint32_t nr_entries);

#endif
